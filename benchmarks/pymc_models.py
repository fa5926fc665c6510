"""What a density and a gradient of a model of PyMC cost, called from compiled code."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import aptmc
from benchmarks.goals import above, raise_if_missed

# Microseconds that a density of eight schools may take from compiled code.
MOST = 2.0
EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def main(*, quick: bool) -> None:
    """Processor time a call, the best of five."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import pymc
        except ImportError:
            print("PyMC is not installed: pip install 'aptmc[pymc]'")
            return
        model = eight_schools(pymc)
        began = time.process_time()
        problem = aptmc.from_pymc(model)
        print(f"from_pymc: {time.process_time() - began:.1f} s, less if it is kept on disk")
        theirs = model.compile_logp(mode="NUMBA")
        point = model.initial_point()
        _ = theirs(point)
    calls = 20_000 if quick else 500_000
    theta = np.zeros(problem.dimension)
    assert problem.slopes is not None
    density, slopes = problem.density.function, problem.slopes.function
    found = report("density, compiled code", _densities(density), theta, calls)
    report("gradient, compiled code", _gradients(slopes), theta, calls)
    few = calls // 20

    def from_python(_theta: Any, count: int) -> None:
        for _ in range(count):
            theirs(point)

    report("PyMC's compile_logp from Python", from_python, theta, few)
    raise_if_missed(above("a density of a model of PyMC", found, MOST, "µs"))


def eight_schools(pm: Any) -> Any:
    """Non-centred."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", 0, 1, shape=8)
        pm.Normal("y", mu + tau * z, ERRORS, observed=EFFECTS)
    return model


def report(name: str, call: Callable[..., Any], theta: Any, count: int) -> float:
    """Time it, after it was compiled, in microseconds."""
    call(theta, 1)
    spent = []
    for _ in range(5):
        began = time.process_time()
        call(theta, count)
        spent.append((time.process_time() - began) / count)
    print(f"{name:35s} {min(spent) * 1e6:7.2f} µs")
    return min(spent) * 1e6


def _densities(density: Any) -> Callable[..., float]:
    @numba.njit
    def many(theta: Any, count: int) -> float:
        total, found = 0.0, np.empty(2)
        for number in range(count):
            theta[0] = number * 1e-6
            density(theta, found)
            total += found[0] + found[1]
        return total

    return many  # type: ignore[no-any-return]


def _gradients(gradient: Any) -> Callable[..., float]:
    @numba.njit
    def many(theta: Any, count: int) -> float:
        total, found = 0.0, np.empty(theta.size)
        for number in range(count):
            theta[0] = number * 1e-6
            gradient(theta, 1.0, found)
            total += found[0]
        return total

    return many  # type: ignore[no-any-return]
