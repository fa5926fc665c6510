"""How far a descent came: what is said first of every likelihood-free run."""

from __future__ import annotations

from typing import NamedTuple


class Reached(NamedTuple):
    """What a descent has found out."""

    asked: float | None  # the tolerance that was wanted, if one was named
    level: float  # the smallest that the ladder has
    prior_share: float  # of simulations from the prior that lie within it
    simulations: float  # that it took to get there
    given_up: int  # of them, because they took far too long
    elapsed: float
