"""A look at a first simulation: does what a simulator gives fit what it is compared with?

It costs one simulation, and is called where nobody has to wait for it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from aptmc.compiled import is_compiled
from aptmc.keys import PILOT, Key
from aptmc.problem.chain_state import state_width
from aptmc.problem.prior.prior import Prior
from aptmc.problem.simulator import PlainSimulator, SimulationFailed

SEED = 0  # the same for every run, so that what is found belongs to the problem


def first_fault(simulator: PlainSimulator, prior: Prior) -> str | None:
    """What is wrong with the form of a simulation at parameters from the prior, if anything is.

    Compiled functions are called as plain ones, which begin at once. Exceptions of the user's
    functions are left to moves, which name their keys.
    """
    rng = Key(SEED, 0, 0, PILOT).generator()
    theta = prior.draw(rng)
    parameters = prior.constrain(theta)
    row = np.zeros(state_width(parameters.size))
    row[: parameters.size] = parameters
    as_plain = replace(
        simulator,
        simulate=_plain(simulator.simulate),
        distance=_plain(simulator.distance),
        summary=_plain(simulator.summary),
    )
    try:
        as_plain.simulate_into(row, rng, math.inf, parameters.size)
    except SimulationFailed as failure:
        if failure.__cause__ is None:
            where = prior.parametrisation.describe(theta)
            shown = ", ".join(f"{name}={value:.6g}" for name, value in where.items())
            return f"{str(failure).rstrip(',')}, at {shown}"
    return None


def _plain(function: Any) -> Any:
    return function.py_func if is_compiled(function) else function
