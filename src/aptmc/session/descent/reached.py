"""How far a descent came: what is said first of every likelihood-free run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aptmc.session.descent.goal import DownTo
from aptmc.session.descent.stages import WIDE, mass_curve, share_within

if TYPE_CHECKING:
    from aptmc.session.descent.descent import Descent

# A tolerance that was asked for, but for rounding.
ALMOST = 1.0 + 1e-9
# How steeply the share falls with the tolerance is read off the last so many halvings.
LAST_HALVINGS = 4.0
# A share falls with its tolerance at least so steeply, as far as anything is promised. Measured:
# `python -m benchmarks.longer_budgets`.
LEAST_STEEP = 2.0
RARE = 1e-3  # a share that is better said as one in so many
MOST_RUNGS = 99  # of which anybody wants to hear


class Reached(NamedTuple):
    """The tolerance of a likelihood-free run, and what that means."""

    asked: float | None  # the tolerance that was wanted; None: the run was to choose
    level: float  # the one that is sampled: that of the coldest rung
    prior_share: float  # of simulations from the prior that lie within it
    simulations: float  # that it took to get there
    given_up: int  # of them, because they took far too long
    elapsed: float
    effective_draws: float | None = None  # for which the run was to choose its tolerance
    by_rejection: bool = False  # every step is a fresh draw from the prior
    curve: tuple[tuple[float, float], ...] = ()  # tolerances, decreasing; logs of the prior's share
    # Of the ladder down to the tolerance that was asked for, 0 if nobody can tell: how many there
    # are, about if the run was to space them, and how many stand on what was reached.
    rungs: int = 0
    rungs_reached: int = 0
    is_ladder_given: bool = False
    is_over: bool = True  # the descent; otherwise the run was stopped on the way

    # --- what follows from it -----------------------------------------------------------------

    @property
    def is_as_asked(self) -> bool:
        """Whether the run stands on the tolerance that was asked for, or was free to choose."""
        return self.asked is None or self.level <= self.asked * ALMOST

    @property
    def is_chosen(self) -> bool:
        """Whether the run has chosen its tolerance: nobody did, or nobody's was reached."""
        return self.asked is None or not self.is_as_asked

    @property
    def is_smallest(self) -> bool:
        """Whether no tolerance is smaller: simulations are as near as can be."""
        return self.level == 0.0

    @property
    def is_wide(self) -> bool:
        """Whether more than a tenth of the prior's own simulations lie within the tolerance."""
        return self.prior_share > WIDE

    def at(self, level: float) -> Reached:
        """The same of another tolerance on which the run stands by now."""
        return self._replace(level=level, prior_share=self.share_within(level))

    def on(self, levels: Sequence[float], each: float) -> Reached:
        """The same of a ladder on which the run stands by now.

        :param each: the share of a rung's draws within the next tolerance, as rungs are spaced
        """
        there = self.at(levels[0])
        if self.is_ladder_given:
            return there
        more, asked = 0.0, self.asked
        if asked is not None and not there.is_as_asked:
            share = there.share_within(asked)
            more = math.inf
            if 0.0 < share < there.prior_share:
                more = math.ceil(math.log(share / there.prior_share) / math.log(each))
        if len(levels) + more > MOST_RUNGS:
            return there._replace(rungs=0, rungs_reached=0)
        return there._replace(rungs=len(levels) + int(more), rungs_reached=len(levels))

    def share_within(self, level: float) -> float:
        """The share of the prior's simulations within a tolerance; below all seen, by the trend."""
        if not self.curve or level > self.curve[0][0]:
            return 1.0
        levels, masses = (np.array(part) for part in zip(*self.curve, strict=True))
        if level >= levels[-1]:
            return math.exp(float(np.interp(level, levels[::-1], masses[::-1])))
        if level <= 0.0 or self.steepness is None:
            return 0.0
        return math.exp(float(masses[-1]) + self.steepness * math.log(level / float(levels[-1])))

    def tolerance_after(self, times: float) -> float:
        """A tolerance that a budget so many times as long comes down to, most likely.

        The few stages of a short run may seem to be on a slope that is hardly one, with the next
        tolerance far below: that is not promised.
        """
        steepness = max(self.steepness or LEAST_STEEP, LEAST_STEEP)
        return self.level / math.pow(times, 1.0 / steepness)

    def times_to(self, level: float) -> float:
        """How many times as long a budget should be to come down to a tolerance, about."""
        share = self.share_within(level)
        if not share > 0.0:
            return math.inf
        return max(self.prior_share / share, self.level / level)

    @property
    def steepness(self) -> float | None:
        """How many times a share is halved with its tolerance, where the descent ended."""
        known = [(level, mass) for level, mass in self.curve if 0.0 < level < math.inf]
        if not known:
            return None
        last, depth = known[-1]
        near = [point for point in known if point[1] <= depth + LAST_HALVINGS * math.log(2.0)]
        first, height = near[0]
        if not (last < first and depth < height):
            return None
        return (height - depth) / math.log(first / last)

    # --- words --------------------------------------------------------------------------------

    def __str__(self) -> str:
        is_all = math.isinf(self.level)
        words = "tolerance ∞, the prior itself" if is_all else f"tolerance {self.level:.3g}"
        if not self.is_over:
            words += ", on the way down"
        if self.asked is None:
            chosen = ", the smallest there is" if self.is_smallest else ", chosen"
            words += chosen if self.is_over and not is_all else ""
            if self.effective_draws is not None and not is_all:
                words += f" for {self.effective_draws:.0f} effective draws"
        elif not self.is_as_asked:
            words += f", asked for {self.asked:.3g}"
            if self.rungs > 0:
                about = "" if self.is_ladder_given else "about "
                words += f", reached by {self.rungs_reached} of {about}{self.rungs} rungs"
        elif not is_all:
            words += ", as asked for"
        if math.isfinite(self.level):
            words += f": the nearest {share_text(self.prior_share)} of the prior's simulations"
        if self.by_rejection:
            words += ", by rejection, which is cheapest there"
        if self.given_up > 0:
            words += f"; {self.given_up} simulations on the way took far too long and were given up"
        return words

    # --- for a store --------------------------------------------------------------------------

    def notes(self) -> dict[str, Any]:
        """As a store can hold it, in which no number is infinite."""
        said: dict[str, Any] = {
            name: str(value) if isinstance(value, float) else value
            for name, value in self._asdict().items()
        }
        return said | {"curve": [[str(part) for part in point] for point in self.curve]}

    @classmethod
    def from_notes(cls, said: Mapping[str, Any] | None) -> Reached | None:
        """What a store says; None, if it says nothing."""
        if said is None:
            return None
        numbers: dict[str, Any] = {
            name: float(value) if isinstance(value, str) else value
            for name, value in said.items()
            if name in cls._fields and name != "curve"
        }
        curve = tuple((float(level), float(mass)) for level, mass in said["curve"])
        return cls(**numbers, curve=curve)


def reached_by(
    descent: Descent, level: float, *, asked: float | None, effective_draws: float | None = None
) -> Reached:
    """What a descent has found out about a tolerance on which a run is to stand."""
    levels, masses = mass_curve(descent.stages)
    # Of an infinite tolerance everybody knows what lies within.
    curve = tuple(zip(levels[1:].tolist(), masses[1:].tolist(), strict=True))
    given = descent.goal.levels if isinstance(descent.goal, DownTo) else ()
    return Reached(
        asked=asked,
        level=level,
        prior_share=share_within(descent.stages, level),
        simulations=descent.simulations,
        given_up=descent.given_up,
        elapsed=descent.elapsed,
        effective_draws=effective_draws,
        curve=curve,
        rungs=len(given),
        rungs_reached=sum(rung >= level for rung in given),
        is_ladder_given=bool(given),
    )


def reached_so_far(descent: Descent, *, asked: float | None) -> Reached:
    """The same of one that is under way, or was when the run was stopped."""
    return reached_by(descent, descent.has_reached, asked=asked)._replace(is_over=False)


def share_text(share: float) -> str:
    """A share of the prior as people say it.

    >>> share_text(0.873), share_text(0.0132), share_text(0.00002134)
    ('87 %', '1.3 %', '1 in 47,000')
    """
    if 0.0 < share < RARE:
        unit = 10.0 ** (math.floor(-math.log10(share)) - 1)
        return f"1 in {round(1.0 / share / unit) * unit:,.0f}"
    percent = 100.0 * share
    return f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.2g} %"
