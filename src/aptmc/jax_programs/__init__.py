"""Functions of JAX as functions for numba.

JAX writes down what a function does as a *program*, a list of primitive operations on arrays of
known shapes. Here it is written anew as plain loops over numbers, which numba compiles into the
move that calls it. So a call costs what it computes, where one through JAX costs some microseconds
more; workers are forked without JAX in them; and as the program says how many bits each number has,
they are everywhere those of the main process.
"""
