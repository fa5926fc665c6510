"""The drop-in for ptemcee: its shapes and conventions, and draws that are right."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import aptmc
from aptmc.compat import emcee, ptemcee
from aptmc.compat.ptemcee import first_states as first_states_module
from aptmc.compat.ptemcee import sampler as sampler_module
from aptmc.compat.ptemcee.split_density import SplitDensity

NTEMPS, WALKERS, WIDTH = 4, 20, 0.3
LOG_EVIDENCE = math.log(2.0 * math.sqrt(2.0 * math.pi) * WIDTH / 10.0)


def logl(x: np.ndarray, width: float) -> float:
    """Two modes, of which the right one has three times the mass, well apart."""
    left, right = (-0.5 * ((x[0] - at) / width) ** 2 for at in (-2.5, 2.5))
    return float(np.logaddexp(left + math.log(0.5), right + math.log(1.5)))


def logp(x: np.ndarray, *, ends: float) -> float:
    return 0.0 if abs(x[0]) < ends else -math.inf


def make(seed: int = 1, **more: object) -> ptemcee.Sampler:
    said = {"ntemps": NTEMPS, "Tmax": np.inf, "random": np.random.RandomState(seed)} | more
    return ptemcee.Sampler(
        WALKERS, 1, logl, logp, loglargs=[WIDTH], logpkwargs={"ends": 5.0}, **said
    )


def somewhere(seed: int = 1, ntemps: int = NTEMPS) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-5.0, 5.0, size=(ntemps, WALKERS, 1))


@pytest.fixture(scope="module")
def sampled() -> ptemcee.Sampler:
    sampler = make()
    sampler.run_mcmc(somewhere(), 600)
    return sampler


# --- what users read ----------------------------------------------------------------------------


def test_everything_has_the_shape_that_it_has_there(sampled: ptemcee.Sampler) -> None:
    assert sampled.chain.shape == (NTEMPS, WALKERS, 600, 1)
    assert sampled.flatchain.shape == (NTEMPS, WALKERS * 600, 1)
    assert sampled.loglikelihood.shape == sampled.logprobability.shape == (NTEMPS, WALKERS, 600)
    assert sampled.beta_history.shape == (NTEMPS, 600)
    assert sampled.acceptance_fraction.shape == (NTEMPS, WALKERS)
    assert sampled.tswap_acceptance_fraction.shape == (NTEMPS,)
    assert sampled.acor.shape == (NTEMPS, 1)
    assert (sampled.nwalkers, sampled.dim, sampled.ntemps, sampled.time) == (20, 1, NTEMPS, 600)
    assert (sampled.acceptance_fraction.mean(axis=1) > 0.1).all()
    assert (sampled.acceptance_fraction <= 1.0).all()
    assert (sampled.tswap_acceptance_fraction > 0.0).all()


def test_what_is_kept_of_a_step_belongs_together(sampled: ptemcee.Sampler) -> None:
    for temperature, walker, step in [(0, 0, 0), (1, 19, 77), (3, 4, 599)]:
        x = sampled.chain[temperature, walker, step]
        likelihood = logl(x, WIDTH)
        assert sampled.loglikelihood[temperature, walker, step] == pytest.approx(likelihood)
        tempered = sampled.betas[temperature] * likelihood + logp(x, ends=5.0)
        assert sampled.logprobability[temperature, walker, step] == pytest.approx(tempered)


def right_share(sampler: ptemcee.Sampler) -> tuple[float, float]:
    """Of the posterior's mass, how much lies right, and the error of that by walkers' means."""
    means = (sampler.chain[0, :, 150:, 0] > 0.0).mean(axis=1)
    # Walkers hand states to each other, so a tenth of a run is taken for independent, not a walker.
    blocks = (sampler.chain[0, :, 150:, 0] > 0.0).mean(axis=0).reshape(10, -1).mean(axis=1)
    return float(means.mean()), float(blocks.std(ddof=1) / math.sqrt(blocks.size))


def test_both_modes_are_found_with_their_masses(sampled: ptemcee.Sampler) -> None:
    share, error = right_share(sampled)
    assert error < 0.05
    assert abs(share - 0.75) < 4.8 * error  # 1 in 1,000, of a Student with 9 degrees of freedom
    right = sampled.chain[0, :, 150:][sampled.chain[0, :, 150:] > 0.0]
    assert right.mean() == pytest.approx(2.5, abs=0.05)
    assert right.std() == pytest.approx(WIDTH, abs=0.05)


@pytest.mark.validation
def test_a_wrong_likelihood_would_be_seen() -> None:
    def wrong(x: np.ndarray) -> float:
        return logl(x, WIDTH) + (1.0 if x[0] < 0.0 else 0.0)

    sampler = ptemcee.Sampler(
        WALKERS, 1, wrong, logp, NTEMPS, np.inf, logpkwargs={"ends": 5.0},
        random=np.random.RandomState(1),
    )  # fmt: skip
    sampler.run_mcmc(somewhere(), 600)
    share, error = right_share(sampler)
    assert abs(share - 0.75) > 4.8 * error


def test_the_evidence_of_the_library_is_right_on_a_ladder_on_which_theirs_is_not(
    sampled: ptemcee.Sampler,
) -> None:
    evidence = sampled.log_evidence(fburnin=0.25)
    assert evidence.standard_error < 0.1
    assert abs(evidence.value - LOG_EVIDENCE) < 4.0 * evidence.standard_error
    value, grid = sampled.log_evidence_estimate(fburnin=0.25)
    assert abs(value - LOG_EVIDENCE) > 4.0 * evidence.standard_error  # four temperatures are few
    assert abs(value - LOG_EVIDENCE) < 3.0 * grid


# --- runs ---------------------------------------------------------------------------------------


def test_a_run_in_parts_is_the_run_at_once_and_the_same_seed_gives_the_same() -> None:
    one, other = make(3), make(3)
    one.run_mcmc(somewhere(), 30, adapt=True)
    other.run_mcmc(somewhere(), 10, adapt=True)
    p, logpost, loglike = other.run_mcmc(iterations=20, adapt=True)
    assert np.array_equal(one.chain, other.chain)
    assert np.array_equal(one.betas, other.betas)
    assert np.array_equal(p, other.chain[:, :, -1])
    assert np.array_equal(loglike, other.loglikelihood[:, :, -1])
    assert np.array_equal(logpost, other.logprobability[:, :, -1])
    different = make(4)
    different.run_mcmc(somewhere(), 30, adapt=True)
    assert not np.array_equal(one.chain, different.chain)


def test_steps_come_one_by_one_and_whoever_has_enough_may_leave() -> None:
    sampler = make()
    for count, (p, _logpost, _loglike, ratios) in enumerate(
        sampler.sample(somewhere(), iterations=100, swap_ratios=True), start=1
    ):
        assert p.shape == (NTEMPS, WALKERS, 1)
        assert ratios.shape == (NTEMPS - 1,)
        assert ((ratios >= 0.0) & (ratios <= 1.0)).all()
        if count == 5:
            break
    assert sampler.time == 5
    sampler.run_mcmc(iterations=4, thin=2)
    assert sampler.time == 9
    assert sampler.chain.shape[2] == 7  # five, and of the next those with an even number


def test_a_reset_forgets_steps_and_walkers() -> None:
    sampler = make()
    p, _, _ = sampler.run_mcmc(somewhere(), 3)
    sampler.reset()
    assert sampler.chain is sampler.loglikelihood is None
    with pytest.raises(ValueError, match="give p0"):
        next(sampler.sample(iterations=3))
    sampler.run_mcmc(p, 2, storechain=False)
    assert sampler.chain is None
    with pytest.raises(ValueError, match="storechain=True"):
        sampler.log_evidence_estimate()


def test_an_adapted_ladder_swaps_evenly() -> None:
    ladder = [1.0, 0.9, 0.05, 0.0]
    sampler = make(betas=ladder, ntemps=None, Tmax=None, adaptation_lag=300, adaptation_time=10)
    sampler.run_mcmc(somewhere(), 300, adapt=True)
    assert (np.diff(sampler.betas) < 0.0).all()
    assert sampler.betas[[0, -1]].tolist() == [1.0, 0.0]
    assert sampler.betas[1] < 0.8  # from where nine of ten were swapped
    assert np.array_equal(sampler.beta_history[:, -1], sampler.betas)
    with pytest.raises(ValueError, match="adapted"):
        sampler.log_evidence()


@pytest.fixture
def with_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sampler_module, "WORTH_A_MESSAGE", 0.0)
    monkeypatch.setattr("aptmc.compat.ptemcee.walk.LEARNING_BY_WORKERS", (2,))
    return


def test_first_positions_are_shared_out_where_they_take_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(first_states_module, "TRIAL", 0.0)
    monkeypatch.setattr(first_states_module, "ALONE", 0.0)
    density = SplitDensity(logl, logp, (WIDTH,), (), {}, {"ends": 5.0})
    points = somewhere()
    shared, _ = first_states_module.first_states(density, points, 2)
    alone, _ = first_states_module.first_states(density, points, 1)
    assert np.array_equal(shared, alone)


@pytest.mark.validation
@pytest.mark.usefixtures("with_workers")
def test_worker_processes_take_the_same_steps_and_nobody_waits_for_the_slowest() -> None:
    sampler = make(threads=2)
    steps = sampler.sample(somewhere(), iterations=20_000)
    for _, (p, _logpost, loglike) in zip(range(30), steps, strict=False):
        assert loglike[1, 2] == pytest.approx(logl(p[1, 2], WIDTH))
    steps.close()
    assert sampler.time == 30
    assert 0.0 < sampler.acceptance_fraction.mean() < 1.0  # one proposal a step
    sampler.run_mcmc(iterations=5)
    assert sampler.chain.shape[2] == 35


def test_pools_say_how_many_processes_there_are() -> None:
    with ThreadPoolExecutor(3) as pool:
        assert make(pool=pool)._processors == 3
    with pytest.raises(ValueError, match="does not say"):
        make(pool=object())


# --- what cannot work ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"ntemps": None, "Tmax": None}, "needs ntemps, Tmax or both"),
        ({"betas": [0.5, 0.1]}, "begin at 1"),
        ({"ntemps": 2.5}, "ntemps must be a whole number"),
        ({"Tmax": 0.5}, "greater than 1"),
        ({"threads": 0}, "threads"),
    ],
)
def test_bad_arguments_are_refused(said: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make(**said)


@pytest.mark.parametrize("walkers", [7, 2])
def test_walkers_must_be_even_and_enough(walkers: int) -> None:
    with pytest.raises(ValueError, match="even"):
        ptemcee.Sampler(walkers, 2, logl, logp, ntemps=3)


@pytest.mark.parametrize(
    ("value", "words"),
    [(math.nan, "finite"), (math.inf, "finite"), (7.0, "outside of the support"), (None, "shape")],
)
def test_positions_are_looked_at_before_anything_else(value: float | None, words: str) -> None:
    p0 = somewhere()
    if value is None:
        p0 = p0[:2]
    else:
        p0[1, 3, 0] = value
    with pytest.raises(ValueError, match=words):
        next(make().sample(p0))


def test_a_likelihood_that_is_not_a_number_is_refused_with_the_point() -> None:
    sampler = ptemcee.Sampler(4, 1, lambda x: math.nan, lambda x: 0.0, ntemps=2)
    with pytest.raises(ValueError, match=r"log likelihood must be finite or -inf, got nan at \[0"):
        next(sampler.sample(np.zeros((2, 4, 1))))


def test_a_failure_under_way_names_the_parameters() -> None:
    calls = []

    def fails_later(x: np.ndarray) -> float:
        calls.append(time.perf_counter())
        if len(calls) > 40:
            raise RuntimeError("the simulator is gone")
        return 0.0

    sampler = ptemcee.Sampler(4, 1, fails_later, lambda x: 0.0, ntemps=2)
    with pytest.raises(aptmc.MoveFailed, match=r"RuntimeError: the simulator is gone.*x0="):
        sampler.run_mcmc(np.random.default_rng(1).normal(size=(2, 4, 1)), 50)


def test_no_temperature_leads_where_the_likelihood_is_zero() -> None:
    sampler = ptemcee.Sampler(
        8, 1, lambda x: -np.inf if x[0] < 0.0 else -x[0], lambda x: -0.5 * x[0] ** 2,
        ntemps=3, Tmax=np.inf, random=np.random.RandomState(1),
    )  # fmt: skip
    sampler.run_mcmc(np.full((3, 8, 1), 0.5) + 0.01 * np.arange(8)[:, None], 40)
    assert (sampler.chain >= 0.0).all()
    assert np.isfinite(sampler.loglikelihood).all()
    assert np.isfinite(sampler.logprobability).all()


# --- ladders and numbers ------------------------------------------------------------------------


@pytest.mark.parametrize(("dimension", "step"), [(1, 25.2741), (5, 3.0232), (20, 1.68849)])
def test_the_default_ladder_has_the_steps_that_are_published(dimension: int, step: float) -> None:
    betas = ptemcee.default_beta_ladder(dimension, ntemps=3)
    assert betas[:-1] / betas[1:] == pytest.approx(step, rel=1e-4)
    assert len(ptemcee.default_beta_ladder(dimension, Tmax=50.0)) == 2 + int(
        math.log(50.0) / math.log(step)
    )


def test_integration_extends_the_ladder_to_the_prior() -> None:
    value, error = ptemcee.util.thermodynamic_integration_log_evidence(
        [1.0, 0.5, 0.25], [-1.0, -2.0, -4.0]
    )
    assert value == pytest.approx(-(0.5 * 1.5 + 0.25 * 3.0 + 0.25 * 4.0))
    assert error == pytest.approx(abs(value + 0.75 * 2.5 + 0.25 * 4.0))


def test_emcee_had_another_order_of_arguments() -> None:
    random = np.random.RandomState(3)
    theirs = emcee.PTSampler(
        NTEMPS, WALKERS, 1, logl, logp, Tmax=np.inf, loglargs=[WIDTH], logpkwargs={"ends": 5.0},
        random=random,
    )  # fmt: skip
    ours = make(3)
    _p, lnprob, lnlike = theirs.run_mcmc(somewhere(), 10)
    ours.run_mcmc(somewhere(), 10)
    assert np.array_equal(theirs.chain, ours.chain)
    assert np.array_equal(theirs.lnlikelihood[:, :, -1], lnlike)
    assert np.array_equal(theirs.lnprobability[:, :, -1], lnprob)
    assert np.array_equal(
        theirs.thermodynamic_integration_log_evidence(), ours.log_evidence_estimate()
    )
    theirs.reset()
    assert theirs.chain is None


def test_autocorrelation_times_are_those_of_the_series() -> None:
    rng, rho = np.random.default_rng(5), 0.8
    series = np.zeros((20_000, 2))
    noise = rng.normal(size=series.shape)
    for step in range(1, len(series)):
        series[step, 0] = rho * series[step - 1, 0] + noise[step, 0]
    series[:, 1] = noise[:, 1]
    slow, white = ptemcee.util.autocorr_integrated_time(series, window=200)
    # Their relative errors are about sqrt(2 (2 * 5 + 1) tau / 20,000).
    assert slow == pytest.approx((1 + rho) / (1 - rho), rel=4 * math.sqrt(22 * 9 / 20_000))
    assert white == pytest.approx(1.0, rel=4 * math.sqrt(22 / 20_000))
    assert ptemcee.util.autocorr_function(series[:, 0])[[0, 1]] == pytest.approx(
        [1.0, rho], abs=0.03
    )
