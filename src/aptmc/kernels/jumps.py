"""Proposals that are drawn from a mixture like the target, wherever the chain is.

A step of one size fits no posterior of several modes, or one that is thin and bent: most steps lead
beside it. A mixture that was fitted in the warm-up leads to all of it, from anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats, FloatTable, FloatTables, Generator, Integers, compiled
from aptmc.errors import InputError
from aptmc.kernels.seen import FEWEST_DRAWS
from aptmc.kernels.shapes import effective_share
from aptmc.kernels.student_fit import USUAL_DEGREES, WIDER, fit_all
from aptmc.kernels.students import (
    DEGREES,
    MEAN,
    Mixed,
    Students,
    draw_around_zero,
    draw_scale,
)

MOST_COMPONENTS = 32
# Where a mixture has less than the target, a chain that got there stays for long: so it has tails.
MOST_DEGREES = 12.0
# Of the proposals of a run so many come from farther out: from the same mixture with so many times
# the covariance. Measured: docs/tuning.md.
FARTHER, TIMES = 0.1, 4.0


def check_jumps(reference: Any, jumps: Any) -> None:
    """Refuse what is no mixture, and what is no share."""
    if reference is not None and not isinstance(reference, Students):
        raise InputError(
            f"reference must be aptmc.kernels.Students, got {reference!r}: leave it out, and with "
            'the scale "auto" one is fitted in the warm-up'
        )
    if not isinstance(jumps, int | float) or not 0.0 <= jumps <= 1.0:
        raise InputError(f"jumps must be a number from 0 to 1, got {jumps!r}")


@final
@dataclass(frozen=True, eq=False)
class Fitted:
    """By rung: a mixture, and how many independent draws have told of it."""

    reference: Students
    told: Floats

    @property
    def proposals(self) -> Students:
        """The mixture that chains of a run draw from: a wider one.

        Where simulations hit seldom, draws like the target come still more seldom to what counts,
        and a chain that is there stays for long. Best is a density like the root of the target's,
        with twice its covariance; but in many dimensions too few would hit. Measured:
        docs/tuning.md.
        """
        variance = 1.0 + 2.0 / (1.0 + self.reference.dimension)
        wider = replace(self.reference, matrices=variance / WIDER * self.reference.matrices)
        return with_far_ones(wider)

    def after(self, states: list[FloatTable]) -> Fitted:
        """What suits the states that were seen on each rung, where these tell more.

        A descent sees many particles in all modes; the few chains of a short round may see one.
        """
        told = np.array([independent(rows) for rows in states])
        better = told >= np.maximum(self.told, FEWEST_DRAWS)
        some = [rows if use else rows[:0] for rows, use in zip(states, better, strict=True)]
        reference = with_tails(fit_all(some, self.reference, MOST_COMPONENTS))
        return Fitted(reference, np.where(better, told, self.told))

    def respaced(self, nearest: Integers) -> Fitted:
        """For other rungs, what the nearest of these have."""
        return Fitted(self.reference.respaced(nearest), self.told[nearest])


def first_fit(states: list[FloatTable], covariances: FloatTables) -> Fitted:
    """The first, in which one distribution stands where too little was seen.

    :param covariances: of each rung, as believed so far
    """
    single = [
        Mixed(np.ones(1), rows.mean(axis=0)[None], covariance[None], USUAL_DEGREES)
        for rows, covariance in zip(states, covariances, strict=True)
    ]
    return Fitted(Students.of(single), np.zeros(len(states))).after(states)


def with_tails(reference: Students) -> Students:
    """The same with few degrees of freedom."""
    return replace(reference, degrees=np.minimum(reference.degrees, MOST_DEGREES))


def with_far_ones(reference: Students) -> Students:
    """The same, of which a part is far wider: a fit to a few draws may be too narrow, and the law
    may have tails that none of them has shown.
    """
    found = []
    for mixed in map(reference.on, range(reference.rungs)):
        weights = np.concatenate([(1.0 - FARTHER) * mixed.weights, FARTHER * mixed.weights])
        means = np.concatenate([mixed.means, mixed.means])
        matrices = np.concatenate([mixed.matrices, TIMES * mixed.matrices])
        found.append(mixed._replace(weights=weights, means=means, matrices=matrices))
    return Students.of(found)


def independent(states: FloatTable) -> float:
    """As how many independent draws these tell, about: a state that was stayed at tells once."""
    if len(states) < FEWEST_DRAWS:
        return 0.0
    distinct = len(np.unique(states[:, 0]))
    return min(effective_share(states) * len(states), distinct)


def jump_numbers(reference: Students, rungs: int) -> FloatTable:
    """For the tuning of a kernel, by rung: weights of the components, then the mixture."""
    there = reference.on_rungs(rungs)
    return np.column_stack([there.weights, there.numbers()])


@compiled
def draw_anywhere(
    rng: Generator, dimension: int, numbers: Floats, weights: int, first: int, there: Floats
) -> None:
    """Write a draw from a mixture to the beginning of `there`.

    :param numbers: with the weights from one place on, and the mixture from `first` on
    """
    count = int(numbers[first])
    chosen, left = 0, rng.random() - numbers[weights]
    while left >= 0.0 and chosen < count - 1:
        chosen += 1
        left -= numbers[weights + chosen]
    block = first + 1 + chosen * (MEAN + dimension + dimension * (dimension + 1) // 2)
    drawn = np.empty(dimension)
    # As if a point at the mean was known, in no dimension: that is to know nothing.
    scale = draw_scale(rng, 0, numbers[block + DEGREES], 0.0)
    draw_around_zero(rng, dimension, numbers, block, scale, drawn)
    for i in range(dimension):
        there[i] = numbers[block + MEAN + i] + drawn[i]
