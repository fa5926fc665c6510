"""Mistakes: each is refused early, or stops the run with all that is needed to look into it."""

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
from aptmc.chain import INFO_LENGTH, STATUS
from aptmc.clock import ManualClock
from aptmc.errors import StopReason
from aptmc.keys import HOLD, MOVE, START

LIMIT = 2.0  # beyond it, the functions below go wrong
RUNGS = 3
SEED = 1
PRIOR = aptmc.Prior(x=stats.uniform(-5, 10))


def normal(theta):
    return -0.5 * theta[0] * theta[0]


compiled_normal = njit(normal)


class Counted:
    """A log density that counts how often it was called."""

    def __init__(self, function: Callable[..., Any] = normal) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, theta):
        self.calls += 1
        return self.function(theta)


def sample(problem: Any = None, **changes: Any) -> aptmc.Run:
    settings: dict[str, Any] = {
        "budget": 2000,
        "ladder": aptmc.Ladder.powers(RUNGS),
        "kernel": aptmc.RandomWalk(1.0),
        "schedule": aptmc.Anytime(2.5),
        "on": aptmc.VirtualTime(),
        "keep": "all",
        "seed": SEED,
    }
    problem = aptmc.Power(normal, start=0.0) if problem is None else problem
    return aptmc.sample(problem, **(settings | changes))


def all_draws(run: aptmc.Run) -> list[Any]:
    return [draws for rung in range(RUNGS) for draws in run.chains(rung)]


# --- arguments of sample --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("problem", normal),
        ("problem", compiled_normal),
        ("problem", PRIOR),
        ("problem", aptmc.Power),
        ("ladder", [1.0, 0.5, 0.1]),
        ("ladder", 8),
        ("ladder", None),
        ("kernel", 0.5),
        ("kernel", "automatic"),
        ("ladder", "automatic"),
        ("kernel", aptmc.RandomWalk),
        ("kernel", None),
        ("schedule", 5),
        ("schedule", "anytime"),
        ("schedule", aptmc.Anytime),
        ("schedule", aptmc.Alternating()),
        ("pools", "shared"),
        ("pools", aptmc.Shared),
        ("pools", 2),
        ("on", 4),
        ("on", "processes"),
        ("on", aptmc.VirtualTime),
        ("budget", 0),
        ("budget", -1.5),
        ("budget", math.nan),
        ("budget", math.inf),
        ("budget", "soon"),
        ("budget", "10"),
        ("budget", None),
        ("budget", True),
        ("warmup", 2000),
        ("warmup", 2001.0),
        ("warmup", "1 h"),
        ("warmup", -1),
        ("warmup", math.nan),
        ("warmup", "soon"),
        ("warmup", None),
        ("keep", "some"),
        ("keep", "ALL"),
        ("keep", 3),
        ("keep", None),
        ("seed", -1),
        ("seed", 1.5),
        ("seed", True),
        ("seed", "1"),
        ("thin", 0),
        ("warmup", "0 s"),
    ],
)
def test_a_wrong_argument_is_refused_by_name_before_any_work(name: str, value: Any) -> None:
    log_density = Counted()
    arguments: dict[str, Any] = {"problem": aptmc.Power(log_density, start=0.0), name: value}
    with pytest.raises(aptmc.InputError) as refusal:
        sample(**arguments)
    assert name in str(refusal.value)
    assert repr(value) in str(refusal.value)
    assert log_density.calls == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"on": aptmc.VirtualTime(3)}, "pool 0 has 3 moving chains for 3 processors"),
        ({"on": aptmc.VirtualTime(2)}, "with 3 chains on 2 processors two chains never wait"),
        ({"pools": aptmc.Paired()}, "got 1 processors and 3 rungs"),
        ({"pools": aptmc.Shared(0)}, "chains_per_rung must be a whole number from 1 on, got 0"),
        (
            {"pools": aptmc.Partitioned(), "on": aptmc.VirtualTime(4)},
            "3 chains cannot be divided among 4 processors",
        ),
        (
            {"schedule": aptmc.Anytime(1, exchange=aptmc.BetweenPools())},
            "BetweenPools() exchanges between pools, but there is only one",
        ),
        ({"schedule": aptmc.Anytime(1, exchange="alternating")}, "got 'alternating'"),
        (
            {"ladder": aptmc.Ladder.powers(3).without_local_moves(0, 1, 2)},
            "no chain makes local moves",
        ),
    ],
)
def test_parts_that_do_not_fit_together_are_refused_before_any_work(
    changes: dict[str, Any], message: str
) -> None:
    log_density = Counted()
    with pytest.raises(aptmc.InputError) as refusal:
        sample(aptmc.Power(log_density, start=0.0), **changes)
    assert message in str(refusal.value)
    assert log_density.calls == 0


def test_unknown_names_are_refused_and_the_known_ones_listed() -> None:
    run = sample(budget=20, keep="coldest")
    with pytest.raises(aptmc.InputError, match=r"no parameter 'mean': there are x$"):
        run.series("mean")
    with pytest.raises(aptmc.InputError, match=r"draws of rung 1 were not kept: use keep=\"all\""):
        run.chains(1)
    with pytest.raises(AttributeError, match="'aptmc' has no attribute 'Metropolis'"):
        _ = aptmc.Metropolis


@pytest.mark.parametrize("rung", [RUNGS, -1])
def test_a_rung_that_does_not_exist_has_no_draws_to_give(rung: int) -> None:
    with pytest.raises(aptmc.InputError, match=f"rung {rung}"):
        sample(budget=20).chains(rung)


# --- arguments of everything else -----------------------------------------------------------------


@pytest.mark.parametrize("function", [None, 3.0, "normal", np.zeros(2)])
def test_what_is_no_function_is_refused(function: Any) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.Power(function, start=0.0)
    assert f"log_density must be a function of the parameters, got {function!r}" in str(
        refusal.value
    )
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.Tempered(function, PRIOR)
    assert f"log_likelihood must be a function of the parameters, got {function!r}" in str(
        refusal.value
    )


@pytest.mark.parametrize("prior", [None, stats.norm(0, 1), {"x": stats.norm(0, 1)}, aptmc.Prior])
def test_what_is_no_prior_is_refused(prior: Any) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.Tempered(normal, prior)
    assert f"prior must be an aptmc.Prior, got {prior!r}" in str(refusal.value)


@pytest.mark.parametrize(
    "start",
    [
        None,
        "here",
        math.nan,
        math.inf,
        [],
        {},
        [[0.0]],
        [0.0, math.nan],
        [[0.0], [0.0, 1.0]],
        {"x": "here"},
        {"x": [0.0, 1.0]},
        {"x": None},
        {1: 0.0},
        {"": 0.0},
    ],
)
@pytest.mark.parametrize("is_drawn", [False, True])
def test_what_is_no_start_is_refused(start: Any, is_drawn: bool) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.Power(normal, start=(lambda rng: start) if is_drawn else start)
    assert "start must" in str(refusal.value)
    assert repr(start) in str(refusal.value)


@pytest.mark.parametrize("name", ["chain", "draw"])
def test_a_start_cannot_name_a_parameter_like_a_dimension_of_the_draws(name: str) -> None:
    with pytest.raises(aptmc.InputError, match=repr(name)):
        aptmc.Power(normal, start={name: 0.0})


@pytest.mark.parametrize("start", [lambda: 0.0, lambda rng: rng.no_such_distribution()])
def test_a_start_that_cannot_be_drawn_is_refused(start: Any) -> None:
    with pytest.raises(aptmc.InputError, match="start"):
        aptmc.Power(normal, start=start)


def test_a_start_that_changes_its_shape_is_refused() -> None:
    shapes = iter([1, 1, 1, 2, 2, 2])
    problem = aptmc.Power(normal, start=lambda rng: [0.0] * next(shapes))
    with pytest.raises(aptmc.InputError, match=r"must give 1 finite numbers.*got \[0\.0, 0\.0\]"):
        sample(problem)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either scale or covariance, got scale=None and covariance=None"),
        (
            {"scale": 1.0, "covariance": [[1.0]]},
            "either scale or covariance, got scale=1.0 and covariance=[[1.0]]",
        ),
        ({"scale": 0.0}, "scale must be positive, got 0.0"),
        ({"scale": -1}, "scale must be positive, got -1"),
        ({"scale": math.nan}, "scale must be positive, got nan"),
        ({"scale": math.inf}, "scale must be positive, got inf"),
        ({"scale": "wide"}, "scale must be positive, got 'wide'"),
        ({"scale": [1.0, 0.0, 1.0]}, "scale must be positive, got [1.0, 0.0, 1.0]"),
        ({"scale": [1.0, 2.0]}, "for each of the 3 rungs, got shape (2,)"),
        ({"scale": []}, "for each of the 3 rungs, got shape (0,)"),
        ({"scale": [[1.0, 2.0]] * 3}, "for each of the 3 rungs, got shape (3, 2)"),
        ({"scale": {"y": 1.0}}, "scale must name each of x, got {'y': 1.0}"),
        ({"scale": {}}, "scale must name each of x, got {}"),
        ({"scale": {"x": 1.0, "y": 1.0}}, "scale must name each of x, got {'x': 1.0, 'y': 1.0}"),
        ({"scale": {"x": -1.0}}, "scale must be positive, got"),
        ({"covariance": 1.0}, "must be a 1 x 1 matrix, or one for each of the 3 rungs, got shape"),
        ({"covariance": [[1.0, 0.0], [0.0, 1.0]]}, "got shape (2, 2)"),
        ({"covariance": [[[1.0]], [[1.0]]]}, "got shape (2, 1, 1)"),
        ({"covariance": [[-1.0]]}, "symmetric and positive definite, got [[-1.0]]"),
        ({"covariance": [[0.0]]}, "symmetric and positive definite, got [[0.0]]"),
        ({"covariance": [[math.nan]]}, "finite numbers, got [[nan]]"),
        ({"covariance": [[math.inf]]}, "[[inf]]"),
        ({"covariance": "wide"}, "'wide'"),
        ({"covariance": [[1.0], [1.0, 2.0]]}, "[[1.0], [1.0, 2.0]]"),
        ({"scale": 1.0, "steps": 0}, "steps must be a whole number from 1 on, got 0"),
        ({"scale": 1.0, "steps": 1.5}, "steps must be a whole number from 1 on, got 1.5"),
        ({"scale": 1.0, "steps": True}, "steps must be a whole number from 1 on, got True"),
        ({"scale": 1.0, "steps": None}, "steps must be a whole number from 1 on, got None"),
    ],
)
def test_a_random_walk_that_cannot_be_walked_is_refused(
    arguments: dict[str, Any], message: str
) -> None:
    log_density = Counted()
    problem = aptmc.Power(log_density, start={"x": 0.0})
    with pytest.raises(aptmc.InputError) as refusal:
        sample(problem, kernel=aptmc.RandomWalk(**arguments))
    assert message in str(refusal.value)
    assert log_density.calls == 0


def test_a_covariance_that_is_not_symmetric_is_refused() -> None:
    problem = aptmc.Power(lambda theta: -float(theta @ theta), start=[0.0, 0.0])
    for covariance in ([[1.0, 0.5], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]):
        with pytest.raises(aptmc.InputError) as refusal:
            sample(problem, kernel=aptmc.RandomWalk(covariance=covariance))
        assert f"symmetric and positive definite, got {covariance!r}" in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workers": 0}, "workers must be a whole number from 1 on, got 0"),
        ({"workers": -2}, "workers must be a whole number from 1 on, got -2"),
        ({"workers": 1.5}, "workers must be a whole number from 1 on, got 1.5"),
        ({"workers": True}, "workers must be a whole number from 1 on, got True"),
        ({"workers": "all"}, "workers must be a whole number from 1 on, got 'all'"),
        ({"hold": 3.0}, "hold must be a function hold(theta, rung, rng), got 3.0"),
        ({"hold": "exponential"}, "hold must be a function hold(theta, rung, rng), got 'exp"),
        ({"workers": 2, "speed": [1.0]}, "speed must give 2 positive numbers, got [1.0]"),
        ({"speed": 2.0}, "speed must give 1 positive numbers, got 2.0"),
        ({"speed": [0.0]}, "speed must give 1 positive numbers, got [0.0]"),
        ({"speed": [-1.0]}, "speed must give 1 positive numbers, got [-1.0]"),
        ({"speed": [math.nan]}, "speed must give 1 positive numbers, got [nan]"),
        ({"speed": [math.inf]}, "speed must give 1 positive numbers, got [inf]"),
        ({"speed": []}, "speed must give 1 positive numbers, got []"),
        ({"speed": "fast"}, "speed must give 1 positive numbers, got 'fast'"),
        ({"speed": ["fast"]}, "speed must give 1 positive numbers, got ['fast']"),
        ({"speed": [None]}, "speed must give 1 positive numbers, got [None]"),
    ],
)
def test_a_machine_that_cannot_be_simulated_is_refused(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.VirtualTime(**arguments)
    assert message in str(refusal.value)


# --- functions that go wrong ----------------------------------------------------------------------


def complain(_):
    raise ArithmeticError("out of range")


class Wrong(NamedTuple):
    """What a function does beyond the limit, and what the error must say about it."""

    answer: Callable[[Any], Any]
    message: str


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
        (compiled_mixture, "raised TypingError"),
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


def power(function: Any) -> Any:
    return aptmc.Power(function, start={"x": 0.0})


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
    outcome, info = np.empty_like(state), np.zeros(INFO_LENGTH)
    move = kernel.move(problem, compiled=False)
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


# --- hold times that go wrong ---------------------------------------------------------------------

WRONG_HOLDS = {
    "negative": Wrong(lambda _: -1.0, "hold returned -1.0"),
    "nan": Wrong(lambda _: math.nan, "hold returned nan"),
    "inf": Wrong(lambda _: math.inf, "hold returned inf"),
    "raises": Wrong(complain, "hold raised ArithmeticError: out of range"),
    "array": Wrong(lambda _: np.ones(2), "hold returned array([1., 1.])"),
    "short array": Wrong(lambda _: np.ones(1), "hold returned array([1.])"),
    "string": Wrong(lambda _: "long", "hold returned 'long'"),
    "number in a string": Wrong(lambda _: "1.5", "hold returned '1.5'"),
    "nothing": Wrong(lambda _: None, "hold returned None"),
    "complex": Wrong(lambda _: 1j, "hold returned 1j"),
}


def hold_beyond(limit: float, wrong: Wrong) -> Callable[..., Any]:
    return lambda theta, rung, rng: wrong.answer(theta) if theta[0] > limit else 1.0


@njit
def compiled_negative_hold(theta, rung, rng):
    return -1.0 if theta[0] > LIMIT else 1.0


@njit
def compiled_nan_hold(theta, rung, rng):
    return math.nan if theta[0] > LIMIT else 1.0


@njit
def compiled_raising_hold(theta, rung, rng):
    if theta[0] > LIMIT:
        raise ArithmeticError("out of range")
    return 1.0


@njit
def compiled_array_hold(theta, rung, rng):
    return theta + 1.0


@njit
def compiled_string_hold(theta, rung, rng):
    return "long"


COMPILED_HOLDS = {
    "negative": compiled_negative_hold,
    "nan": compiled_nan_hold,
    "raises": compiled_raising_hold,
}
COMPILED_PROBLEM = aptmc.Power(compiled_normal, start={"x": 0.0})
COMPILED_PROBLEM_BEYOND = aptmc.Power(compiled_normal, start={"x": 3.25})


def check_hold_failure(error: aptmc.MoveFailed, message: str) -> None:
    assert message in str(error)
    assert f"x={error.parameters['x']!r}" in str(error)
    assert repr(error.key) in str(error)
    assert error.key.purpose == HOLD
    assert error.rung == error.key.chain


@pytest.mark.parametrize("kind", WRONG_HOLDS)
def test_a_hold_time_that_is_wrong_at_the_start_stops_the_run_before_any_move(kind: str) -> None:
    log_density = Counted()
    hold = hold_beyond(-1.0, WRONG_HOLDS[kind])
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(aptmc.Power(log_density, start={"x": 0.5}), on=aptmc.VirtualTime(hold=hold))
    check_hold_failure(stop.value, WRONG_HOLDS[kind].message)
    assert stop.value.parameters == {"x": 0.5}
    assert log_density.calls == RUNGS


@pytest.mark.parametrize("kind", WRONG_HOLDS)
def test_a_hold_time_that_is_wrong_later_stops_the_run_where_it_is(kind: str) -> None:
    hold = hold_beyond(LIMIT, WRONG_HOLDS[kind])
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(power(normal), on=aptmc.VirtualTime(hold=hold))
    check_hold_failure(stop.value, WRONG_HOLDS[kind].message)
    check_the_move_began_there(stop.value)


@pytest.mark.parametrize("problem", [COMPILED_PROBLEM, power(normal)], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", COMPILED_HOLDS)
def test_a_compiled_hold_time_that_is_wrong_later_stops_the_run_where_it_is(
    kind: str, problem: Any
) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(problem, on=aptmc.VirtualTime(hold=COMPILED_HOLDS[kind]))
    check_hold_failure(stop.value, WRONG_HOLDS[kind].message)
    check_the_move_began_there(stop.value)


def check_the_move_began_there(error: aptmc.MoveFailed) -> None:
    """A move whose hold time failed begins at the latest draw of its chain, beyond the limit."""
    assert error.parameters["x"] > LIMIT
    assert error.run.stopped is StopReason.FAILED
    draws = error.run.chains(error.rung)[0]
    assert draws.state[-1, 0] == error.parameters["x"]
    assert error.key.number == np.count_nonzero(~draws.exchanged) + 1


@pytest.mark.parametrize(
    ("hold", "message"),
    [
        (compiled_negative_hold, "hold returned -1.0"),
        (compiled_nan_hold, "hold returned nan"),
        (compiled_raising_hold, "hold raised ArithmeticError: out of range"),
        (compiled_array_hold, "hold returned array([4.25])"),
        (compiled_string_hold, "hold returned 'long'"),
        (lambda theta: 1.0, "hold raised TypeError"),
    ],
)
def test_a_compiled_hold_time_that_is_wrong_at_the_start_stops_the_run_before_any_move(
    hold: Any, message: str
) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(COMPILED_PROBLEM_BEYOND, on=aptmc.VirtualTime(hold=hold))
    check_hold_failure(stop.value, message)
    assert stop.value.parameters == {"x": 3.25}


def test_hold_times_that_are_all_zero_are_refused_for_they_would_never_end() -> None:
    no_time = njit(lambda theta, rung, rng: 0.0)
    with pytest.raises(aptmc.RunFailed, match=r"time stands still at 0\.0: hold gave 0") as stop:
        sample(power(njit(normal)), on=aptmc.VirtualTime(hold=no_time))
    assert stop.value.run.completions > 1000


# --- starts without density -----------------------------------------------------------------------


@pytest.mark.parametrize("function", [lambda theta: -math.inf, njit(lambda theta: -math.inf)])
def test_a_density_that_is_zero_everywhere_is_refused_with_the_last_start_tried(
    function: Any,
) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        sample(aptmc.Tempered(function, PRIOR))
    assert "no start of positive density was found" in str(refusal.value)
    assert "'x': " in str(refusal.value)
    assert "a prior) where log_likelihood is finite" in str(refusal.value)


def test_a_prior_whose_draws_all_have_zero_likelihood_is_refused_after_a_bounded_search() -> None:
    log_likelihood = Counted(lambda theta: -math.inf if theta[0] < 100.0 else 0.0)
    with pytest.raises(aptmc.InputError, match="no start of positive density was found in 1000"):
        sample(aptmc.Tempered(log_likelihood, PRIOR))
    assert log_likelihood.calls == 1000


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


# --- functions that change what they are given ----------------------------------------------------


def vandal(theta):
    value = -0.5 * theta[0] * theta[0]
    theta[0] = 1e6
    return value


def vandal_hold(theta, rung, rng):
    time = 1.0 + abs(theta[0])
    theta[0] = -1e6
    return time


def quiet_hold(theta, rung, rng):
    return 1.0 + abs(theta[0])


compiled_vandal = njit(vandal)
compiled_vandal_hold = njit(vandal_hold)


@pytest.mark.parametrize("make", [power, lambda f: aptmc.Tempered(f, PRIOR)], ids=["power", "like"])
@pytest.mark.parametrize(
    ("log_density", "hold"),
    [
        (vandal, vandal_hold),
        (vandal, compiled_vandal_hold),
        (compiled_vandal, vandal_hold),
        (compiled_vandal, compiled_vandal_hold),
    ],
    ids=["plain", "compiled hold", "compiled density", "compiled"],
)
def test_a_function_that_changes_its_argument_does_no_harm(
    make: Any, log_density: Any, hold: Any
) -> None:
    quiet = sample(make(normal), budget=200, on=aptmc.VirtualTime(hold=quiet_hold))
    wild = sample(make(log_density), budget=200, on=aptmc.VirtualTime(hold=hold))
    for mine, yours in zip(all_draws(quiet), all_draws(wild), strict=True):
        assert mine.time.size > 10
        for left, right in zip(mine, yours, strict=True):
            np.testing.assert_array_equal(left, right)


def test_a_function_that_keeps_its_argument_does_no_harm_to_itself() -> None:
    kept: list[tuple[Any, float]] = []

    def keeper(theta):
        kept.append((theta, float(theta[0])))
        return normal(theta)

    sample(power(keeper), budget=50)
    assert all(theta[0] == value for theta, value in kept)
