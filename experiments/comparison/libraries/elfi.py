"""ELFI: sequential Monte Carlo that halves its threshold; the last complete population.

Where a tolerance is given: all populations at it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.comparison.given import GIVEN, Answer, Limits
from experiments.comparison.simulators import Simulator

POPULATION, ROUNDS, SLEEPING_BATCH = 100, 40, 10


class Spent(Exception):
    """The budget is spent."""


def simulate(*theta: Any, batch_size: int = 1, random_state: Any = None) -> Any:
    """A batch; of this module, because ELFI's processes are sent its name."""
    rng = np.random.default_rng(random_state.randint(2**31))
    found = []
    for point in np.column_stack(theta):
        if GIVEN.is_over():
            raise Spent
        GIVEN.count()
        found.append(GIVEN.simulator.case.simulate(point, rng))
    return np.array(found)


def discrepancy(simulated: Any, observed: Any) -> Any:
    """Of a batch; ELFI wants finite numbers."""
    seen = np.ravel(observed[0])
    distances = [GIVEN.simulator.case.distance(one, seen) for one in simulated]
    return np.nan_to_num(distances, posinf=1e12)


def sample(given: Simulator, limits: Limits, seed: int) -> Answer:
    """A population of a hundred, the median of the discrepancies as the next threshold."""
    import elfi

    limits.begin()  # here
    case = given.case
    if not limits.counts:
        from elfi.clients.multiprocessing import Client  # which it takes from then on

        elfi.set_client(Client(num_processes=limits.workers))
    model = elfi.ElfiModel()
    sides = zip(case.parameters, case.low, case.high, strict=True)
    priors = [elfi.Prior("uniform", a, b - a, model=model, name=name) for name, a, b in sides]
    data = np.array([case.observed])
    simulator = elfi.Simulator(simulate, *priors, observed=data, name="simulator")
    distance = elfi.Discrepancy(discrepancy, simulator, name="distance")
    batch = SLEEPING_BATCH if case.sleeps else POPULATION  # here
    smc = elfi.SMC(distance, batch_size=batch, seed=seed)
    try:
        first = 0.5 if case.first_tolerance is None else 0.01  # 99 of 100 distances are infinite
        way = {"quantiles": [first, *[0.5] * ROUNDS]}  # here
        if given.tolerances:  # here
            down = [*given.tolerances, *given.tolerances[-1:] * ROUNDS]  # here
            way = {"thresholds": down}  # here
        smc.sample(POPULATION, bar=False, **way)
    except Exception:
        if not GIVEN.is_over():  # here
            raise  # here
    last = smc._populations[-1]
    draws = np.column_stack([last.outputs[name] for name in case.parameters])
    weights, note = last.weights, f"tolerance {last.threshold:.3g}"  # here
    if given.tolerances and last.threshold <= given.tolerances[-1]:  # here
        draws, weights = all_at(given, smc._populations)  # here
    return Answer(draws, weights, note=note)


def all_at(given: Simulator, populations: Any) -> tuple[Any, Any]:
    """The draws of all populations at the tolerance that is wanted, and their weights."""
    those = [one for one in populations if one.threshold <= given.tolerances[-1]]
    names = given.case.parameters
    draws = [np.column_stack([one.outputs[name] for name in names]) for one in those]
    weights = [one.weights / np.sum(one.weights) for one in those]
    return np.concatenate(draws), np.concatenate(weights)
