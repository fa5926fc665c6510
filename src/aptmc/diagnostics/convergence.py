"""ArviZ's convergence diagnostics: bulk and tail effective sample size, and R-hat.

All three follow Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021). They take draws of shape
(chain, draw), or one chain as a 1-d array, and give NaN for fewer than four draws per chain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aptmc.diagnostics.autocorrelation import FEWEST_DRAWS, Floats, as_runs
from aptmc.errors import InputError


def bulk_effective_sample_size(draws: npt.ArrayLike) -> float:
    """The effective sample size of the rank-normalised draws: how well the centre is known.

    A table of one constant gives the number of draws, as in ArviZ.

    >>> draws = np.random.default_rng(1).normal(size=(4, 1000))
    >>> 3000 < bulk_effective_sample_size(draws) < 5000
    True
    """
    table = _as_table(draws)
    if table.shape[1] < FEWEST_DRAWS:
        return float("nan")
    return float(_arviz().ess(table, method="bulk"))


def tail_effective_sample_size(draws: npt.ArrayLike) -> float:
    """The smaller of the effective sample sizes for the 5 % and the 95 % quantile.

    >>> draws = np.random.default_rng(1).normal(size=(4, 1000))
    >>> 3000 < tail_effective_sample_size(draws) < 5000
    True
    """
    table = _as_table(draws)
    if table.shape[1] < FEWEST_DRAWS:
        return float("nan")
    return float(_arviz().ess(table, method="tail", prob=(0.05, 0.95)))


def r_hat(draws: npt.ArrayLike) -> float:
    """Rank-normalised split R-hat: near 1 when the halves of all chains agree.

    One chain is compared with itself, first half against second. Chains that never moved give
    infinity when they stand at different places, and NaN when all stand at one.

    >>> draws = np.random.default_rng(1).normal(size=(4, 1000))
    >>> round(r_hat(draws), 2)
    1.0
    >>> r_hat([[0.0] * 10, [1.0] * 10])
    inf
    """
    table = _as_table(draws)
    if table.shape[1] < FEWEST_DRAWS:
        return float("nan")
    half = table.shape[1] // 2
    halves = np.concatenate([table[:, :half], table[:, -half:]])
    # Rounding would give zero variance within halves any value, so that case is answered here.
    if (halves == halves[:, :1]).all():
        return float("nan") if (halves == halves[0, 0]).all() else float("inf")
    # Folding two-point samples at the median can still leave constants: infinite when they differ
    # between chains, and otherwise 0 / 0, which is passed over in favour of the unfolded value.
    with np.errstate(divide="ignore", invalid="ignore"):
        if len(table) > 1:
            return float(_arviz().rhat(table, method="rank"))
        return _r_hat_of_halves(halves)


def _r_hat_of_halves(halves: Floats) -> float:
    # ArviZ answers NaN for one chain, and would split two halves once more. So the halves are
    # normalised here, as it does it, and compared by its plain R-hat.
    folded = np.abs(halves - np.median(halves))
    bulk, tail = (
        float(_arviz().rhat(normal_scores(values), method="identity"))
        for values in (halves, folded)
    )
    return float(np.fmax(bulk, tail))


def normal_scores(values: Floats) -> Floats:
    """What a normal distribution has at the ranks of some values."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    ranks = rankdata(values, method="average").reshape(values.shape)
    # Blom's offset of 3/8, as in ArviZ.
    scores: Floats = ndtri((ranks - 0.375) / (values.size + 0.25))
    return scores


def _as_table(draws: npt.ArrayLike) -> Floats:
    chains = as_runs(draws)
    lengths = [chain.size for chain in chains]
    if not lengths:
        return np.empty((1, 0))
    if len(set(lengths)) > 1:
        raise InputError(
            f"chains must have equal lengths, got {lengths}: cut them to {min(lengths)} draws"
        )
    return np.stack(chains)


def _arviz() -> Any:
    # ArviZ takes half a second to import, which only those who ask for it should wait.
    from arviz_stats.base.array import array_stats

    return array_stats
