"""A look at a first simulation: does what a simulator gives fit what it is compared with?

It costs a few simulations, and is called where nobody has to wait for it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from aptmc.compiled import Floats, is_compiled
from aptmc.keys import PILOT, Key
from aptmc.problem.chain_state import state_width, value_column
from aptmc.problem.prior.prior import Prior
from aptmc.problem.simulator import PlainSimulator, SimulationFailed

SEED = 0  # the same for every run, so that what is found belongs to the problem


# Parameters at which a simulator is tried twice: in none of these may a random one repeat itself.
TRIED = 3


def first_fault(simulator: PlainSimulator, prior: Prior) -> str | None:
    """What is wrong with the form of a simulation at parameters from the prior, if anything is.

    Compiled functions are called as plain ones, which begin at once. Exceptions of the user's
    functions are left to moves, which name their keys.
    """
    rng = Key(SEED, 0, 0, PILOT).generator()
    theta = prior.draw(rng)
    try:
        _simulated(simulator, prior, theta, rng)
    except SimulationFailed as failure:
        if failure.__cause__ is None:
            where = prior.parametrisation.describe(theta)
            shown = ", ".join(f"{name}={value:.6g}" for name, value in where.items())
            return f"{str(failure).rstrip(',')}, at {shown}"
    return None


def repeats_itself(simulator: PlainSimulator, prior: Prior) -> bool:
    """Whether what a simulator gives depends on its parameters and on nothing random.

    So does one that makes its own generator, from a fixed seed, in each call.
    """
    seen: list[Floats] = []
    for place in range(TRIED):
        rng = Key(SEED, place, 1, PILOT).generator()
        theta = prior.draw(rng)
        other = Key(SEED, place, 2, PILOT).generator()
        try:
            once = _simulated(simulator, prior, theta, rng)
            again = _simulated(simulator, prior, theta, other)
        except SimulationFailed:
            return False
        # What is the same at all parameters, nothing for instance, tells nothing.
        is_new = all(not np.array_equal(once, earlier) for earlier in seen)
        if not (is_new and np.isfinite(once).all() and np.array_equal(once, again)):
            return False
        seen.append(once)
    return True


def _simulated(
    simulator: PlainSimulator, prior: Prior, theta: Floats, rng: np.random.Generator
) -> Floats:
    """The distance of a simulation, and the simulated data if there are any."""
    parameters = prior.constrain(theta)
    kept = state_width(parameters.size)
    data = 0 if simulator.observed is None else simulator.observed.size
    row = np.zeros(kept + data)
    row[: parameters.size] = parameters
    as_plain = replace(
        simulator,
        simulate=_plain(simulator.simulate),
        distance=_plain(simulator.distance),
        summary=_plain(simulator.summary),
    )
    as_plain.simulate_into(row, rng, math.inf, parameters.size)
    return np.append(row[kept:], row[value_column(parameters.size)])


def _plain(function: Any) -> Any:
    return function.py_func if is_compiled(function) else function
