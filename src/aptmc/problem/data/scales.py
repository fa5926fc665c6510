"""How much each number of the data varies from simulation to simulation.

Scales are measured when a problem is made, with random keys that are always the same, and never
again: a distance that changed in mid-run would change the posterior, and no run could be replayed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError
from aptmc.keys import PILOT, Key
from aptmc.problem.data.layout import Part
from aptmc.problem.data.trial import SEED, Simulated, Trial
from aptmc.problem.data.unscaled import Unscaled

DIGITS = 3  # more would say nothing, and would depend on the machine
ROUNDS = 3
PROPOSALS = 100  # for one inside the prior's support


Place = Callable[[int], tuple[Floats, np.random.Generator]]


def from_prior(trial: Trial, count: int) -> list[Simulated]:
    """So many simulations at parameters from the prior, less those that are not finite."""

    def place(number: int) -> tuple[Floats, np.random.Generator]:
        rng = Key(SEED, 1, number, PILOT).generator()
        return trial.prior.draw(rng), rng

    return _simulated(trial, count, place, "from the prior")


def near_the_data(
    trial: Trial, found: list[Simulated], count: int
) -> tuple[list[Simulated], float]:
    """Simulations of a pilot that comes nearer in a few rounds, and the tolerance of the last.

    Each round keeps the nearest quarter and proposes from it, as widely as population methods do:
    with twice its covariance. All proposals count: of those within the tolerance alone, every
    number would vary as much as the tolerance lets it.

    :param found: simulations from the prior
    """
    newest, tolerance = found, math.inf
    away = [trial.distance_of(one) for one in found]
    for turn in range(ROUNDS):
        nearest = np.argsort(away, kind="stable")[: max(count // 4, 2)].tolist()
        tolerance = away[nearest[-1]]
        place = _proposals(trial, np.array([found[i].theta for i in nearest]), turn)
        newest = _simulated(trial, count, place, f"at tolerance {tolerance:.3g}")
        found = [*(found[i] for i in nearest), *newest]
        away = [*(away[i] for i in nearest), *(trial.distance_of(one) for one in newest)]
    return newest, tolerance


def spread(found: list[Simulated], scale: str, names: Iterable[str]) -> Floats:
    """The scale of each number, 0 where all simulations are the same.

    :param scale: "mad" or "sd"
    :param names: what to call the numbers in a message
    """
    numbers = np.array([one.numbers for one in found])
    same = np.ptp(numbers, axis=0) == 0.0
    if scale == "sd":
        scales = numbers.std(axis=0, ddof=1)
    else:
        scales = np.median(np.abs(numbers - np.median(numbers, axis=0)), axis=0)
        vague = (scales == 0.0) & ~same
        if vague.any():
            name = next(name for name, is_vague in zip(names, vague, strict=True) if is_vague)
            raise InputError(
                f"more than half of the simulations are equal in {name}, so that its median "
                'absolute deviation is 0: use scale="sd", or leave it out by way of summary'
            )
    if same.all():
        raise InputError(
            f"all {len(numbers)} simulations are equal, so there is no scale: does simulate use "
            "theta and rng?"
        )
    return np.array([float(f"{scale:.{DIGITS}g}") for scale in np.where(same, 0.0, scales)])


def names_of(part: Part) -> list[str]:
    """What to call each number of the data."""
    return [
        f"{leaf.name}[{', '.join(map(str, place))}]" if place else leaf.name
        for leaf in part.leaves()
        for place in np.ndindex(leaf.shape)
    ]


def wanted(found: Iterable[Unscaled]) -> dict[tuple[str, str], int]:
    """By scale and place, how many simulations are asked for."""
    counts: dict[tuple[str, str], int] = {}
    for one in found:
        counts[one.scale, one.at] = max(one.simulations, counts.get((one.scale, one.at), 0))
    return counts


def _proposals(trial: Trial, parents: FloatTable, turn: int) -> Place:
    covariance = 2.0 * np.atleast_2d(np.cov(parents.T))
    # What does not vary at all needs no more than a crumb to have a root.
    root = np.linalg.cholesky(covariance + np.diag(1e-9 * np.diag(covariance) + 1e-300))

    def place(number: int) -> tuple[Floats, np.random.Generator]:
        rng = Key(SEED, 2 + turn, number, PILOT).generator()
        parent = parents[rng.integers(len(parents))]
        for _ in range(PROPOSALS):
            theta = parent + root @ rng.standard_normal(parent.size)
            if trial.prior.log_density(theta) > -math.inf:
                return theta, rng
        return parent.copy(), rng

    return place


def _simulated(trial: Trial, count: int, place: Place, words: str) -> list[Simulated]:
    tried = [trial.at(*place(number)) for number in range(count)]
    kept = [one for one in tried if one is not None and np.isfinite(one.numbers).all()]
    if 2 * len(kept) < count:
        raise InputError(
            f"{count - len(kept)} of {count} simulations {words} failed or were not finite, so "
            "that scales cannot be measured: narrow the prior, or give weights by hand"
        )
    return kept
