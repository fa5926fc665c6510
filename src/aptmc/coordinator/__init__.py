"""The state machine: completions in, moves out. All of the anytime logic is here and nowhere else.

It has no clock, files or processes. Whoever computes the moves asks `take_next` for work and
reports each finished move to `complete`, in the order and with the times in which they finish;
given those, everything that follows is determined.

Why it is exact. Chains of a pool stand in one first-in-first-out queue; each processor takes the
chain at the head, and a finished chain goes to the back. Then, whatever the hold times are, given
the chains in flight (their states and how long they have been at it) the *waiting* chains are
independent draws from their own targets (Proposition 3.1, and its extension to several processors
per pool). So an exchange between waiting chains that leaves the product of their targets invariant
leaves everything invariant. Chains in flight are left alone: found half-done at a deadline, they
are more often slow states than their targets say.

Deadlines need no alarm. Between a deadline and the next completion nobody starts or stops waiting,
so the exchanges due are carried out when that completion is reported, just before it counts.

`state` is what the machine knows, what is in flight included; `transitions` are what can happen to
it; `exchange_round` is one round of exchanges.
"""
