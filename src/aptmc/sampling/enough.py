"""When a run has enough: goals that it may reach before its budget is spent.

A goal looks at how well the posterior is known, and never at what it is. It is asked seldom, each
time a seventh later than the last, and must be met twice in a row: an estimate of the effective
size is uncertain itself, and whoever asks it at every draw ends at the luckiest of many.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.diagnostics import r_hat
from aptmc.diagnostics.error_of_mean import Timeline, effective_draws
from aptmc.diagnostics.states import states_in
from aptmc.errors import InputError
from aptmc.quota import Quota, quota_in
from aptmc.result.run import Run
from aptmc.store import Draws

LEAST_EFFECTIVE = 50.0  # with fewer, their number cannot be told
FIRST_LOOK, LATER_BY = 1e-3, 1.15  # of a budget; how much later each look comes than the last
FEWEST_FOR_R_HAT = 100  # draws of a chain: with fewer, halves agree by chance
SHORTEST = 0.25  # seconds before the first look
IN_A_ROW = 2
# Of the draws that are wanted, so many in one round end a warm-up, of which the budget is longer.
WARM, USUAL_DRAWS = 0.5, 400.0


class Goal(ABC):
    """What a run may go on until."""

    @abstractmethod
    def is_reached(self, run: Run) -> bool:
        """Whether the run has it, as it stands."""


@class_named_clearly
@final
@dataclass(frozen=True)
class Effective(Goal):
    """Go on until every parameter has so many effective draws.

    :param draws: independent draws that would give the means as well, from 50 on

    >>> import scipy.stats, aptmc
    >>> problem = aptmc.Tempered(
    ...     lambda theta: -0.5 * theta[0] ** 2, aptmc.Prior(x=scipy.stats.norm(0, 5))
    ... )
    >>> run = aptmc.sample(
    ...     problem,
    ...     budget=1e6,
    ...     until=aptmc.Effective(100),
    ...     ladder=3,
    ...     kernel=aptmc.RandomWalk(2.0),
    ...     schedule=aptmc.Anytime(every=3),
    ...     on=aptmc.VirtualTime(1),
    ...     seed=1,
    ... )
    >>> print(run.stopped)
    enough was drawn
    >>> run.summary()["x"].ess > 100
    True
    """

    draws: float

    def __post_init__(self) -> None:
        if (
            isinstance(self.draws, bool)
            or not isinstance(self.draws, int | float)
            or not LEAST_EFFECTIVE <= self.draws < math.inf
        ):
            raise InputError(
                f"effective draws must be {LEAST_EFFECTIVE:.0f} or more, since fewer cannot be "
                f"told, got {self.draws!r}: use aptmc.Effective(400), say"
            )

    def __str__(self) -> str:
        return f"{self.draws:g} effective draws"

    @override
    def is_reached(self, run: Run) -> bool:
        times = [chain.time for chain in run.chains()]
        labels = run.settings.problem.labels
        states = states_in(run.series(label) for label in labels)
        for label in labels:
            every = run.series(label)
            series, known = _there(every, times)
            same = None if states is None else states[~np.isnan(np.concatenate(every))]
            lengths, apart = [one.size for one in series], run.settings.pools.apart
            timeline = Timeline(lengths, known, apart=apart, states=same)
            if not effective_draws(series, timeline) >= self.draws:
                return False
        return True


@class_named_clearly
@final
@dataclass(frozen=True)
class RHat(Goal):
    """Go on until the chains of the coldest rung, and their halves, agree.

    Chains of less than 100 draws agree by chance, and do not count as such. Otherwise it says
    nothing of how many draws there are: see `Effective`, which may stand beside it.

    :param below: of every parameter; 1.01 is usual

    >>> RHat(1.01)
    RHat(below=1.01)
    """

    below: float = 1.01

    def __post_init__(self) -> None:
        if not isinstance(self.below, int | float) or not 1.0 < self.below < math.inf:
            raise InputError(
                f"r-hat must come below a number above 1, got {self.below!r}: use 1.01"
            )

    def __str__(self) -> str:
        return f"r-hat below {self.below:g}"

    @override
    def is_reached(self, run: Run) -> bool:
        for label in run.settings.problem.labels:
            series, _ = _there(run.series(label), None)
            shortest = min((one.size for one in series), default=0)
            if (
                shortest < FEWEST_FOR_R_HAT
                or not r_hat([one[:shortest] for one in series]) < self.below
            ):
                return False
        return True


def _there(series: list[Any], times: list[Any] | None) -> tuple[list[Any], list[Any] | None]:
    """The draws that have a parameter, of models that not all have it."""
    has = [~np.isnan(one) for one in series]
    kept = [one[mine] for one, mine in zip(series, has, strict=True)]
    kept_times = None
    if times is not None:
        kept_times = [one[mine] for one, mine in zip(times, has, strict=True)]
        kept_times = [one for one in kept_times if one.size > 0]
    return [one for one in kept if one.size > 0], kept_times


@final
@dataclass
class Until:
    """What a run goes on until, beside its budget: all goals, or a count."""

    goals: tuple[Goal, ...] = ()
    quota: Quota | None = None
    met: int = 0  # looks in a row at which all goals were met
    next_look: float = 0.0  # in the time of the sampling

    def __bool__(self) -> bool:
        return bool(self.goals) or self.quota is not None

    def __str__(self) -> str:
        return " and ".join(map(str, (*self.goals, *([] if self.quota is None else [self.quota]))))

    def looks_first(self, budget: float, *, by_clock: bool) -> None:
        """Sampling begins, with so much of the budget left."""
        self.next_look = max(FIRST_LOOK * budget, SHORTEST if by_clock else 0.0)

    def is_warm(self, draws: list[Draws], dimension: int) -> bool:
        """Whether a round of a warm-up had so many draws that a longer one is not worth its time.

        Without a goal it goes on for as long as it was given.
        """
        if not self.goals or not draws:
            return False
        wanted = [goal.draws for goal in self.goals if isinstance(goal, Effective)]
        enough = WARM * max(wanted, default=USUAL_DRAWS)
        columns = [[one.state[:, place] for one in draws] for place in range(dimension)]
        times = [one.time for one in draws]
        timeline = Timeline([one.size for one in times], times, states=states_in(columns))
        return all(effective_draws(series, timeline) >= enough for series in columns)

    def is_reached(self, run: Run, elapsed: float) -> bool:
        """Look at a run, which is due; whether it may end."""
        self.next_look = max(self.next_look, elapsed) * LATER_BY
        has_all = all(goal.is_reached(run) for goal in self.goals)
        self.met = self.met + 1 if has_all else 0
        return self.met >= IN_A_ROW


def until_from(said: Any) -> Until:
    """What users say: goals, words, or several of them, all of which are to be met.

    >>> print(until_from("400 effective draws and r-hat < 1.01"))
    400 effective draws and r-hat below 1.01
    """
    if said is None:
        return Until()
    goals: list[Goal] = []
    quota: Quota | None = None
    for part in said if isinstance(said, list | tuple) else [said]:
        for one in re.split(r"\s+and\s+|,\s+", part) if isinstance(part, str) else [part]:
            found = quota_in(one, "until") or _goal(one, said)
            if isinstance(found, Goal):
                goals.append(found)
            elif quota is not None:
                raise InputError(f"until may have one count only, got {said!r}")
            else:
                quota = found
    if goals and quota is not None:
        raise InputError(
            f"a count ends a run whatever else is wanted, got until={said!r}: give it as budget, "
            f'budget="{quota.most:.0f} {quota.unit}"'
        )
    return Until(tuple(goals), quota)


def _goal(one: Any, said: Any) -> Goal:
    if isinstance(one, Goal):
        return one
    if isinstance(one, str):
        words = one.strip().lower()
        number = r"([0-9][0-9_]*(?:\.[0-9]*)?)"
        match = re.fullmatch(rf"r[-_ ]?hat\s*<=?\s*{number}", words)
        if match:
            return RHat(float(match[1]))
        match = re.fullmatch(rf"(?:ess|effective(?: draws)?)\s*>=?\s*{number}", words)
        match = match or re.fullmatch(rf"{number}\s*(?:ess|effective(?: draws)?)", words)
        if match:
            return Effective(float(match[1]))
    raise InputError(
        f'until must be a goal, got {said!r}: use aptmc.Effective(400), "400 effective draws", '
        '"r-hat < 1.01", both in a list, or "10000 simulations"'
    )
