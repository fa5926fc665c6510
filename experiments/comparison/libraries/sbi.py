"""sbi: neural posterior estimation (SNPE), one round, from simulations of the prior."""

from __future__ import annotations

import logging

import numpy as np

from experiments.comparison.given import GIVEN, Answer, Limits
from experiments.comparison.simulators import Simulator

DRAWS = 10_000


def sample(given: Simulator, limits: Limits, seed: int) -> Answer:
    """All simulations from the prior, then the network with its defaults."""
    import torch
    from sbi.inference import NPE
    from sbi.utils import BoxUniform

    logging.disable(logging.WARNING)  # here
    torch.set_num_threads(1)  # here
    over = limits.watch()  # here
    case, rng = given.case, np.random.default_rng(seed)
    torch.manual_seed(seed)
    prior = BoxUniform(torch.tensor(case.low), torch.tensor(case.high))
    theta, data = [], []
    while not over():  # here
        theta.append(given.draw_prior(rng, 1)[0])
        data.append(case.simulate(theta[-1], rng))
        GIVEN.evaluations += 1  # here
    inference = NPE(prior, show_progress_bars=False)
    inference.append_simulations(
        torch.tensor(np.array(theta), dtype=torch.float32),
        torch.tensor(np.array(data), dtype=torch.float32),
    )
    inference.train()
    posterior = inference.build_posterior()
    observed = torch.tensor(case.observed, dtype=torch.float32)
    draws = posterior.sample((DRAWS,), x=observed, show_progress_bars=False)
    return Answer(draws.numpy().astype(float))
