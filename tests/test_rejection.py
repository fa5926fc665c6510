"""Rejection sampling: exact, independent of threads and of compilation, clear about failures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.keys import REJECTION
from aptmc.models import normal
from tests.support.failing_simulators import unreliable
from tests.support.statistical import FALSE_ALARM, follows

PRIOR = normal.prior()
EARLY = aptmc.Abc.early(normal.simulated_distance, PRIOR)
PLAIN_EARLY = aptmc.Abc.early(normal.simulated_distance.py_func, PRIOR)
DATA = {"observed": [normal.OBSERVED]}
WITH_DATA = aptmc.Abc(normal.simulate, PRIOR, **DATA, distance=normal.distance)
PLAIN_WITH_DATA = aptmc.Abc(
    normal.simulate.py_func, PRIOR, **DATA, distance=normal.distance.py_func
)
TOLERANCE = 0.5


def same(first, second) -> bool:
    return all(
        np.array_equal(mine, yours) if isinstance(mine, np.ndarray) else mine == yours
        for mine, yours in zip(first, second, strict=True)
    )


def hit_rate(tolerance: float) -> float:
    """Under the prior the simulation is N(0, 6)."""
    x = stats.norm(0.0, math.sqrt(normal.PRIOR_VARIANCE + normal.SIGMA**2))
    return x.cdf(normal.OBSERVED + tolerance) - x.cdf(normal.OBSERVED - tolerance)


@pytest.mark.parametrize("tolerance", [0.1, TOLERANCE, 2.0, math.inf])
def test_accepted_draws_follow_the_exact_posterior(tolerance: float) -> None:
    accepted = aptmc.rejection(EARLY, tolerance, simulations=50_000, seed=1)
    theta = accepted.series("theta")
    assert theta.size > 500
    assert follows(theta, lambda x: normal.posterior_distribution(x, tolerance))
    assert accepted.distance.max() <= tolerance
    # Neighbouring attempts have keys of their own.
    correlation = np.corrcoef(theta[1:], theta[:-1])[0, 1]
    assert abs(correlation) < stats.norm.isf(FALSE_ALARM / 2) / math.sqrt(theta.size - 1)


def test_draws_at_another_tolerance_are_told_apart() -> None:
    theta = aptmc.rejection(EARLY, 2.0, simulations=50_000, seed=1).series("theta")
    assert not follows(theta, lambda x: normal.posterior_distribution(x, TOLERANCE))


@pytest.mark.parametrize("tolerance", [TOLERANCE, 2.0])
def test_the_rate_is_the_share_of_hits(tolerance: float) -> None:
    accepted = aptmc.rejection(EARLY, tolerance, simulations=50_000, seed=2)
    assert accepted.simulations == 50_000
    assert accepted.rate == accepted.distance.size / 50_000
    hits = stats.binomtest(accepted.distance.size, 50_000, hit_rate(tolerance))
    assert hits.pvalue > FALSE_ALARM
    assert accepted.failures == 0
    assert accepted.work == 50_000


@pytest.mark.parametrize("problem", [EARLY, WITH_DATA], ids=["early", "with data"])
def test_the_result_does_not_depend_on_the_number_of_threads(problem: aptmc.Abc) -> None:
    # Not a whole number of blocks.
    results = [
        aptmc.rejection(problem, TOLERANCE, simulations=45_678, seed=3, threads=threads)
        for threads in (1, 2, 3, 8, None)
    ]
    assert all(same(results[0], result) for result in results[1:])


@pytest.mark.parametrize(
    ("problem", "plain"),
    [(EARLY, PLAIN_EARLY), (WITH_DATA, PLAIN_WITH_DATA), (EARLY, WITH_DATA)],
    ids=["early", "with data", "both"],
)
def test_compiled_and_plain_results_are_the_same_bit_for_bit(problem, plain) -> None:
    results = [
        aptmc.rejection(each, TOLERANCE, simulations=12_000, seed=4) for each in (problem, plain)
    ]
    assert results[0].distance.size > 100
    assert same(*results)


def test_more_simulations_only_add_to_the_draws() -> None:
    few = aptmc.rejection(EARLY, TOLERANCE, simulations=11_000, seed=5)
    many = aptmc.rejection(EARLY, TOLERANCE, simulations=31_000, seed=5)
    assert np.array_equal(few.theta, many.theta[: len(few.theta)])
    assert len(many.theta) > len(few.theta)
    other = aptmc.rejection(EARLY, TOLERANCE, simulations=11_000, seed=6)
    assert not np.intersect1d(few.theta, other.theta).size


def test_a_prior_of_any_family_will_do() -> None:
    problem = aptmc.Abc.early(normal.simulated_distance, aptmc.Prior(x=stats.gumbel_r(2, 1)))
    assert not problem.is_compiled
    accepted = aptmc.rejection(problem, math.inf, simulations=500, seed=1)
    assert follows(accepted.series("x"), stats.gumbel_r(2, 1).cdf)


@njit
def counts(theta, rng):
    return np.array([rng.integers(0, 4)])


def test_tolerance_zero_keeps_exact_hits_only() -> None:
    problem = aptmc.Abc(
        counts.py_func, PRIOR, observed=[2], distance=lambda mine, yours: abs(mine - yours)[0]
    )
    accepted = aptmc.rejection(problem, 0, simulations=2000, seed=1)
    assert (accepted.distance == 0.0).all()
    assert stats.binomtest(accepted.distance.size, 2000, 0.25).pvalue > FALSE_ALARM
    nothing = aptmc.rejection(EARLY, 0.0, simulations=2000, seed=1)
    assert nothing.theta.shape == (0, 1)
    assert nothing.rate == 0.0


def test_an_infinite_tolerance_keeps_the_prior_with_infinite_distances_too() -> None:
    problem = aptmc.Abc.early(
        lambda theta, rng, tolerance: math.inf if theta[0] > 1.0 else 0.5, PRIOR
    )
    accepted = aptmc.rejection(problem, math.inf, simulations=2000, seed=1)
    assert accepted.rate == 1.0
    assert follows(accepted.series("theta"), PRIOR.marginals[0].cdf)
    assert (np.isinf(accepted.distance) == (accepted.series("theta") > 1.0)).all()


def test_the_simulator_learns_the_tolerance_and_counts_its_work() -> None:
    def simulated_distance(theta, rng, tolerance):
        assert tolerance == 0.75
        return abs(theta[0]), 2.5

    problem = aptmc.Abc.early(simulated_distance, PRIOR, counts_work=True)
    assert aptmc.rejection(problem, 0.75, simulations=100, seed=1).work == 250.0


# --- failures -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stopped() -> list[aptmc.MoveFailed]:
    """The same failure: compiled with one thread and with three, and in plain Python."""
    errors = []
    problem = aptmc.Abc.early(unreliable, PRIOR)
    for version, threads in ((problem, 1), (problem, 3), (plain_breaking(), None)):
        with pytest.raises(aptmc.MoveFailed) as stop:
            aptmc.rejection(version, 0.5, simulations=40_000, seed=1, threads=threads)
        errors.append(stop.value)
    return errors


def plain_breaking(**options) -> aptmc.Abc:
    return aptmc.Abc.early(unreliable.py_func, PRIOR, **options)


def test_a_failure_is_the_first_one_whoever_computes(stopped) -> None:
    assert len({str(error) for error in stopped}) == 1
    assert len({error.key for error in stopped}) == 1


def test_a_failure_names_parameters_and_key_and_can_be_run_again(stopped) -> None:
    for error in stopped:
        assert repr(error.key) in str(error)
        assert f"theta={error.parameters['theta']!r}" in str(error)
        assert error.key.purpose == REJECTION
        assert error.rung is None
        rng = error.key.generator()
        theta = PRIOR.draw(rng)
        assert theta[0] == error.parameters["theta"]
        try:
            assert not unreliable.py_func(theta, rng, 0.5) >= 0.0
        except ArithmeticError:
            assert isinstance(error.__cause__, ArithmeticError)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda: math.nan, "the distance of a simulation is nan, must be 0 or more"),
        (lambda: -1.0, "the distance of a simulation is -1.0, must be 0 or more"),
        (lambda: np.zeros(1), "simulated_distance returned array([0.]), must be a single number"),
        (lambda: "far", "simulated_distance returned 'far', must be a single number"),
        (lambda: 1 // 0, "simulated_distance raised ZeroDivisionError"),
    ],
    ids=["nan", "negative", "array", "text", "raises"],
)
def test_a_failure_says_what_was_wrong(answer, message: str) -> None:
    problem = aptmc.Abc.early(lambda theta, rng, tolerance: answer(), PRIOR)
    with pytest.raises(aptmc.MoveFailed) as stop:
        aptmc.rejection(problem, 0.5, simulations=10, seed=1)
    assert message in str(stop.value)
    assert stop.value.key == aptmc.Key(1, 0, 0, REJECTION)


def test_a_failure_that_does_not_happen_again_keeps_its_reason() -> None:
    seen = []

    def fails_once(theta, rng, tolerance):
        seen.append(float(theta[0]))
        if len(seen) == 4:
            raise ConnectionError("the licence server is busy")
        return 0.0

    with pytest.raises(aptmc.MoveFailed, match="licence server is busy") as stop:
        aptmc.rejection(aptmc.Abc.early(fails_once, PRIOR), 0.5, simulations=10, seed=1)
    assert stop.value.parameters == {"theta": seen[3]}
    assert stop.value.key.number == 3
    assert len(seen) == 4


def test_failures_can_be_counted_as_misses() -> None:
    fine = aptmc.rejection(EARLY, TOLERANCE, simulations=40_000, seed=2)
    results = [
        aptmc.rejection(version, TOLERANCE, simulations=40_000, seed=2, threads=threads)
        for version, threads in (
            (aptmc.Abc.early(unreliable, PRIOR, on_error="reject"), 1),
            (aptmc.Abc.early(unreliable, PRIOR, on_error="reject"), 3),
            (plain_breaking(on_error="reject"), None),
        )
    ]
    assert same(results[0], results[1])
    assert same(results[0], results[2])
    assert stats.binomtest(results[0].failures, 40_000, 0.0015).pvalue > FALSE_ALARM
    # Those that did not fail are the same as without failures.
    assert np.isin(results[0].theta, fine.theta).all()
    assert fine.distance.size - results[0].failures <= results[0].distance.size < fine.distance.size


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tolerance", -1.0),
        ("tolerance", math.nan),
        ("tolerance", "0.5"),
        ("tolerance", None),
        ("tolerance", [1.0]),
        ("simulations", 0),
        ("simulations", -5),
        ("simulations", 1.5),
        ("simulations", True),
        ("simulations", "many"),
        ("seed", -1),
        ("seed", 1.5),
        ("seed", None),
        ("threads", 0),
        ("threads", -2),
        ("threads", 1.5),
        ("threads", "all"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(name: str, value) -> None:
    calls = []
    problem = aptmc.Abc.early(lambda *arguments: calls.append(arguments), PRIOR)
    settings = {"tolerance": 0.5, "simulations": 10, "seed": 1} | {name: value}
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.rejection(problem, **settings)
    assert name in str(refusal.value)
    assert repr(value) in str(refusal.value)
    assert not calls


def test_what_is_no_simulator_is_refused() -> None:
    for problem in (None, PRIOR, aptmc.Tempered(lambda theta: 0.0, PRIOR)):
        with pytest.raises(aptmc.InputError, match="rejection needs a simulator") as refusal:
            aptmc.rejection(problem, 0.5, simulations=10, seed=1)
        assert repr(problem) in str(refusal.value)
