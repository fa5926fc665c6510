"""The plug-in for bilby, which finds it by its name."""

from __future__ import annotations

import math
import warnings
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.compat import bilby as plugin


def test_it_is_offered_to_bilby_under_its_name() -> None:
    (found,) = entry_points(group="bilby.samplers", name="aptmc")
    assert found.value == "aptmc.compat.bilby:Aptmc"
    with pytest.raises(AttributeError, match="Dynesty"):
        _ = plugin.Dynesty


def test_without_bilby_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "bilby", None)
    monkeypatch.setitem(__import__("sys").modules, "bilby.core.sampler.base_sampler", None)
    plugin.sampler_class.cache_clear()
    with pytest.raises(aptmc.InputError, match=r"pip install 'aptmc\[bilby\]'"):
        _ = plugin.Aptmc
    plugin.sampler_class.cache_clear()


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # theirs
    try:
        import bilby
    except ImportError:
        bilby = None

needs_bilby = pytest.mark.skipif(bilby is None, reason="needs bilby")
theirs = pytest.mark.filterwarnings("ignore:::bilby", "ignore::FutureWarning")

TIMES = np.linspace(0.0, 1.0, 20)
NOISE = 0.5
DATA = 1.0 + 2.0 * TIMES + np.random.default_rng(1).normal(0.0, NOISE, TIMES.size)
DESIGN = np.stack([TIMES, np.ones(TIMES.size)], axis=1)
# Of a line with normal priors of width 3 for slope and height.
EVIDENCE = stats.multivariate_normal(
    np.zeros(TIMES.size), 9.0 * DESIGN @ DESIGN.T + NOISE**2 * np.eye(TIMES.size)
)
LOG_EVIDENCE = EVIDENCE.logpdf(DATA)
COVARIANCE = np.linalg.inv(DESIGN.T @ DESIGN / NOISE**2 + np.eye(2) / 9.0)
MEAN = COVARIANCE @ DESIGN.T @ DATA / NOISE**2


def line(x: np.ndarray, slope: float, height: float) -> np.ndarray:
    return slope * x + height


def sample(folder: Path, shift: float = 0.0, **more: Any) -> Any:
    likelihood = bilby.core.likelihood.GaussianLikelihood(TIMES, DATA + shift, line, sigma=NOISE)
    priors = {name: bilby.core.prior.Gaussian(0, 3, name) for name in ("slope", "height")}
    said = {
        "ladder": aptmc.Ladder.powers([1, 0.4, 0.15, 0.05, 0.015, 0.003, 0]),
        "kernel": aptmc.RandomWalk(0.1),
        "schedule": aptmc.Anytime(every=3.5, jitter=0.5),
        "pools": aptmc.Shared(coldest=3),
        "on": aptmc.VirtualTime(1, hold=lambda theta, rung, rng: 1.0),
        "budget": 5_000,
        "warmup": 1_000 if more.get("budget", 5_000) > 1_000 else 0,
        "progress": False,
        "seed": 3,
    }
    return bilby.run_sampler(
        likelihood, priors | more.pop("priors", {}), sampler="aptmc", outdir=str(folder),
        label="line", save=False, **said | more,
    )  # fmt: skip


@needs_bilby
@theirs
def test_a_line_has_its_posterior_and_its_evidence(tmp_path: Path) -> None:
    result = sample(tmp_path)
    assert result.log_evidence_err < 0.5
    assert abs(result.log_evidence - LOG_EVIDENCE) < 4.0 * result.log_evidence_err
    draws = len(result.posterior)  # as many as are effective
    assert draws > 50
    for place, name in enumerate(("slope", "height")):
        sd = math.sqrt(COVARIANCE[place, place])
        assert abs(result.posterior[name].mean() - MEAN[place]) < 4.0 * sd / math.sqrt(draws)
        assert result.posterior[name].std() == pytest.approx(sd, rel=4.0 / math.sqrt(2 * draws))
    one = result.posterior.iloc[7]
    fit = line(TIMES, one["slope"], one["height"])
    assert one["log_likelihood"] == pytest.approx(stats.norm(fit, NOISE).logpdf(DATA).sum())
    assert result.num_likelihood_evaluations > 1_000


@needs_bilby
@theirs
def test_other_data_have_another_evidence(tmp_path: Path) -> None:
    result = sample(tmp_path, shift=5.0)
    error = result.log_evidence_err
    assert abs(result.log_evidence - LOG_EVIDENCE) > 4.0 * error
    assert abs(result.log_evidence - EVIDENCE.logpdf(DATA + 5.0)) < 4.0 * error


@needs_bilby
@theirs
def test_data_that_rungs_do_not_reach_have_no_finite_error(tmp_path: Path) -> None:
    """Before, it was 10 errors off."""
    assert sample(tmp_path, shift=10.0).log_evidence_err == math.inf


@needs_bilby
@theirs
def test_constraints_and_fixed_parameters_are_kept(tmp_path: Path) -> None:
    priors = {"height": 1.0, "slope": bilby.core.prior.Uniform(-5, 5, "slope")}
    result = sample(tmp_path, priors=priors, budget=500)
    assert (result.posterior["height"] == 1.0).all()

    def doubled(parameters: dict[str, Any]) -> dict[str, Any]:
        return parameters | {"double": 2.0 * parameters["slope"]}

    constrained = bilby.core.prior.PriorDict(
        {
            "slope": bilby.core.prior.Uniform(-5, 5, "slope"),
            "height": bilby.core.prior.Gaussian(0, 3, "height"),
            "double": bilby.core.prior.Constraint(-10, 3),
        },
        conversion_function=doubled,
    )
    likelihood = bilby.core.likelihood.GaussianLikelihood(TIMES, DATA, line, sigma=NOISE)
    result = bilby.run_sampler(
        likelihood, constrained, sampler="aptmc", outdir=str(tmp_path), label="constrained",
        save=False, budget=500, ladder=aptmc.Ladder.powers([1, 0.1, 0]), progress=False,
        kernel=aptmc.RandomWalk(0.1), schedule=aptmc.Anytime(every=2),
        on=aptmc.VirtualTime(1, hold=lambda theta, rung, rng: 1.0), seed=1, thin=1,
    )  # fmt: skip
    assert len(result.posterior) > 100
    assert (result.posterior["slope"] <= 1.5).all()


@pytest.mark.validation
@needs_bilby
@theirs
def test_a_stored_run_goes_on(tmp_path: Path) -> None:
    store = str(tmp_path / "run.zarr")
    first = sample(tmp_path, store=store, budget=400, thin=1)
    longer = sample(tmp_path, store=store, budget=300, thin=1)
    assert len(longer.posterior) > 1.4 * len(first.posterior)
    with pytest.raises(aptmc.InputError, match="log likelihood has changed"):
        sample(tmp_path, store=store, budget=300, shift=0.1)


@needs_bilby
@theirs
def test_a_budget_without_draws_is_said(tmp_path: Path) -> None:
    with pytest.raises(aptmc.InputError, match="no draws that bilby could show, the budget was"):
        sample(tmp_path, budget=0.5)


# A sine-Gaussian in white noise: amplitude, frequency and time. Waves that are shifted by a period
# fit nearly as well, so that there are modes side by side.
SECONDS = np.linspace(0.0, 1.0, 64)
LENGTH, LOUD = 0.12, 5.0


def burst(t: np.ndarray, amplitude: float, frequency: float, time: float) -> np.ndarray:
    since = t - time
    return amplitude * np.exp(-((since / LENGTH) ** 2)) * np.cos(2 * np.pi * frequency * since)


STRAIN = burst(SECONDS, 1.2, 11.0, 0.45) + np.random.default_rng(5).normal(0, NOISE, SECONDS.size)


def evidence_of_burst(points: int) -> float:
    """By quadrature over frequency and time; the amplitude, on [0, LOUD], by hand."""
    frequency = 6 + 10 * (np.arange(points) + 0.5) / points
    time = 0.2 + 0.6 * (np.arange(points) + 0.5) / points
    logs = np.empty((points, points))
    for place, one in enumerate(frequency):
        waves = burst(SECONDS[None, :], 1.0, one, time[:, None])
        precision = (waves**2).sum(axis=1) / NOISE**2
        best = waves @ STRAIN / NOISE**2 / precision
        shape = stats.norm(best, precision**-0.5)
        mass = shape.cdf(LOUD) - shape.cdf(0.0)
        logs[place] = 0.5 * best**2 * precision - shape.logpdf(best) + np.log(mass / LOUD)
    peak = logs.max()
    silent = stats.norm(0, NOISE).logpdf(STRAIN).sum()
    return float(silent + peak + np.log(np.exp(logs - peak).mean()))


@pytest.mark.validation
@needs_bilby
@theirs
def test_a_sine_gaussian_has_its_evidence(tmp_path: Path) -> None:
    expected = evidence_of_burst(300)
    assert evidence_of_burst(150) == pytest.approx(expected, abs=1e-3)
    likelihood = bilby.core.likelihood.GaussianLikelihood(SECONDS, STRAIN, burst, sigma=NOISE)
    priors = {
        "amplitude": bilby.core.prior.Uniform(0, LOUD, "amplitude"),
        "frequency": bilby.core.prior.Uniform(6, 16, "frequency"),
        "time": bilby.core.prior.Uniform(0.2, 0.8, "time"),
    }
    result = bilby.run_sampler(
        likelihood, priors, sampler="aptmc", outdir=str(tmp_path), label="burst", save=False,
        budget=12_000, warmup=3_000, ladder=aptmc.Ladder.powers([1, 0.4, 0.15, 0.05, 0.015, 0]),
        kernel=aptmc.RandomWalk(0.1), schedule=aptmc.Anytime(every=3.5, jitter=0.5),
        pools=aptmc.Shared(coldest=3), progress=False, seed=1,
        on=aptmc.VirtualTime(1, hold=lambda theta, rung, rng: 1.0),
    )  # fmt: skip
    assert result.log_evidence_err < 0.5
    assert abs(result.log_evidence - expected) < 4.0 * result.log_evidence_err
    silent = stats.norm(0, NOISE).logpdf(STRAIN).sum()
    assert abs(result.log_evidence - silent) > 4.0 * result.log_evidence_err  # of noise alone
