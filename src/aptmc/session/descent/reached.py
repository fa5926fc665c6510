"""How far a descent came: what is said first of every likelihood-free run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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
    def is_wide(self) -> bool:
        """Whether more than a tenth of the prior's own simulations lie within the tolerance."""
        return self.prior_share > WIDE

    def at(self, level: float) -> Reached:
        """The same of another tolerance on which the run stands by now."""
        return self._replace(level=level, prior_share=self.share_within(level))

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
        if math.isinf(self.level):
            words = "tolerance ∞, the prior itself"
        elif self.asked is None:
            words = f"tolerance {self.level:.3g}, chosen"
            if self.effective_draws is not None:
                words += f" for {self.effective_draws:.0f} effective draws"
        elif self.is_as_asked:
            words = f"tolerance {self.level:.3g}, as asked for"
        else:
            words = f"tolerance {self.level:.3g}, not the {self.asked:.3g} that was asked for"
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
    return Reached(
        asked=asked,
        level=level,
        prior_share=share_within(descent.stages, level),
        simulations=descent.simulations,
        given_up=descent.given_up,
        elapsed=descent.elapsed,
        effective_draws=effective_draws,
        curve=curve,
    )


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
