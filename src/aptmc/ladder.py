"""The ladder: the levels of the rungs, coldest first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, final

import numpy as np

from aptmc.arguments import class_named_clearly, named_clearly
from aptmc.checks import numbers, whole_number
from aptmc.compiled import Floats
from aptmc.errors import InputError

SWAP_RATE = 0.4
TOO_MANY_RUNGS = 1000  # of which all pairs are counted
MOST_RUNGS = 40
LEARNED = "learned"


@final
@dataclass(frozen=True)
class Ladder:
    """Rungs from the posterior that is wanted (rung 0) to the easiest one.

    Build one with `Ladder.powers`, `Ladder.geometric` or `Ladder.tolerances`.

    >>> Ladder.powers([1, 0.5, 0.1])
    Ladder.powers([1.0, 0.5, 0.1])
    """

    levels: tuple[float, ...]
    idle_rungs: frozenset[int] = frozenset()
    kind: Literal["powers", "tolerances"] = "powers"
    # What the hot end is: None, the prior; or fitted in the warm-up, "learned" until then.
    reference: Any = None

    def __post_init__(self) -> None:
        _check_reference(self.reference, may_be_fitted=True)
        levels = _as_levels(self.levels, may_be_open=self.kind == "tolerances")
        if self.kind == "tolerances":
            _check_tolerances(levels)
        else:
            _check_powers(levels)
        object.__setattr__(self, "levels", levels)

    @classmethod
    def tolerances(cls, tolerances: Sequence[float] | Floats) -> Ladder:
        """Distances within which simulations count as hits, increasing from rung 0.

        The last may be infinite: a rung that draws from the prior.

        >>> Ladder.tolerances([1, 1.5, 2.5, 11])
        Ladder.tolerances([1.0, 1.5, 2.5, 11.0])
        """
        return cls(tuple(tolerances), kind="tolerances")

    @classmethod
    def powers(cls, powers: int | Sequence[float] | Floats, *, reference: Any = None) -> Ladder:
        """Inverse temperatures, decreasing from 1; a whole number n means n/n, (n-1)/n, …, 1/n.

        The latter is the paper's ladder (section 3.1). A power of 0 is the prior.

        :param reference: "learned": what stands at power 0 is fitted to the posterior in the
            warm-up, and the prior is a tenth of it. Or `aptmc.kernels.Students`, given by hand

        >>> Ladder.powers(4).levels
        (1.0, 0.75, 0.5, 0.25)
        >>> Ladder.powers([1, 0.3, 0], reference="learned")
        Ladder.powers([1.0, 0.3, 0.0], reference='learned')
        """
        if isinstance(powers, int | np.integer):
            rungs = whole_number("the number of rungs", powers)
            if rungs > TOO_MANY_RUNGS:
                raise InputError(
                    f"a ladder of {rungs} rungs is too long: use {TOO_MANY_RUNGS} at most; ladders "
                    'of "auto" have ten or twenty'
                )
            powers = [rung / rungs for rung in range(rungs, 0, -1)]
        return cls(powers, reference=reference)  # type: ignore[arg-type]

    @classmethod
    def geometric(cls, rungs: int, hottest: float) -> Ladder:
        """Inverse temperatures from 1 down to `hottest`, each the same fraction of the last.

        >>> Ladder.geometric(3, hottest=0.01).levels
        (1.0, 0.1, 0.01)
        """
        rungs = whole_number("rungs", rungs, least=2)
        if not isinstance(hottest, int | float | np.number) or not 0.0 < hottest < 1.0:
            raise InputError(
                f"hottest must lie between 0 and 1, got {hottest!r}: use 0.01, say, "
                "or Ladder.powers([1, …, 0]) for a ladder that ends at the prior"
            )
        levels = [hottest ** (rung / (rungs - 1)) for rung in range(rungs)]
        return cls((*levels[:-1], hottest))

    @staticmethod
    @named_clearly
    def auto(
        *,
        coldest: float | None = None,
        effective_draws: float | None = None,
        swap_rate: float = SWAP_RATE,
        rungs: int | None = None,
        most_rungs: int = MOST_RUNGS,
        hottest: float | None = None,
        reference: str | None = None,
    ) -> AutoLadder:
        """A ladder that the warm-up finds: see `AutoLadder`.

        >>> Ladder.auto(coldest=0.4).coldest
        0.4
        """
        return AutoLadder(
            coldest=coldest,
            effective_draws=effective_draws,
            swap_rate=swap_rate,
            rungs=rungs,
            most_rungs=most_rungs,
            hottest=hottest,
            reference=reference,
        )

    def without_local_moves(self, *rungs: int) -> Ladder:
        """The same ladder with rungs whose chains make no local moves: exchanges feed them.

        >>> Ladder.powers(8).without_local_moves(0).idle_rungs
        frozenset({0})
        """
        for rung in rungs:
            if rung not in range(len(self.levels)):
                raise InputError(
                    f"there is no rung {rung!r}: this ladder has rungs 0 to {len(self.levels) - 1}"
                )
        return replace(self, idle_rungs=self.idle_rungs | frozenset(rungs))

    @property
    def rungs(self) -> int:
        """How many rungs the ladder has, the coldest included."""
        return len(self.levels)

    def level_array(self) -> Floats:
        """The levels as an array, coldest first."""
        return np.array(self.levels)

    def __repr__(self) -> str:
        idle = f".without_local_moves{tuple(sorted(self.idle_rungs))}" if self.idle_rungs else ""
        reference = "" if self.reference is None else f", reference={self.reference!r}"
        return f"Ladder.{self.kind}({list(self.levels)}{reference}){idle}"


@class_named_clearly
@final
@dataclass(frozen=True, kw_only=True)
class AutoLadder:
    """A ladder that the warm-up finds.

    :param swap_rate: how often neighbours should swap. 20 to 25 % would be best if all chains took
        part; chains in flight make pairs less adjacent, so more is better here
    :param coldest: tolerances only: the one that is wanted. Without it, the smallest at which the
        budget gives `effective_draws`
    :param effective_draws: tolerances only, if the coldest is not given: how many there are to be.
        Without it 400; or fewer, down to 50, while the descent sees means move by more than these
        leave of noise, so that a smaller tolerance is worth more than draws
    :param rungs: how many, if that is to be fixed
    :param most_rungs: never more than these
    :param hottest: tolerances only: the last rung's, `math.inf` for the prior itself. Without it,
        the one below which simulations begin to hit less often. A simulator that can stop early
        is never called with a larger one
    :param reference: powers only: "learned", to have the hot end fitted to the posterior in place
        of the prior; the ladder is shorter then

    >>> AutoLadder(coldest=0.4).range
    (2, 40)
    """

    swap_rate: float = SWAP_RATE
    coldest: float | None = None
    effective_draws: float | None = None
    rungs: int | None = None
    most_rungs: int = MOST_RUNGS
    hottest: float | None = None
    reference: str | None = None

    def __post_init__(self) -> None:
        _check_reference(self.reference, may_be_fitted=False)
        if not isinstance(self.swap_rate, int | float) or not 0.01 <= self.swap_rate <= 0.95:
            raise InputError(
                f"swap_rate must lie between 0.01 and 0.95, got {self.swap_rate!r}: use 0.4, say"
            )
        if self.coldest is not None and (
            not isinstance(self.coldest, int | float) or not 0.0 <= self.coldest < math.inf
        ):
            raise InputError(f"coldest must be a tolerance from 0 on, got {self.coldest!r}")
        if self.hottest is not None and (
            not isinstance(self.hottest, int | float) or not self.hottest > (self.coldest or 0.0)
        ):
            raise InputError(
                f"hottest must be a tolerance larger than the coldest, got {self.hottest!r}: use "
                "math.inf for a ladder that ends at the prior"
            )
        draws = self.effective_draws
        if draws is not None and (not isinstance(draws, int | float) or not draws > 0.0):
            raise InputError(f"effective_draws must be positive, got {draws!r}")
        if self.rungs is not None:
            whole_number("rungs", self.rungs, least=2)
        whole_number("most_rungs", self.most_rungs, least=2)

    @property
    def range(self) -> tuple[int, int]:
        """The fewest and the most rungs that the warm-up may choose."""
        return (self.rungs, self.rungs) if self.rungs is not None else (2, self.most_rungs)


def _check_reference(reference: Any, *, may_be_fitted: bool) -> None:
    if reference is None or (isinstance(reference, str) and reference == LEARNED):
        return
    if may_be_fitted and hasattr(reference, "matrices"):  # one of `aptmc.kernels.Students`
        return
    or_given = " or aptmc.kernels.Students" if may_be_fitted else ""
    raise InputError(
        f'reference must be "learned"{or_given}, got {reference!r}: leave it out to have the prior '
        "at the hot end"
    )


def _check_powers(levels: tuple[float, ...]) -> None:
    if levels[0] != 1.0:
        raise InputError(
            f"rung 0 must be the posterior itself, with power 1, got {levels[0]!r}: put 1 first"
        )
    if any(colder <= warmer for colder, warmer in pairwise(levels)):
        raise InputError(
            f"powers must decrease from rung 0, got {list(levels)}: sort them, coldest first"
        )
    if levels[-1] < 0.0:
        raise InputError(f"powers must not be negative, got {levels[-1]!r}: end with 0 or more")


def _check_tolerances(levels: tuple[float, ...]) -> None:
    if any(colder >= warmer for colder, warmer in pairwise(levels)):
        raise InputError(
            f"tolerances must increase from rung 0, got {list(levels)}: sort them, coldest first"
        )
    if levels[0] < 0.0:
        raise InputError(f"tolerances must not be negative, got {levels[0]!r}")


def _as_levels(levels: Sequence[float] | Floats, *, may_be_open: bool) -> tuple[float, ...]:
    listed = list(levels) if isinstance(levels, Sequence | np.ndarray) else levels
    end = []
    if may_be_open and isinstance(listed, list) and listed and listed[-1] == math.inf:
        end = [listed.pop()]
    array = numbers(listed)
    if array is None or array.ndim != 1:
        raise InputError(f"a ladder is a sequence of finite numbers, got {levels!r}")
    if array.size == 0 and not end:
        raise InputError("the ladder is empty: give at least one level, 1 of powers say")
    return (*array.tolist(), *end)
