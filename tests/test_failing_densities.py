"""Densities that go wrong stop the run with all that is needed to look into it."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.clock import ManualClock
from aptmc.errors import StopReason
from aptmc.keys import MOVE, START
from aptmc.problem.chain_state import STATUS
from aptmc.session import first_states
from aptmc.targets import INTERPRETED
from tests.support.mistakes import (
    LIMIT,
    PRIOR,
    RUNGS,
    SEED,
    Counted,
    Wrong,
    all_draws,
    complain,
    normal,
    power,
    sample,
)

WRONG = {
    "nan": Wrong(lambda _: math.nan, "returned nan, must be a number or -inf"),
    "inf": Wrong(lambda _: math.inf, "returned inf, must be a number or -inf"),
    "raises": Wrong(complain, "raised ArithmeticError: out of range"),
    "array": Wrong(lambda _: np.zeros(2), "returned an array of shape (2,), must be a single"),
    "short array": Wrong(
        lambda _: np.zeros(1), "returned an array of shape (1,), must be a single"
    ),
    "string": Wrong(lambda _: "high", "returned 'high', must be a single number"),
    "number in a string": Wrong(lambda _: "1.5", "returned '1.5', must be a single number"),
    "nothing": Wrong(lambda _: None, "returned None, must be a single number"),
    "complex": Wrong(lambda _: 1j, "returned 1j, must be a single number"),
    "ragged list": Wrong(lambda _: [1.0, [2.0]], "returned"),
}


def wrong_beyond_the_limit(wrong: Wrong) -> Callable[[Any], Any]:
    return lambda theta: wrong.answer(theta) if theta[0] > LIMIT else normal(theta)


@njit
def compiled_nan(theta):
    return math.nan if theta[0] > LIMIT else -0.5 * theta[0] * theta[0]


@njit
def compiled_inf(theta):
    return math.inf if theta[0] > LIMIT else -0.5 * theta[0] * theta[0]


@njit
def compiled_raises(theta):
    if theta[0] > LIMIT:
        raise ArithmeticError("out of range")
    return -0.5 * theta[0] * theta[0]


@njit
def compiled_array(theta):
    return theta * 2.0


@njit
def compiled_string(theta):
    return "high"


@njit
def compiled_nothing(theta):
    theta[0] = 0.0


@njit
def compiled_mixture(theta):
    if theta[0] > LIMIT:
        return theta
    return 0.0


COMPILED = {"nan": compiled_nan, "inf": compiled_inf, "raises": compiled_raises}


def plain(kind: str) -> Callable[[Any], Any]:
    return wrong_beyond_the_limit(WRONG[kind])


@pytest.mark.parametrize("kind", WRONG)
def test_a_density_that_is_wrong_at_the_start_stops_the_run_at_once(kind: str) -> None:
    log_density = Counted(plain(kind))
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(aptmc.Power(log_density, start={"x": 3.25}))
    assert f"log_density {WRONG[kind].message}" in str(stop.value)
    assert "x=3.25" in str(stop.value)
    assert stop.value.parameters == {"x": 3.25}
    assert log_density.calls == 1


@pytest.mark.parametrize(
    ("log_density", "message"),
    [
        (compiled_nan, WRONG["nan"].message),
        (compiled_inf, WRONG["inf"].message),
        (compiled_raises, WRONG["raises"].message),
        (compiled_array, "returned an array of shape (1,), must be a single number"),
        (compiled_string, WRONG["string"].message),
        (compiled_nothing, WRONG["nothing"].message),
        (compiled_mixture, "cannot be compiled for theta, an array of floats: "),
    ],
)
def test_a_compiled_density_that_is_wrong_at_the_start_stops_the_run_at_once(
    log_density: Any, message: str
) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(aptmc.Power(log_density, start={"x": 3.25}))
    assert f"log_density {message}" in str(stop.value)
    assert "x=3.25" in str(stop.value)
    assert stop.value.parameters == {"x": 3.25}


def test_a_failure_at_the_start_names_the_key_of_that_start() -> None:
    problem = aptmc.Tempered(plain("nan"), aptmc.Prior(x=stats.uniform(LIMIT, 1)))
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(problem)
    key = stop.value.key
    assert key is not None
    assert problem.describe(problem.draw_start(key.generator())) == stop.value.parameters


def test_a_user_error_is_the_cause_of_the_error_at_the_start() -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(aptmc.Power(plain("raises"), start=3.0))
    assert isinstance(stop.value.__cause__, ArithmeticError)


class Failure(NamedTuple):
    """A run that was stopped, and what was to be sampled."""

    problem: Any
    kernel: aptmc.RandomWalk
    message: str
    error: aptmc.MoveFailed


def fail(problem: Any, message: str, kernel: Any = None, **changes: Any) -> Failure:
    kernel = kernel or aptmc.RandomWalk(1.0)
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(problem, kernel=kernel, **changes)
    return Failure(problem, kernel, message, stop.value)


def failures() -> dict[str, Callable[[], Failure]]:
    """Runs that fail later, by what is special about them."""
    cases: dict[str, Callable[[], Failure]] = {}
    for kind in ("nan", "inf", "raises", "array", "short array", "string", "nothing", "complex"):
        message = f"log_density {WRONG[kind].message}"
        cases[f"plain {kind}"] = partial(fail, power(plain(kind)), message)
        if kind in COMPILED:
            cases[f"compiled {kind}"] = partial(fail, power(COMPILED[kind]), message)

    message = f"log_likelihood {WRONG['nan'].message}"
    # The starts of this seed lie below the limit. Gumbel's density is not compiled.
    compiled_prior = aptmc.Prior(x=stats.norm(-1, 0.9))
    plain_prior = aptmc.Prior(x=stats.gumbel_r(-2, 0.5))
    several_steps = aptmc.RandomWalk([0.5, 0.7, 1.0], steps=7)
    for label, problem in {
        "plain likelihood": aptmc.Tempered(plain("nan"), compiled_prior),
        "compiled likelihood": aptmc.Tempered(compiled_nan, compiled_prior),
        "compiled likelihood, plain prior": aptmc.Tempered(compiled_nan, plain_prior),
    }.items():
        cases[label] = partial(fail, problem, message)
        cases[f"{label}, several steps"] = partial(fail, problem, message, several_steps)

    message = f"log_density {WRONG['raises'].message}"
    for label, function in {"plain": plain("raises"), "compiled": compiled_raises}.items():
        for name, changes in {
            "wall time": {"on": aptmc.InProcess(ManualClock(step=1.0))},
            "synchronous": {"schedule": aptmc.Synchronous(), "on": aptmc.VirtualTime(2)},
            "uncorrected": {"schedule": aptmc.Uncorrected(0.75), "on": aptmc.VirtualTime(3)},
        }.items():
            cases[f"{label} raises, {name}"] = partial(fail, power(function), message, **changes)
    return cases


FAILURES = failures()


@pytest.fixture(scope="module", params=FAILURES)
def failure(request: pytest.FixtureRequest) -> Failure:
    return FAILURES[request.param]()


def test_a_failed_move_says_what_was_wrong_where_and_with_which_key(failure: Failure) -> None:
    error = failure.error
    assert failure.message in str(error)
    (name,) = failure.problem.names
    assert f"{name}={error.parameters[name]!r}" in str(error)
    assert f"on rung {error.rung}" in str(error)
    assert repr(error.key) in str(error)


def test_a_failed_move_names_the_proposal_that_failed(failure: Failure) -> None:
    assert list(failure.error.parameters) == list(failure.problem.names)
    assert failure.error.parameters["x"] > LIMIT


def test_a_failed_move_has_the_key_of_that_move(failure: Failure) -> None:
    seed, chain, number, purpose = failure.error.key
    assert (seed, purpose) == (SEED, MOVE)
    assert chain == failure.error.rung  # there is one chain on each rung
    draws = failure.error.run.chains(failure.error.rung)[0]
    assert number == np.count_nonzero(~draws.exchanged) + 1


def test_a_failed_move_comes_with_the_run_so_far(failure: Failure) -> None:
    run = failure.error.run
    assert run.stopped is StopReason.FAILED
    assert "the run failed" in repr(run)
    assert run.completions == sum(np.count_nonzero(~draws.exchanged) for draws in all_draws(run))
    for draws in all_draws(run):
        assert (draws.state[:, 0] <= LIMIT).all()
        assert np.isfinite(draws.state).all()
    assert run.draws.posterior["x"].shape[0] == 1


def run_again(failure: Failure, state: Any) -> dict[str, float]:
    """Compute a failed move with the kernel's Python move; the parameters at which it fails."""
    problem, kernel, _, error = failure
    ladder = aptmc.Ladder.powers(RUNGS)
    level, tuning = ladder.levels[error.rung], kernel.tuning(problem, ladder)[error.rung]
    outcome, info = np.empty_like(state), np.zeros(kernel.info_length)
    move = kernel.move(problem, INTERPRETED)
    try:
        move(level, tuning, state, error.key.generator(), outcome, info)
    except aptmc.MoveFailed as again:
        return again.parameters
    assert info[STATUS] != 0
    return problem.describe(outcome)


def test_a_failed_move_can_be_run_again_by_hand(failure: Failure) -> None:
    error = failure.error
    draws = error.run.chains(error.rung)[0]
    # A move begins at the latest draw of its chain; before there is one, at the chain's start.
    start = failure.problem.start(aptmc.Key(SEED, error.key.chain, 0, START).generator())
    state = draws.state[-1].copy() if draws.time.size else start
    before = state.copy()
    assert run_again(failure, state) == error.parameters
    np.testing.assert_array_equal(state, before)


def test_the_run_up_to_a_failure_can_be_looked_at_like_any_other() -> None:
    run = FAILURES["plain nan"]().error.run
    assert 0.0 < run.elapsed < 2000
    assert 0.0 < run.utilisation <= 1.0
    assert "x" in str(run.summary())


def test_draws_before_a_failure_are_those_of_a_run_without_one() -> None:
    whole = sample(power(normal), budget=200)
    for kind in COMPILED:
        for case in (f"plain {kind}", f"compiled {kind}"):
            run = FAILURES[case]().error.run
            assert sum(draws.time.size for draws in all_draws(run)) > 10
            for part, complete in zip(all_draws(run), all_draws(whole), strict=True):
                for mine, yours in zip(part, complete, strict=True):
                    np.testing.assert_array_equal(mine, yours[: mine.shape[0]])


@pytest.mark.parametrize("case", ["plain raises", "compiled raises", "plain raises, wall time"])
def test_a_user_error_is_the_cause_of_a_failed_move(case: str) -> None:
    assert isinstance(FAILURES[case]().error.__cause__, ArithmeticError)


def test_a_failed_move_survives_the_way_to_another_process() -> None:
    error = aptmc.MoveFailed("it broke", parameters={"x": 1.0}, rung=2, key=aptmc.Key(1, 2, 3))
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert (copy.parameters, copy.rung, copy.key) == (error.parameters, error.rung, error.key)


def test_a_failure_that_does_not_happen_again_is_still_reported_where_it_happened() -> None:
    seen = []

    def fails_once(theta):
        if theta[0] > LIMIT and not seen:
            seen.append(float(theta[0]))
            raise ConnectionError("the licence server is busy")
        return normal(theta)

    with pytest.raises(aptmc.MoveFailed, match="licence server is busy") as stop:
        sample(power(fails_once))
    assert stop.value.parameters == {"x": seen[0]}


@pytest.mark.parametrize("function", [lambda theta: -math.inf, njit(lambda theta: -math.inf)])
def test_a_density_that_is_zero_everywhere_is_refused_with_the_last_start_tried(
    function: Any,
) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        sample(aptmc.Tempered(function, PRIOR))
    assert "no start of positive density was found" in str(refusal.value)
    assert "'x': " in str(refusal.value)
    assert "Narrow the prior to where it is finite" in str(refusal.value)


def test_a_prior_whose_draws_all_have_zero_likelihood_is_refused_after_a_bounded_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(first_states, "MOST_TRIES", 2500)
    log_likelihood = Counted(lambda theta: -math.inf if theta[0] < 100.0 else 0.0)
    with pytest.raises(
        aptmc.InputError, match=r"no start of positive density was found in \d+000 tries"
    ):
        sample(aptmc.Tempered(log_likelihood, PRIOR))
    assert 2500 <= log_likelihood.calls < 10_000


def test_a_constraint_that_few_draws_of_the_prior_meet_is_no_obstacle() -> None:
    """One of 2,000 draws has a likelihood; chains that find none begin where others do."""

    def log_likelihood(theta):
        return 0.0 if 0.5 < theta[0] < 0.5005 else -math.inf

    problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(0, 1)))
    run = aptmc.sample(problem, budget=100, on=aptmc.VirtualTime(1), ladder=[1, 0.5], seed=1)
    draws = np.concatenate(run.series("x"))
    assert ((draws > 0.5) & (draws < 0.5005)).all()


def test_chains_without_a_start_begin_where_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_states, "MOST_TRIES", 1)
    tried = []

    def once(theta):
        tried.append(theta[0])
        return 0.0 if tried.index(theta[0]) < 1 else -math.inf

    run = aptmc.sample(
        aptmc.Tempered(once, PRIOR),
        budget=2,
        on=aptmc.VirtualTime(1),
        ladder=[1, 0.6, 0.3],
        kernel=aptmc.RandomWalk(1e-9),
        schedule=aptmc.Anytime(every=1),
        warmup=0,
        seed=1,
    )
    assert {float(x) for x in np.concatenate(run.series("x"))} == {tried[0]}


def test_a_fixed_start_of_zero_density_is_tried_only_once() -> None:
    log_density = Counted(lambda theta: -math.inf)
    with pytest.raises(aptmc.InputError, match=r"\{'x': 3\.25\}"):
        sample(aptmc.Power(log_density, start={"x": 3.25}))
    assert log_density.calls == 1


def test_a_likelihood_that_is_zero_in_places_is_no_mistake() -> None:
    run = sample(
        aptmc.Tempered(lambda theta: 0.0 if theta[0] > 2.0 else -math.inf, PRIOR), budget=100
    )
    assert run.stopped is StopReason.BUDGET_SPENT
    assert all((draws.state[:, 0] > 2.0).all() for draws in all_draws(run))
