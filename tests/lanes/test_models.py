"""Models of NumPyro on lanes: what users see of them is computed after the draws."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import aptmc
from aptmc.errors import InputError

jax = pytest.importorskip("jax")
numpyro = pytest.importorskip("numpyro")
dist = pytest.importorskip("numpyro.distributions")


def normal_mean(seen):
    mean = numpyro.sample("mean", dist.Normal(0, 2))
    scale = numpyro.sample("scale", dist.HalfNormal(1))
    numpyro.deterministic("both", mean + scale)
    numpyro.sample("seen", dist.Normal(mean, 1), obs=seen)


SEEN = np.array([1.3, 0.2, 2.4, -0.3, 0.9])


@pytest.fixture(scope="module")
def problem():
    with jax.enable_x64(True):
        return aptmc.from_numpyro(normal_mean, SEEN)


def run_of(problem, *, compiler, kernel, budget=1500, **options):
    on = aptmc.Lanes(60, device="cpu", budget_in="ticks", threads=1, compiler=compiler, settle=0.1)
    return aptmc.sample(
        problem, budget=budget, ladder=[1.0, 0.3, 0.0], kernel=kernel, on=on, seed=1,
        schedule=aptmc.Anytime(every=11), progress=False, **options,
    )  # fmt: skip


@pytest.mark.validation
def test_models_are_sampled_and_shown_as_elsewhere(problem, tmp_path):
    kernel, store = aptmc.RandomWalk([0.8, 1.0, 1.5]), tmp_path / "run.zarr"
    run = run_of(problem, compiler="auto", kernel=kernel, store=store)
    draws = run.draws.posterior
    assert list(draws) == ["mean", "scale", "both"]
    states = np.stack([chain.state for chain in run.chains()])
    shown = problem.constrain(states[..., :2])
    for place, name in enumerate(draws):
        np.testing.assert_array_equal(draws[name], shown[..., place])
    mean, scale = np.asarray(draws["mean"]), np.asarray(draws["scale"])
    assert np.allclose(draws["both"], mean + scale, rtol=1e-12)
    assert (scale > 0.0).all()
    for series, expected in (
        (mean, SEEN.sum() / 5.25),
        ((mean - SEEN.sum() / 5.25) ** 2, 1 / 5.25),
        (scale, np.sqrt(2 / np.pi)),
    ):
        by_group = series.mean(axis=1)
        error = by_group.std(ddof=1) / np.sqrt(by_group.size)
        assert abs(by_group.mean() - expected) < 4.0 * error
        assert error < 0.15
    on = aptmc.Lanes(60, device="cpu", budget_in="ticks", threads=1)
    assert aptmc.replay(store, problem, on=on).is_same
    left = aptmc.resume(store, problem, budget=500, on=on, progress=False)
    assert np.isfinite(left.draws.posterior["both"]).all()
    assert left.draws.posterior["both"].shape[1] > draws["both"].shape[1]


@pytest.mark.validation
@pytest.mark.parametrize("kernel", [aptmc.RandomWalk(0.8), aptmc.Mala(), aptmc.Slice(1.0)])
def test_c_code_computes_what_numba_does(problem, kernel):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler here")
    runs = [run_of(problem, compiler=way, kernel=kernel, budget=4000) for way in ("c", "numba")]
    states = [np.stack([draws.state for draws in run.chains()]) for run in runs]
    assert states[0].shape[2] == problem.width
    # The compilers' own logarithms and sums may differ in their last bits, and paths then part.
    first = [one[:, :2] for one in states]
    np.testing.assert_allclose(*first, rtol=1e-9)


def test_models_whose_source_is_not_at_hand_are_refused(problem, monkeypatch):
    monkeypatch.setattr("aptmc.frontends.numpyro_code.IS_WRITTEN_OUT", False)
    with pytest.raises(InputError, match="lanes know Abc, Tempered, Power and models of NumPyro"):
        run_of(problem, compiler="numba", kernel=aptmc.RandomWalk(1.0), budget=100)
