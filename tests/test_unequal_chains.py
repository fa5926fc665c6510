"""Chains of different lengths: all draws are there, and ArviZ can use them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.diagnostics import bulk_effective_sample_size, r_hat

PROBLEM = aptmc.Tempered(
    lambda theta: -0.5 * float(theta[0] + theta[1:3].sum() - theta[3]) ** 2,
    aptmc.Prior(x=stats.norm(0, 3), beta=aptmc.iid(stats.norm(0, 1), 2), k=stats.poisson(3.0)),
)


def sample(**changes):
    settings = {
        "budget": 600,
        "ladder": aptmc.Ladder.powers([1, 0.3]),
        "kernel": aptmc.RandomWalk(scale=1.0),
        "schedule": aptmc.Anytime(every=4.3),
        "pools": aptmc.Shared(chains_per_rung=4),
        "on": aptmc.VirtualTime(workers=3, hold=lambda theta, rung, rng: rng.exponential()),
        "seed": 1,
    }
    return aptmc.sample(PROBLEM, **(settings | changes))


@pytest.fixture(scope="module")
def run():
    found = sample()
    assert len({chain.time.size for chain in found.chains()}) > 1
    return found


def test_no_draw_is_lost(run):
    lengths = [chain.time.size for chain in run.chains()]
    tree = run.draws
    assert tree["posterior"].sizes["draw"] == min(lengths)
    rest = tree["beyond_posterior"]
    assert 4 * min(lengths) + rest.sizes["sample"] == sum(lengths)
    for name in ("x", "beta", "k"):
        for chain, values in enumerate(run.series(name)):
            here = tree["posterior"][name].sel(chain=chain).values
            beyond = rest[name].values[rest["chain"].values == chain]
            assert np.array_equal(np.concatenate([here, beyond]), values)
    assert rest["k"].dtype == tree["posterior"]["k"].dtype == np.int64
    assert rest["beta"].dims == ("sample", "beta_dim_0")
    assert set(rest["draw"].values.tolist()) == set(range(min(lengths), max(lengths)))
    times = tree["beyond_sample_stats"]["time"].values
    assert times.size == rest.sizes["sample"]


def test_the_groups_and_the_table_say_what_they_count(run):
    lengths = [chain.time.size for chain in run.chains()]
    words = run.draws["posterior"].attrs["chains"]
    assert words.startswith(f"{sum(lengths):,} draws: the first {min(lengths):,} of each chain")
    assert f"{sum(lengths):,} draws on 4 chains" in str(run.summary())
    assert len(run.to_dataframe()) == sum(lengths)


def test_arviz_can_use_them_and_could_not_if_they_were_padded(run):
    values = run.draws["posterior"]["x"].values
    assert np.isfinite(bulk_effective_sample_size(values))
    assert np.isfinite(r_hat(values))
    from arviz_stats.base.array import array_stats

    padded = np.pad(values, ((0, 0), (0, 1)), constant_values=np.nan)
    assert np.isnan(array_stats.ess(padded))


def test_from_disk_they_are_the_same(run, tmp_path):
    sample(store=tmp_path / "run")
    stored = aptmc.open(tmp_path / "run").draws
    for group in ("posterior", "beyond_posterior", "beyond_sample_stats"):
        assert stored[group].attrs.get("chains") == run.draws[group].attrs.get("chains")
        for name in run.draws[group].data_vars:
            lazy, eager = stored[group][name], run.draws[group][name]
            assert lazy.dims == eager.dims
            assert lazy.dtype == eager.dtype
            assert np.array_equal(lazy.values, eager.values, equal_nan=True), name
    few = stored["beyond_posterior"]["x"].isel(sample=slice(0, 2)).values
    assert np.array_equal(few, run.draws["beyond_posterior"]["x"].values[:2])


def test_equal_chains_have_nothing_beyond():
    single = sample(pools=aptmc.Shared(), on=aptmc.VirtualTime(1), ladder=aptmc.Ladder.powers(3))
    assert "beyond_posterior" not in single.draws.children
    assert single.draws["posterior"].attrs.get("chains") is None
