"""How settings are found depends on the kind of ladder: what each kind has to know."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats, FloatTable, FloatTables
from aptmc.kernels import Kernel
from aptmc.ladder import AutoLadder, Ladder
from aptmc.store import Draws

FEWEST_DRAWS = 8  # of a rung, before anything is learnt from them


class Seen(NamedTuple):
    """What a round has shown."""

    levels: tuple[float, ...]  # of its ladder
    rows: list[FloatTable]  # by rung: states that its chains came to
    cold: list[Draws]  # of each chain on the coldest rung
    elapsed: float
    sampling: float  # how long the run goes on after the warm-up


class Approach(ABC):
    """What the warm-up does in its own way for one kind of ladder."""

    remembers: tuple[str, ...] = ()  # attributes that rounds hand on to later ones

    @abstractmethod
    def first_levels(self) -> tuple[float, ...]:
        """The ladder of the first round."""

    @abstractmethod
    def ladder(self, levels: tuple[float, ...]) -> Ladder:
        """A ladder of this kind."""

    @abstractmethod
    def first_covariance(self, rng: np.random.Generator) -> FloatTable:
        """Of proposals, before anything is known."""

    @abstractmethod
    def kernel(self, covariances: FloatTables, scales: Floats) -> Kernel:
        """The kernel for rungs with these covariances and scales of proposals."""

    @abstractmethod
    def tuned_acceptance(self, accepted: Floats) -> Floats | None:
        """By rung, the acceptance that should be brought to its best by the size of steps, if any.

        :param accepted: the share of all local steps that were accepted
        """

    @abstractmethod
    def swap_rates(self, levels: tuple[float, ...], rows: list[FloatTable]) -> Floats:
        """How often neighbours would swap, from draws of all rungs."""

    @abstractmethod
    def respaced(self, wish: AutoLadder, seen: Seen, rates: Floats) -> tuple[float, ...]:
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
