"""How many components has a mixture? Jumps between models, and exact answers.

Eight numbers from an equal mixture of k = 1 to 4 normal distributions of width one; all k are alike
a priori, and means are normal with standard deviation 4. For so few numbers the evidence of
each k is a sum over all ways to divide them among components, each of which is a product of normal
integrals.

    python -m experiments.components
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy import special

import aptmc

DATA = np.array([-4.1, -3.2, -2.6, 0.3, 1.1, 3.9, 4.4, 5.6])
MOST = 4  # components
PRIOR_SD = 4.0
SIZES = tuple(range(1, MOST + 1))  # model 0 has one component


@njit
def log_likelihood(theta: Any) -> float:
    """theta: the model, then the means of its components, in any order."""
    components = int(theta[0]) + 1
    total = 0.0
    for value in DATA:
        density = 0.0
        for i in range(components):
            density += math.exp(-0.5 * (value - theta[1 + i]) ** 2)
        total += math.log(density / components + 1e-300) - 0.5 * math.log(2.0 * math.pi)
    return total


@njit
def log_prior(theta: Any) -> float:
    """Normal means, all numbers of components alike."""
    total = -math.log(MOST)
    for i in range(int(theta[0]) + 1):
        total -= 0.5 * (theta[1 + i] / PRIOR_SD) ** 2
        total -= math.log(PRIOR_SD * math.sqrt(2.0 * math.pi))
    return total


@njit
def draw(rng: Any) -> Any:
    """From the prior, padded with NaN."""
    theta = np.full(1 + MOST, math.nan)
    components = 1 + int(MOST * rng.random())
    theta[0] = components - 1
    for i in range(components):
        theta[1 + i] = PRIOR_SD * rng.standard_normal()
    return theta


# A component is split in two that lie around it: both means depend on the old one and on the draw.


@njit
def birth(theta: Any, draws: Any, there: Any) -> float:
    """The last component becomes two, as far apart as log odds of the draw."""
    for i in range(theta.size):
        there[i] = theta[i]
    half = math.log(draws[0]) - math.log1p(-draws[0])
    there[theta.size - 1] = theta[theta.size - 1] - half
    there[theta.size] = theta[theta.size - 1] + half
    return math.log(2.0) - math.log(draws[0]) - math.log1p(-draws[0])


@njit
def death(theta: Any, draws: Any, there: Any) -> float:
    """The last two components become one, in the middle."""
    last = there.size
    for i in range(last):
        there[i] = theta[i]
    there[last - 1] = 0.5 * (theta[last - 1] + theta[last])
    half = 0.5 * (theta[last] - theta[last - 1])
    draws[0] = 1.0 / (1.0 + math.exp(-half))
    return -(math.log(2.0) - math.log(draws[0]) - math.log1p(-draws[0]))


def problem() -> aptmc.Tempered:
    """The number of components less one, and their means."""
    prior = aptmc.nested_prior(log_prior, draw, model=(), mean=MOST)
    return aptmc.Tempered(log_likelihood, prior)


def kernel(**options: Any) -> aptmc.ReversibleJump:
    """Any two of the components may become one: their order does not matter."""
    return aptmc.ReversibleJump(SIZES, birth, death, block=1, **options)


def exact() -> npt.NDArray[np.float64]:
    """The posterior of the number of components."""
    bits = 1 << np.arange(DATA.size)
    subsets = (np.arange(1 << DATA.size)[:, None] & bits) > 0
    evidence = np.array([log_evidence(DATA[subset]) for subset in subsets])
    logs = []
    for components in range(1, MOST + 1):
        ways = np.array(list(product(range(components), repeat=DATA.size)))
        # A way to divide the data is a subset for each component.
        terms = np.sum([evidence[(ways == i) @ bits] for i in range(components)], axis=0)
        logs.append(special.logsumexp(terms) - DATA.size * math.log(components))
    return np.asarray(special.softmax(logs))


def log_evidence(values: npt.NDArray[np.float64]) -> float:
    """Of numbers from one component, whose mean is integrated out."""
    precision = values.size + PRIOR_SD**-2
    log_ratio = 0.5 * math.log(PRIOR_SD**-2 / precision)
    square = float(np.sum(values**2)) - float(np.sum(values)) ** 2 / precision
    return log_ratio - 0.5 * square - 0.5 * values.size * math.log(2.0 * math.pi)


def main() -> None:
    """Sample for a short while, and compare."""
    run = aptmc.sample(problem(), budget=10, kernel=kernel(), seed=1)
    print(run.summary())
    for model, right in enumerate(exact()):
        found = run.model_probabilities()[model]
        print(f"{model + 1} components: {found.mean:.4f} ± {found.mcse:.4f}, exactly {right:.4f}")


if __name__ == "__main__":
    main()
