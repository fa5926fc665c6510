"""Draws against reference numbers, and what they cost."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import aptmc

if TYPE_CHECKING:
    from experiments.posteriordb.models import Posterior


class Result(NamedTuple):
    """How far draws are from the reference, at worst, and what they cost."""

    mean_error: float  # in standard errors of both
    sd_error: float
    r_hat: float
    effective: float  # draws of the worst parameter
    gradients: int  # of the chains that these are draws of
    all_gradients: int  # of hotter ones, too
    seconds: float

    @property
    def per_gradient(self) -> float:
        """Effective draws per thousand gradients of their own chains."""
        return 1000 * self.effective / self.gradients

    @property
    def per_any_gradient(self) -> float:
        """The same of all gradients."""
        return 1000 * self.effective / self.all_gradients


def judged(found: Any, posterior: Posterior, gradients: tuple[int, int], seconds: float) -> Result:
    """A result from arrays by name, of shape (chain, draw, ...)."""
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

    means, sds, hats, effective = [], [], [], []
    for label, (mean, mean_error, sd, sd_error) in posterior.reference.items():
        name, place = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", label).groups()  # type: ignore[union-attr]
        values = np.asarray(found[name])
        values = values if place is None else values[..., int(place) - 1]
        size = float(effective_sample_size(values))
        own_sd = values.std(ddof=1)
        means.append(abs(values.mean() - mean) / np.hypot(own_sd / np.sqrt(size), mean_error))
        squares = (values - values.mean()) ** 2
        of_sd = squares.std() / np.sqrt(float(effective_sample_size(squares))) / (2 * own_sd)
        sds.append(abs(own_sd - sd) / np.hypot(of_sd, sd_error))
        hats.append(float(split_gelman_rubin(values)))
        effective.append(size)
    return Result(
        float(max(means)), float(max(sds)), max(hats), min(effective), *gradients, seconds
    )


def ours(posterior: Posterior, work: float, seed: int = 1, chains: int | None = None) -> Result:
    """All that is standard here, in virtual time, where work is what counts and load does not.

    The gradients are those of the coldest rung, whose draws are judged.

    :param work: of each of four processors, in evaluations and gradients
    :param chains: on each rung; without it, as many as are usual
    """
    problem = aptmc.from_numpyro(posterior.model, **posterior.data)
    begun = time.perf_counter()
    run = aptmc.sample(
        problem, budget=work, seed=seed, on=aptmc.VirtualTime(workers=4),
        pools=None if chains is None else aptmc.Shared(chains_per_rung=chains), progress=False,
    )  # fmt: skip
    took = time.perf_counter() - begun
    draws = {name: values.values for name, values in run.draws["posterior"].items()}
    leaps = run.statistics["leaps"]
    return judged(draws, posterior, (int(leaps[0]), int(np.sum(leaps))), took)


def of_numpyro(posterior: Posterior, draws: int, seed: int = 1) -> Result:
    """NumPyro's NUTS, four chains one after the other."""
    import jax
    from numpyro.infer import MCMC, NUTS

    begun = time.perf_counter()
    sampler = MCMC(
        NUTS(posterior.model), num_warmup=1000, num_samples=draws, num_chains=4,
        chain_method="sequential", progress_bar=False,
    )  # fmt: skip
    sampler.run(jax.random.PRNGKey(seed), extra_fields=("num_steps",), **posterior.data)
    took = time.perf_counter() - begun
    gradients = int(np.sum(sampler.get_extra_fields()["num_steps"]))
    return judged(sampler.get_samples(group_by_chain=True), posterior, (gradients, gradients), took)
