"""Generators that nobody is given and everybody shares: numpy's, Python's, numba's and torch's.

A function of the user's that draws from one of them would draw the same numbers in every worker,
which is a copy of the others, and others each time that a move is computed again. So before each
move of a plain Python function they are seeded from the move's own key.
"""

from aptmc.global_generators.by_name import by_name
from aptmc.global_generators.seeding import Seeding, left_alone

__all__ = ["Seeding", "by_name", "left_alone"]
