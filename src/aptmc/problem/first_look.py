"""A first look at the user's functions: does what a simulator gives fit what it is compared with,
is it random, and do compiled functions stay within their arrays?

It costs a few simulations, and is called where nobody has to wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from aptmc.compiled import Floats, is_compiled
from aptmc.in_words import in_words
from aptmc.keys import PILOT, Key
from aptmc.problem.chain_state import state_width, value_column
from aptmc.problem.prior.prior import Prior
from aptmc.problem.simulator import PlainSimulator, SimulationFailed

UNCHECKED = "compiled code does not notice, and reads what happens to lie there"
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
        users = (simulator.simulate, simulator.summary, simulator.distance)
        shown = _shown(prior.parametrisation.describe(theta))
        if failure.__cause__ is None:
            return f"a first simulation failed: {str(failure).rstrip(',')}, at {shown}"
        if isinstance(failure.__cause__, IndexError) and any(map(is_compiled, users)):
            return f"{failure}, as plain Python at {shown}; {UNCHECKED}"
    return None


def outside_of_arrays(
    name: str, function: Any, theta: Floats, where: Mapping[str, float]
) -> str | None:
    """What is wrong with a compiled density that reads where its arrays have nothing.

    :param theta: parameters at which it is called, as plain Python
    """
    if not is_compiled(function):
        return None
    try:
        function.py_func(theta)
    except IndexError as error:
        return f"{name} raised {in_words(error)} as plain Python at {_shown(where)}; {UNCHECKED}"
    except Exception:  # which moves tell of, unless compiled code has nothing against it
        return None
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


def _shown(where: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={value:.6g}" for name, value in where.items())


def _plain(function: Any) -> Any:
    return function.py_func if is_compiled(function) else function
