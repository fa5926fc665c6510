"""What a kernel learns while a population is annealed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from typing import Any

from aptmc.compiled import Floats, FloatTable, FloatTables
from aptmc.kernels import Kernel
from aptmc.session.orders import Outcome
from aptmc.warmup.annealing.batches import Batch

Learning = Generator[Batch, FloatTables, None]


class Guide(ABC):
    """Knows how to move the population at the present power. One for each kind of kernel."""

    level = 0.0  # the present power
    fewest, most = 48, 128  # particles: a mode with a tenth of them is missed once in 150 times
    hopeless = 25.0  # log weights below the median, where another's place is taken
    on_the_way = 1  # moves of each at a power
    first_window = 3  # moves of each, where the population begins to stay
    gives_up = False  # whether windows end where chains do not get about, for rounds to learn more

    @abstractmethod
    def begin(self, rows: FloatTable) -> None:
        """Learn from first states, which tell how wide the prior is."""

    @abstractmethod
    def learn(self, rows: FloatTable, weights: Floats) -> Learning:
        """Learn from states that have weights at the present power."""

    @abstractmethod
    def learn_from_window(self, seen: FloatTables, *, gets_about: bool) -> Learning:
        """Learn from moves of all particles at the present power.

        :param gets_about: whether they forgot where they began
        """

    @abstractmethod
    def make_ready(self, window: int | None) -> None:
        """Moves begin: on the way from power to power, or of the window of such a number."""

    @abstractmethod
    def numbers(self) -> Floats:
        """The kernel's, for the next move."""

    @abstractmethod
    def heard(self, outcome: Outcome, is_late: bool) -> None:
        """A move has come home."""

    @abstractmethod
    def settle(self) -> None:
        """Moves have ended."""

    @abstractmethod
    def knows_one_mode(self, moves: int) -> bool:
        """Whether nothing was seen that takes more than one rung, in the last so many moves."""

    @property
    @abstractmethod
    def found(self) -> Any:
        """What was learnt of the present power, for `kernel`."""

    @abstractmethod
    def kernel(self, found: Sequence[Any]) -> Kernel:
        """One that has learnt this of its rungs, coldest first, and learns on."""

    @abstractmethod
    def of_one_hill(self, kernel: Kernel) -> Kernel:
        """The same kernel, where chains of the posterior were seen to get about by themselves."""
