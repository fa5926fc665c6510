"""How ladders are found depends on their kind: what each kind has to know."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.ladder import AutoLadder, Ladder
from aptmc.problem import Problem
from aptmc.warmup.round_draws import RoundDraws


class Approach(ABC):
    """What the warm-up does in its own way for one kind of ladder."""

    remembers: tuple[str, ...] = ()  # attributes that rounds hand on to later ones

    @abstractmethod
    def __init__(self, problem: Problem) -> None: ...

    @abstractmethod
    def first_levels(self) -> tuple[float, ...]:
        """The ladder of the first round."""

    @abstractmethod
    def ladder(self, levels: tuple[float, ...]) -> Ladder:
        """These levels as a ladder of the right kind."""

    @abstractmethod
    def swap_rates(self, levels: tuple[float, ...], rows: list[FloatTable]) -> Floats:
        """How often neighbours would swap, from draws of all rungs."""

    @abstractmethod
    def respaced(self, wish: AutoLadder, drawn: RoundDraws, rates: Floats) -> tuple[float, ...]:
        """The levels of the next round."""

    @abstractmethod
    def states_for(self, level: float, remembered: list[tuple[float, FloatTable]], /) -> FloatTable:
        """Rows from which chains on a level may start.

        :param remembered: by level: what chains there came to in the last round
        """


def scale_of(levels: Floats) -> Floats:
    """Levels on a scale on which their distances mean something."""
    with np.errstate(divide="ignore"):
        return np.log(np.clip(levels, 1e-6, 1e300))


def nearest(levels: Floats, new_levels: Floats) -> Integers:
    """For each of the new levels, which of the old ones is nearest."""
    return np.asarray(np.abs(np.subtract.outer(new_levels, levels)).argmin(axis=1))
