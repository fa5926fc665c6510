"""A mixture of two kernels: each step is one of the first or one of the second, at random."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.errors import InputError
from aptmc.kernels.base import Kernel
from aptmc.kernels.parts import Parts
from aptmc.kernels.seen import Seen
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem

# Places in the tuning after the number of steps, before those of the two kernels.
SHARE, SECOND, FIRST = 1, 2, 3
# What a mixture counts beside what its kernels do: steps of the second, and those accepted.
OF_SECOND, ACCEPTED_OF_SECOND = "second", "second_accepted"


@class_named_clearly
@final
@dataclass(frozen=True)
class Mixture(Kernel):
    """Each step is one of the first kernel or, with a fixed probability, one of the second.

    Exact, since the choice looks at nothing: where one kernel gets stuck the other may move. In the
    warm-up each learns from its own steps, if it wants to learn.

    :param first: a kernel; what it says of steps per move does not count
    :param second: another
    :param share: the probability of a step of the second
    :param steps: how many local steps make one move

    >>> from aptmc import RandomWalk, Slice
    >>> Mixture(RandomWalk(0.5), Slice(3.0), share=0.2)
    Mixture(RandomWalk(scale=0.5), Slice(scale=3.0, stretches=1), share=0.2)
    """

    first: Kernel
    second: Kernel
    share: float = 0.5
    steps: int = 1

    def __post_init__(self) -> None:
        for kernel in (self.first, self.second):
            if not isinstance(kernel, Kernel):
                raise InputError(f"a mixture is made of two aptmc kernels, got {kernel!r}")
        if not isinstance(self.share, int | float) or not 0.0 < self.share < 1.0:
            raise InputError(f"share must be a number between 0 and 1, got {self.share!r}")
        whole_number("steps", self.steps)

    @property
    @override
    def statistics(self) -> tuple[str, ...]:  # type: ignore[override]
        """Its own, and those of both kernels; what both count is added up."""
        names = [*_names("first", self.first).values(), *_names("second", self.second).values()]
        return tuple(dict.fromkeys([OF_SECOND, ACCEPTED_OF_SECOND, *names]))

    @property
    @override
    def compiles(self) -> bool:  # type: ignore[override]
        """Whether numba understands the steps of both kernels."""
        return self.first.compiles and self.second.compiles

    @property
    @override
    def suits_any_reference(self) -> bool:  # type: ignore[override]
        """Whether both do."""
        return self.first.suits_any_reference and self.second.suits_any_reference

    @property
    @override
    def code(self) -> Hashable:
        """The code of both kernels; the share reaches the step as a number."""
        return Mixture, self.first.code, self.second.code

    @property
    @override
    def learns(self) -> bool:
        """Whether at least one of the two learns."""
        return self.first.learns or self.second.learns

    @override
    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """Steps, share and where the second begins; then all numbers of the first and second."""
        return self._table([kernel.tuning(problem, ladder) for kernel in (self.first, self.second)])

    @override
    def search_tuning(
        self, problem: Problem, ladder: Ladder, covariance: FloatTable | None
    ) -> Floats:
        kernels = (self.first, self.second)
        rows = [kernel.search_tuning(problem, ladder, covariance) for kernel in kernels]
        together: Floats = self._table([row[None, :] for row in rows])[0]
        return together

    def _table(self, tables: list[FloatTable]) -> FloatTable:
        common = [float(self.steps), float(self.share), float(FIRST + tables[0].shape[1])]
        numbers = np.column_stack([np.tile(common, (len(tables[0]), 1)), *tables])
        numbers[:, [FIRST, FIRST + tables[0].shape[1]]] = 1.0  # steps of each
        return numbers

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """Take a step of the second kernel with probability `share`, else one of the first.

        Steps of the second, and how many of them were accepted, are counted on their own, so that
        each kernel can learn in the warm-up from what its own steps did.
        """
        first, second = (
            parts.target.helper(kernel.step(self._parts_of(which, kernel, parts)))
            for which, kernel in (("first", self.first), ("second", self.second))
        )
        of_second, accepted_of_second = parts.place(OF_SECOND), parts.place(ACCEPTED_OF_SECOND)

        def step(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
        ) -> bool:
            place = int(tuning[SECOND])
            if rng.random() < tuning[SHARE]:
                info[of_second] += 1.0
                goes = second(level, tuning[place:], here, rng, there, info)
                if goes:
                    info[accepted_of_second] += 1.0
                return goes
            return first(level, tuning[FIRST:place], here, rng, there, info)

        return step

    @staticmethod
    def _parts_of(which: str, kernel: Kernel, parts: Parts) -> Parts:
        names = _names(which, kernel)
        return parts.with_places({own: parts.place(name) for own, name in names.items()})

    @override
    def at_first(self, spread: Floats, rungs: int) -> Mixture:
        return self._of(lambda kernel: kernel.at_first(spread, rungs))

    @override
    def adapted(self, seen: Seen) -> Mixture:
        """Each kernel learns from its own steps, and from how many of them were accepted."""
        steps, accepted = seen.statistics[OF_SECOND], seen.statistics[ACCEPTED_OF_SECOND]
        own = {
            which: {own: seen.statistics[name] for own, name in _names(which, kernel).items()}
            for which, kernel in (("first", self.first), ("second", self.second))
        }
        of_first = seen._replace(
            steps=seen.steps - steps, accepted=seen.accepted - accepted, statistics=own["first"]
        )
        of_second = seen._replace(steps=steps, accepted=accepted, statistics=own["second"])
        return replace(
            self, first=self.first.adapted(of_first), second=self.second.adapted(of_second)
        )

    @override
    def respaced(self, nearest: Integers) -> Mixture:
        return self._of(lambda kernel: kernel.respaced(nearest))

    @override
    def frozen(self) -> Mixture:
        return self._of(lambda kernel: kernel.frozen())

    def _of(self, change: Callable[[Kernel], Kernel]) -> Mixture:
        return replace(self, first=change(self.first), second=change(self.second))

    def __repr__(self) -> str:
        options = [repr(self.first), repr(self.second), f"share={self.share:g}"]
        if self.steps > 1:
            options.append(f"steps={self.steps}")
        return f"Mixture({', '.join(options)})"


def _names(which: str, kernel: Kernel) -> dict[str, str]:
    """By the name of a kernel's statistic, its name in a mixture.

    The same, but for what mixtures count themselves: one may be made of others.
    """
    own = (OF_SECOND, ACCEPTED_OF_SECOND)
    return {
        name: f"{which}.{name}" if name.rpartition(".")[2] in own else name
        for name in kernel.statistics
    }
