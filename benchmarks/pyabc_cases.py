"""Problems on which two libraries are given the same time: simulators, priors, data, truth.

Both environments import this, so nothing here knows of either library; only the model of predators
and prey is taken from `aptmc.models`. A simulator that sleeps notes when and for how long, in a
file that all processes share, so that idle time is counted in the same way for everybody.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numba import njit

from aptmc.models import lotka_volterra

NOTES = "PYABC_CASES_NOTES"  # an environment variable: the file for what was slept
REFERENCES = Path(__file__).with_name("pyabc_references.json")


@final
@dataclass(frozen=True)
class Case:
    """A problem with a uniform prior."""

    name: str
    says: str
    parameters: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    simulate: Callable[..., Any]
    distance: Callable[..., Any]
    observed: tuple[float, ...]
    seconds: dict[int, float]  # by number of workers, the budget
    goal: float  # the tolerance whose first answer is timed
    simulations: int = 0  # where numbers of simulations are compared as well
    modes: bool = False  # the weight of the mode above 0 is of interest, and the absolute value
    first_tolerance: float | None = None  # pyABC needs one if most distances are infinite

    @property
    def sleeps(self) -> bool:
        """Whether a simulation costs time, but no processor."""
        return self.simulations == 0

    def quantities(self, draws: Any) -> Any:
        """What is to be estimated, from draws (one per row): its mean under the posterior."""
        if not self.modes:
            return np.asarray(draws)
        first = np.asarray(draws)[:, 0]
        return np.column_stack([first > 0.0, abs(first)])

    @property
    def truth(self) -> tuple[Any, Any]:
        """Means and variances of the quantities under the posterior at tolerance 0, or nearly."""
        known = json.loads(REFERENCES.read_text())[self.name]
        return np.array(known["means"]), np.array(known["variances"])


# --- simulators that sleep ------------------------------------------------------------------------


def slept(seconds: float) -> None:
    """Sleep, and leave a note."""
    if NOTES in os.environ:
        note = np.array([time.monotonic(), seconds]).tobytes()
        with open(os.environ[NOTES], "ab", buffering=0) as notes:
            notes.write(note)
    time.sleep(seconds)


def slow_to_one_side(theta: Any, rng: Any) -> Any:
    """Two means; 5 ms at one end of the prior, 500 ms at the other."""
    slept(0.005 * 100.0 ** ((theta[0] + 10.0) / 20.0))
    return np.array([theta[0], theta[1]]) + 0.5 * rng.standard_normal(2)


def slow_mode(theta: Any, rng: Any) -> Any:
    """A square, so that there are two modes; 10 ms in one, 200 ms in the other."""
    slept(0.2 if theta[0] > 0.0 else 0.01)
    return np.array([theta[0] ** 2 + 0.5 * rng.standard_normal()])


def euclidean_in_python(simulated: Any, observed: Any) -> float:
    """The distance for plain simulators."""
    return float(np.sqrt(((simulated - observed) ** 2).sum()))


# --- compiled simulators --------------------------------------------------------------------------


@njit
def euclidean(simulated: Any, observed: Any) -> float:
    """The same, compiled."""
    return math.sqrt(((simulated - observed) ** 2).sum())


TOO_MANY_PREY = 10_000.0  # 30 times what was ever observed


@njit
def predators_and_prey(theta: Any, rng: Any) -> Any:
    """Prey counts; a path is left when the prey are far too many, where it would never end."""
    simulated = np.zeros(10)
    prey, predators = 50.0, 100.0
    for i in range(10):
        prey, predators, _ = lotka_volterra.advance(theta, prey, predators, 1.0, rng)
        simulated[i] = prey
        if prey == 0.0 or prey > TOO_MANY_PREY:
            break
    return simulated


PEOPLE, ILL_AT_FIRST, LOOKS, DAYS = 2000, 10, 10, 4.0


@njit
def epidemic(theta: Any, rng: Any) -> Any:
    """Square roots of how many are ill at ten times; event by event, so that a large one costs."""
    seen = np.zeros(LOOKS)
    susceptible, ill = PEOPLE - ILL_AT_FIRST, ILL_AT_FIRST
    now, look = 0.0, 0
    while look < LOOKS:
        infections = theta[0] * susceptible * ill / PEOPLE
        recoveries = theta[1] * ill
        total = infections + recoveries
        now = now + rng.standard_exponential() / total if total > 0.0 else math.inf
        while look < LOOKS and now > DAYS * (look + 1):
            seen[look] = math.sqrt(ill)
            look += 1
        if rng.random() * total < infections:
            susceptible -= 1
            ill += 1
        elif ill > 0:
            ill -= 1
    return seen


DRAWN = 200


@njit
def g_and_k(theta: Any, rng: Any) -> Any:
    """Location, scale, skewness and kurtosis by octiles, of draws from the g-and-k distribution."""
    draws = np.empty(DRAWN)
    for i in range(DRAWN):
        z = rng.standard_normal()
        bend = 1.0 + 0.8 * math.tanh(0.5 * theta[2] * z)
        draws[i] = theta[0] + theta[1] * bend * (1.0 + z * z) ** theta[3] * z
    draws.sort()
    octile = np.empty(8)
    for i in range(1, 8):
        octile[i] = draws[i * DRAWN // 8]
    scale = max(octile[6] - octile[2], 1e-9)
    return np.array(
        [
            octile[4],
            scale,
            (octile[6] + octile[2] - 2.0 * octile[4]) / scale,
            (octile[7] - octile[5] + octile[3] - octile[1]) / scale,
        ]
    )


CASES = {
    case.name: case
    for case in (
        Case(
            "sleeping", "5 to 500 ms, two means", ("a", "b"), (-10.0, -10.0), (10.0, 10.0),
            slow_to_one_side, euclidean_in_python, (1.0, -1.0), {2: 60.0, 16: 15.0}, goal=3.0,
        ),
        Case(
            "two modes", "10 ms in one mode, 200 ms in the other", ("x",), (-10.0,), (10.0,),
            slow_mode, euclidean_in_python, (9.0,), {2: 60.0, 16: 15.0}, goal=4.0, modes=True,
        ),
        Case(
            "Lotka-Volterra", "compiled, about 20 µs near the data",
            ("birth", "predation", "death"), (0.0, 0.0, 0.0), (3.0, 3.0, 3.0),
            predators_and_prey, lotka_volterra.distance, tuple(lotka_volterra.OBSERVED.tolist()),
            {2: 20.0}, goal=1.0, simulations=50_000, first_tolerance=3.0,
        ),
        Case(
            "epidemic", "SIR event by event, compiled, to 100 µs", ("infection", "recovery"),
            (0.0, 0.0), (2.0, 1.0), epidemic, euclidean,
            (5.29, 7.68, 12.0, 17.12, 20.71, 20.95, 18.81, 14.87, 11.7, 9.06),
            {2: 20.0}, goal=3.0, simulations=10_000,
        ),
        Case(
            "g-and-k", "200 draws, compiled, about 15 µs", ("a", "b", "g", "k"),
            (0.0, 0.0, 0.0, 0.0), (10.0, 10.0, 10.0, 10.0), g_and_k, euclidean,
            (3.03, 1.877, 0.528, 1.551), {2: 20.0}, goal=0.3, simulations=20_000,
        ),
    )
}  # fmt: skip
