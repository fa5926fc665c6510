"""The same run on engines that people already have: executors, MPI, Dask, Ray.

Who computes a move, where, and how long it is under way decides only when it completes. The queue
of waiting chains is first in, first out, and nobody looks at a move before it is given to a worker,
so hold times may depend on anything that the move itself depends on, on the worker and on the way
there and back: given what is in flight, the waiting chains are exact draws. So communication is a
part of the hold time, and costs speed but never correctness. A move that waits at a worker, or on
the way to one, is in flight like the one that is being computed.
"""
