"""Posterior probabilities of models, where chains jump between them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aptmc.compiled import Floats
from aptmc.diagnostics.autocorrelation import FEWEST_DRAWS
from aptmc.diagnostics.error_of_mean import Timeline, spread_of_mean
from aptmc.errors import InputError
from aptmc.kernels import Mixture, ReversibleJump

if TYPE_CHECKING:
    from aptmc.result.run import Run


class Probability(NamedTuple):
    """Of a model: the share of the draws, and its Monte Carlo standard error."""

    mean: float
    mcse: float


def model_probabilities(run: Run) -> dict[int, Probability]:
    """By model, from the draws of the coldest rung."""
    kernel = jumping(run.settings.kernel)
    if kernel is None:
        raise InputError(
            "there are models only where aptmc.ReversibleJump jumps between them, got "
            f"{run.settings.kernel!r}"
        )
    series = run.series(run.settings.problem.labels[0])
    times = [chain.time for chain in run.chains()]
    chains = [one for one in series if one.size > 0]
    known = [time for one, time in zip(series, times, strict=True) if one.size > 0]
    apart = run.settings.pools.apart
    return shares(
        chains, len(kernel.sizes), Timeline([one.size for one in chains], known, apart=apart)
    )


def jumping(kernel: Any) -> ReversibleJump | None:
    """The kernel that jumps between models: itself, or a part of a mixture."""
    if isinstance(kernel, Mixture):
        return jumping(kernel.first) or jumping(kernel.second)
    return kernel if isinstance(kernel, ReversibleJump) else None


def shares(chains: Sequence[Floats], models: int, timeline: Timeline) -> dict[int, Probability]:
    """How often each number occurs, with errors as those of means."""
    if not chains:
        return {}
    found = {}
    for model in range(models):
        inside = [(chain == model).astype(np.float64) for chain in chains]
        mean = float(np.concatenate(inside).mean())
        error = math.nan
        if max(chain.size for chain in chains) >= FEWEST_DRAWS and 0.0 < mean < 1.0:
            error = math.sqrt(spread_of_mean([one - mean for one in inside], timeline).variance)
        found[model] = Probability(mean, error)
    return found


def in_words(found: Mapping[int, Probability]) -> str:
    """One line."""
    parts = [
        f"{model}: {one.mean:.3f}" + ("" if math.isnan(one.mcse) else f" ± {one.mcse:.2g}")
        for model, one in found.items()
    ]
    return f"posterior probabilities of the models: {', '.join(parts)}"


def about_models(run: Run) -> str | None:
    """The line for a summary; None where there are no models."""
    if jumping(run.settings.kernel) is None:
        return None
    found = model_probabilities(run)
    return in_words(found) if found else None
