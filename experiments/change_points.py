"""How often did the rate of coal-mining disasters change? Jumps between models, and exact answers.

Disasters with ten deaths or more in British coal mines by year, 1851 to 1962: the data of Green
(1995), as yearly counts (Jarrett 1979; Carlin, Gelfand and Smith 1992). The rate changes k times,
k = 0 to 4 with equal probabilities; changes are uniform over the years, and rates exponential with
mean 2. Rates can be integrated out and changes summed over all years, so that the posterior of k is
known exactly.

    python -m experiments.change_points
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

import aptmc

FIRST_YEAR = 1851
# One digit for each year.
COUNTS = (
    "45410434063340263354531441553425223421322111130010110031"
    "03220111010100021000110233112111124200014000100000100101"
)
DISASTERS = np.array([float(count) for count in COUNTS])
YEARS = DISASTERS.size
MOST = 4  # changes
MEAN_RATE = 2.0
SIZES = tuple(1 + 2 * changes for changes in range(MOST + 1))
CUMULATED = np.concatenate([[0.0], np.cumsum(DISASTERS)])


@njit
def log_likelihood(theta: Any) -> float:
    """theta: number of changes, first rate, then year and new rate of each change, in any order."""
    changes = int(theta[0])
    years, rates = theta[2 : 2 + 2 * changes : 2], theta[3 : 3 + 2 * changes : 2]
    order = np.argsort(years)
    total, begins, rate = 0.0, 0, theta[1]
    for place in range(changes + 1):
        ends = YEARS
        if place < changes:
            ends = int(years[order[place]])
        count = CUMULATED[ends] - CUMULATED[begins]
        total += count * math.log(rate) - (ends - begins) * rate
        if place < changes:
            begins, rate = ends, rates[order[place]]
    return total


@njit
def log_prior(theta: Any) -> float:
    """Exponential rates, uniform changes, all numbers of changes alike."""
    changes = int(theta[0])
    total = -math.log(MOST + 1.0)
    for i in range(changes + 1):
        rate = theta[1 + 2 * i]
        if not rate > 0.0:
            return -math.inf
        total -= math.log(MEAN_RATE) + rate / MEAN_RATE
    for i in range(changes):
        if not 0.0 <= theta[2 + 2 * i] < YEARS:
            return -math.inf
        total -= math.log(YEARS)
    return total


@njit
def draw(rng: Any) -> Any:
    """From the prior, padded with NaN."""
    theta = np.full(2 + 2 * MOST, math.nan)
    changes = int((MOST + 1) * rng.random())
    theta[0] = changes
    theta[1] = MEAN_RATE * rng.standard_exponential()
    for i in range(changes):
        theta[2 + 2 * i] = YEARS * rng.random()
        theta[3 + 2 * i] = MEAN_RATE * rng.standard_exponential()
    return theta


@njit
def birth(theta: Any, draws: Any, there: Any) -> float:
    """One change more, with a year and a rate from the prior."""
    there[: theta.size] = theta
    year, rate = YEARS * draws[0], -MEAN_RATE * math.log1p(-draws[1])
    there[theta.size], there[theta.size + 1] = year, rate
    return float(math.log(YEARS) + math.log(MEAN_RATE) + rate / MEAN_RATE)


@njit
def death(theta: Any, draws: Any, there: Any) -> float:
    """The last change goes."""
    there[:] = theta[: there.size]
    year, rate = theta[there.size], theta[there.size + 1]
    draws[0], draws[1] = year / YEARS, -math.expm1(-rate / MEAN_RATE)
    return -float(math.log(YEARS) + math.log(MEAN_RATE) + rate / MEAN_RATE)


def problem() -> aptmc.Tempered:
    """Number of changes, first rate, and a year and a rate for each change."""
    prior = aptmc.nested_prior(log_prior, draw, changes=(), first_rate=(), change=(MOST, 2))
    return aptmc.Tempered(log_likelihood, prior)


def kernel(**options: Any) -> aptmc.ReversibleJump:
    """Any of the changes may go: their order does not matter."""
    return aptmc.ReversibleJump(SIZES, birth, death, block=2, **options)


def exact() -> npt.NDArray[np.float64]:
    """The posterior of the number of changes, summed over all years in which they may be.

    Several changes may fall into one year; all rates but the last one there then have no data.
    """

    def log_evidence(begins: int, ends: int) -> float:
        """Of the years between two changes, the rate integrated out."""
        count, rate = CUMULATED[ends] - CUMULATED[begins], 1.0 / MEAN_RATE
        log_width = math.log(rate + ends - begins)
        return math.log(rate) + math.lgamma(count + 1.0) - float(count + 1.0) * log_width

    scale = log_evidence(0, YEARS) / YEARS  # so that nothing underflows
    between = np.zeros((YEARS + 1, YEARS + 1))
    for begins in range(YEARS + 1):
        for ends in range(begins, YEARS + 1):
            between[begins, ends] = math.exp(log_evidence(begins, ends) - scale * (ends - begins))
    # By number of changes so far and year of the last: sums of products, over 1/m! for m at once.
    sums = np.zeros((MOST + 1, YEARS))
    evidence = np.zeros(MOST + 1)
    evidence[0] = between[0, YEARS]
    for year in range(YEARS):
        for changes in range(1, MOST + 1):
            for here in range(1, changes + 1):
                before = sums[changes - here, :year] @ between[:year, year]
                before += between[0, year] if changes == here else 0.0
                sums[changes, year] += before / math.factorial(here)
    for changes in range(1, MOST + 1):
        total = sums[changes] @ between[:YEARS, YEARS]
        evidence[changes] = total * math.factorial(changes) / YEARS**changes
    return np.asarray(evidence / evidence.sum())


def main() -> None:
    """Sample for a short while, and compare."""
    run = aptmc.sample(problem(), budget=10, kernel=kernel(), seed=1)
    print(run.summary())
    for changes, (found, right) in enumerate(
        zip(run.model_probabilities().values(), exact(), strict=True)
    ):
        print(f"{changes} changes: {found.mean:.4f} ± {found.mcse:.4f}, exactly {right:.4f}")


if __name__ == "__main__":
    main()
