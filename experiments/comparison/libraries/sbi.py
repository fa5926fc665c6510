"""sbi: neural posterior estimation (SNPE), one round, from simulations of the prior."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from experiments.comparison.given import FORK, GIVEN, Answer, Limits
from experiments.comparison.simulators import Simulator

DRAWS = 10_000
SIMULATING = 0.75  # of the time: it cannot be said how long the training will take


def until_over(seed: int) -> tuple[Any, Any]:
    """Simulations from the prior. Whoever is under way at the end finishes, the slow ones too."""
    given, rng = GIVEN.simulator, np.random.default_rng(seed)
    theta, data = [], []
    while not GIVEN.is_over():
        GIVEN.count()
        theta.append(given.draw_prior(rng, 1)[0])
        data.append(given.case.simulate(theta[-1], rng))
    return np.array(theta), np.array(data)


def simulations(limits: Limits, seed: int) -> tuple[Any, Any]:
    """Of one process, or of several."""
    if limits.counts:
        return until_over(seed)
    with FORK.Pool(limits.workers) as pool:
        parts = pool.map(until_over, [1000 * seed + worker for worker in range(limits.workers)])
    theta, data = zip(*parts, strict=True)
    return np.concatenate(theta), np.concatenate(data)


def sample(given: Simulator, limits: Limits, seed: int) -> Answer:
    """All simulations from the prior, then the network with its defaults."""
    import torch
    from sbi.inference import NPE
    from sbi.utils import BoxUniform

    logging.disable(logging.WARNING)  # here
    torch.set_num_threads(1 if limits.counts else limits.workers)
    limits.begin(SIMULATING)  # here
    case = given.case
    torch.manual_seed(seed)
    prior = BoxUniform(torch.tensor(case.low), torch.tensor(case.high))
    theta, data = simulations(limits, seed)
    inference = NPE(prior, show_progress_bars=False)
    inference.append_simulations(
        torch.tensor(theta, dtype=torch.float32),
        torch.tensor(data, dtype=torch.float32),
    )
    inference.train()
    posterior = inference.build_posterior()
    observed = torch.tensor(case.observed, dtype=torch.float32)
    draws = posterior.sample((DRAWS,), x=observed, show_progress_bars=False)
    return Answer(draws.numpy().astype(float))
