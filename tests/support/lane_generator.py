"""A lane's generator in plain Python: the same numbers as in machine code."""

from __future__ import annotations

import numpy as np

from aptmc.backends.lanes.draws import DRAWS
from aptmc.backends.lanes.generator import seed_words, uniform_from
from aptmc.keys import MOVE


class LaneGenerator:
    """The stream of one move."""

    def __init__(self, seed, chain, number):
        self.words = np.empty(4, np.uint32)
        with np.errstate(over="ignore"):
            seed_words.py_func(self.words, seed, chain, number, MOVE)

    def random(self):
        with np.errstate(over="ignore"):
            return float(uniform_from(self.words))

    def __getattr__(self, name):
        draw = DRAWS[name]
        return lambda *arguments: draw(self, *arguments)
