"""Simulators that fail now and then: the run stops with all that is needed to look into it, or goes
on and says how often; and what it then samples is known.

The model is the paper's normal one: theta ~ N(0, 5), x ~ N(theta, 1), and |x - 3| is the distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.build import build_session
from aptmc.chain import INFO_LENGTH, STATUS
from aptmc.clock import ManualClock
from aptmc.errors import StopReason
from aptmc.keys import MOVE, START
from aptmc.models import normal
from aptmc.store import MemoryStore
from tests.support.statistical import FALSE_ALARM, standard_errors_off

PRIOR = normal.prior()
TOLERANCES = [0.5, 1.5, 5.0]
LADDER = aptmc.Ladder.tolerances(TOLERANCES)
KERNEL = aptmc.OneHit(1.0, cap=20)
SCHEDULE = aptmc.Anytime(every=20)
# In this part of parameter space the simulators below fail, with some probability. With this seed
# none of the first states is looked for there.
LOWER, UPPER = 3.0, 3.2
SEED = 1
BACKENDS: dict[str, Callable[[], Any]] = {
    "virtual time": lambda: aptmc.VirtualTime(),
    "wall time": lambda: aptmc.InProcess(ManualClock(step=1.0)),
}


def sample(problem: Any, **changes: Any) -> aptmc.Run:
    settings: dict[str, Any] = {
        "budget": 5000,
        "ladder": LADDER,
        "kernel": KERNEL,
        "schedule": SCHEDULE,
        "on": aptmc.VirtualTime(),
        "keep": "all",
        "seed": SEED,
    }
    return aptmc.sample(problem, **(settings | changes))


def all_draws(run: aptmc.Run) -> list[Any]:
    return [draws for rung in range(len(TOLERANCES)) for draws in run.chains(rung)]


# --- simulators that fail in a part of parameter space --------------------------------------------


def fine(theta, rng):
    return theta[0] + rng.standard_normal(1)


def distance(simulated, observed):
    return abs(simulated[0] - observed[0])


def in_region(theta) -> bool:
    return bool(LOWER < theta[0] < UPPER)


@njit
def simulate_raises(theta, rng):
    x = theta[0] + rng.standard_normal(1)
    if 3.0 < theta[0] < 3.2:
        raise ArithmeticError("out of range")
    return x


@njit
def simulate_nan(theta, rng):
    x = theta[0] + rng.standard_normal(1)
    if 3.0 < theta[0] < 3.2:
        x[0] = math.nan
    return x


@njit
def simulate_wrong_length(theta, rng):
    x = theta[0] + rng.standard_normal(1)
    if 3.0 < theta[0] < 3.2:
        return np.zeros(2)
    return x


@njit
def simulate_marked(theta, rng):
    """Marks simulations from the region, for a distance that fails there."""
    x = theta[0] + rng.standard_normal(1)
    if 3.0 < theta[0] < 3.2:
        x[0] = 1e9
    return x


@njit
def negative_distance(simulated, observed):
    if simulated[0] == 1e9:
        return -2.5
    return abs(simulated[0] - observed[0])


compiled_distance = njit(distance)


def answering(answer: Callable[[], Any]) -> Callable[..., Any]:
    """A simulator that gives something else in the region."""

    def simulate(theta, rng):
        x = fine(theta, rng)
        return answer() if in_region(theta) else x

    return simulate


def complain() -> Any:
    raise ArithmeticError("out of range")


class Case(NamedTuple):
    """A simulator and its distance, and what the error must say about them."""

    simulate: Callable[..., Any]
    distance: Callable[..., Any]
    message: str
    summary: Callable[..., Any] | None = None

    def problem(self, **options: Any) -> aptmc.Abc:
        return aptmc.Abc(
            self.simulate,
            PRIOR,
            observed=[normal.OBSERVED],
            distance=self.distance,
            summary=self.summary,
            **options,
        )

    def plain(self) -> Case:
        functions = (getattr(each, "py_func", each) for each in self[:2])
        return Case(*functions, self.message, self.summary)


def marked(answer: Callable[[], Any]) -> Callable[..., Any]:
    return lambda mine, yours: answer() if mine[0] == 1e9 else abs(mine[0] - yours[0])


COMPILED = {
    "raises": Case(
        simulate_raises, compiled_distance, "simulate raised ArithmeticError: out of range"
    ),
    "nan": Case(simulate_nan, compiled_distance, "the distance of a simulation is nan"),
    "wrong length": Case(
        simulate_wrong_length, compiled_distance, "data have shape (2,), observed have (1,)"
    ),
    "negative distance": Case(
        simulate_marked, negative_distance, "the distance of a simulation is -2.5"
    ),
}
PLAIN = {
    **{kind: case.plain() for kind, case in COMPILED.items()},
    "text": Case(answering(lambda: "three"), distance, "simulate returned 'three', must be an"),
    "nothing": Case(answering(lambda: None), distance, "simulate returned None, must be an"),
    "ragged": Case(answering(lambda: [1.0, [2.0]]), distance, "simulate returned [1.0, [2.0]]"),
    "distance raises": Case(
        simulate_marked.py_func, marked(complain), "distance raised ArithmeticError: out of range"
    ),
    "distance is an array": Case(
        simulate_marked.py_func,
        marked(lambda: np.zeros(1)),
        "distance returned array([0.]), must be a single number",
    ),
    "distance is text": Case(
        simulate_marked.py_func,
        marked(lambda: "far"),
        "distance returned 'far', must be a single number",
    ),
    "summary raises": Case(
        simulate_marked.py_func,
        distance,
        "summary raised ArithmeticError: out of range",
        summary=lambda data: complain() if data[0] == 1e9 else data,
    ),
    "summary of the wrong length": Case(
        simulate_marked.py_func,
        distance,
        "data have shape (3,), observed have (1,)",
        summary=lambda data: np.zeros(3) if data[0] == 1e9 else data,
    ),
}
CASES = {
    **{f"compiled, {kind}": case for kind, case in COMPILED.items()},
    **{f"plain, {kind}": case for kind, case in PLAIN.items()},
}
PROBLEMS = {kind: case.problem() for kind, case in CASES.items()}


class Failure(NamedTuple):
    """A run that was stopped, and what was to be sampled."""

    problem: Any
    message: str
    error: aptmc.MoveFailed


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Any:
    return BACKENDS[request.param]()


@pytest.fixture(scope="module", params=CASES)
def failure(request: pytest.FixtureRequest, backend: Any) -> Failure:
    problem = PROBLEMS[request.param]
    assert problem.is_compiled == request.param.startswith("compiled")
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(problem, on=backend)
    return Failure(problem, CASES[request.param].message, stop.value)


def check_failed_move(failure: Failure) -> None:
    """Everything an error must carry."""
    _, message, error = failure
    assert message in str(error)
    assert f"theta={error.parameters['theta']!r}" in str(error)
    assert f"on rung {error.rung}" in str(error)
    assert repr(error.key) in str(error)
    seed, chain, number, purpose = error.key
    assert (seed, purpose) == (SEED, MOVE)
    assert chain == error.rung  # there is one chain on each rung
    assert error.run.stopped is StopReason.FAILED
    for rung, tolerance in enumerate(TOLERANCES):
        (draws,) = error.run.chains(rung)
        assert (draws.state[:, 1] <= tolerance).all()
    draws = error.run.chains(error.rung)[0]
    assert number == np.count_nonzero(~draws.exchanged) + 1


def run_again(failure: Failure) -> None:
    """Compute the failed move by hand, at both speeds where there are two: it fails again."""
    problem, _, error = failure
    draws = error.run.chains(error.rung)[0]
    # A move begins at the latest draw of its chain; before there is one, at the chain's start.
    state = first_state(problem, error.rung) if draws.time.size == 0 else draws.state[-1].copy()
    level, tuning = TOLERANCES[error.rung], KERNEL.tuning(problem, LADDER)[error.rung]
    for compiled in {False, problem.is_compiled}:
        move = KERNEL.move(problem, compiled=compiled)
        outcome, info = np.empty_like(state), np.zeros(INFO_LENGTH)
        try:
            move(level, tuning, state, error.key.generator(), outcome, info)
            found = problem.describe(outcome) if info[STATUS] else None
        except aptmc.MoveFailed as again:
            found = again.parameters
        except ArithmeticError:  # the user's own, from compiled code, which cannot say where
            found = error.parameters if compiled else None
        assert found == error.parameters


def first_state(problem: Any, chain: int) -> Any:
    layout = aptmc.Shared().layout(LADDER, 1)
    session = build_session(problem, LADDER, KERNEL, SCHEDULE, layout, "all", SEED, MemoryStore())
    session.begin()
    return session.machine.states[chain].copy()


def test_a_failed_simulation_stops_the_run_and_says_where(failure: Failure) -> None:
    check_failed_move(failure)
    assert in_region([failure.error.parameters["theta"]])
    assert sum(draws.time.size for draws in all_draws(failure.error.run)) > 5


def test_a_failed_simulation_can_be_run_again_by_hand(failure: Failure) -> None:
    run_again(failure)


def test_draws_before_a_failure_are_those_of_a_run_without_one(failure: Failure) -> None:
    run = failure.error.run
    whole = sample(FINE, on=type(run.settings.on)(*fresh_clock(run.settings.on)), budget=1000)
    for part, complete in zip(all_draws(run), all_draws(whole), strict=True):
        for mine, yours in zip(part, complete, strict=True):
            np.testing.assert_array_equal(mine, yours[: mine.shape[0]])


FINE = aptmc.Abc(fine, PRIOR, observed=[normal.OBSERVED], distance=distance)


def fresh_clock(backend: Any) -> list[Any]:
    return [ManualClock(step=1.0)] if isinstance(backend, aptmc.InProcess) else []


@pytest.mark.parametrize("kind", ["compiled, raises", "plain, raises", "plain, distance raises"])
def test_the_users_error_is_the_cause(kind: str) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(PROBLEMS[kind])
    assert isinstance(stop.value.__cause__, ArithmeticError)


# --- simulators that fail at random ---------------------------------------------------------------


@njit
def unreliable(theta, rng, tolerance):
    away = abs(theta[0] + rng.standard_normal() - 3.0)
    kind = rng.random()
    if kind < 0.0005:
        raise ArithmeticError("out of range")
    if kind < 0.001:
        return math.nan
    if kind < 0.0015:
        return -1.0
    return away


UNRELIABLE = {
    "compiled": aptmc.Abc.early(unreliable, PRIOR),
    "plain": aptmc.Abc.early(unreliable.py_func, PRIOR),
}


@pytest.mark.parametrize("speed", UNRELIABLE)
def test_a_simulation_that_fails_at_random_fails_again_with_its_key(speed: str, backend) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(UNRELIABLE[speed], on=backend)
    failure = Failure(UNRELIABLE[speed], "", stop.value)
    check_failed_move(failure)
    run_again(failure)


def test_both_speeds_fail_at_the_same_simulation() -> None:
    errors = []
    for problem in UNRELIABLE.values():
        with pytest.raises(aptmc.MoveFailed) as stop:
            sample(problem)
        errors.append(stop.value)
    assert str(errors[0]) == str(errors[1])


def test_a_failure_that_does_not_happen_again_is_still_reported_where_it_happened() -> None:
    seen = []

    def fails_once(theta, rng):
        if in_region(theta) and not seen:
            seen.append(float(theta[0]))
            raise ConnectionError("the licence server is busy")
        return fine(theta, rng)

    with pytest.raises(aptmc.MoveFailed, match="simulate raised ConnectionError: the lic") as stop:
        sample(aptmc.Abc(fails_once, PRIOR, observed=[3.0], distance=distance))
    assert stop.value.parameters == {"theta": seen[0]}


@pytest.mark.parametrize(
    "answer",
    [
        lambda away: (away, math.nan),
        lambda away: (away, -1.0),
        lambda away: (away, math.inf),
        lambda away: (away, "long"),
        lambda away: (away, 1.0, 2.0),
        lambda away: away,
        lambda away: None,
    ],
)
def test_work_that_cannot_be_is_reported_as_such(answer: Any) -> None:
    def simulated_distance(theta, rng, tolerance):
        away = abs(theta[0] + rng.standard_normal() - 3.0)
        return answer(away) if in_region(theta) else (away, 1.0)

    with pytest.raises(aptmc.MoveFailed, match="must be a pair of a distance and a finite") as stop:
        sample(aptmc.Abc.early(simulated_distance, PRIOR, counts_work=True))
    assert in_region([stop.value.parameters["theta"]])


@njit
def bad_work(theta, rng, tolerance):
    away = abs(theta[0] + rng.standard_normal() - 3.0)
    return away, math.nan if 3.0 < theta[0] < 3.2 else 1.0


def test_compiled_work_that_cannot_be_is_reported_as_such() -> None:
    with pytest.raises(aptmc.MoveFailed, match="must be a pair of a distance and a finite") as stop:
        sample(aptmc.Abc.early(bad_work, PRIOR, counts_work=True))
    assert in_region([stop.value.parameters["theta"]])


def test_an_interruption_is_no_failure() -> None:
    def interrupted(theta, rng):
        if in_region(theta):
            raise KeyboardInterrupt
        return fine(theta, rng)

    problem = aptmc.Abc(interrupted, PRIOR, observed=[3.0], distance=distance, on_error="reject")
    run = sample(problem)
    assert run.stopped is StopReason.INTERRUPTED
    assert run.failures == 0


# --- failures while looking for the first states --------------------------------------------------


def always_nan(theta, rng, tolerance):
    return rng.random() * math.nan


def always_raises(theta, rng, tolerance):
    if rng.random() < 2.0:
        raise ArithmeticError("out of range")
    return 0.0


@pytest.mark.parametrize("function", [always_nan, always_raises, njit(always_raises)])
def test_a_failure_at_the_start_names_the_key_of_that_draw(function: Any) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(aptmc.Abc.early(function, PRIOR))
    error = stop.value
    assert error.key.purpose == START
    assert error.run is None
    assert f"theta={error.parameters['theta']!r}" in str(error)
    assert repr(error.key) in str(error)
    # The first states are looked for in the prior.
    assert PRIOR.draw(error.key.generator())[0] == error.parameters["theta"]


def test_a_failure_at_the_start_that_does_not_happen_again_is_reported() -> None:
    seen = []

    def fails_once(theta, rng, tolerance):
        seen.append(float(theta[0]))
        if len(seen) == 1:
            raise ConnectionError("the licence server is busy")
        return abs(theta[0] + rng.standard_normal() - 3.0)

    with pytest.raises(aptmc.MoveFailed, match="licence server is busy") as stop:
        sample(aptmc.Abc.early(fails_once, PRIOR))
    assert stop.value.parameters == {"theta": seen[0]}
    assert isinstance(stop.value.__cause__, ConnectionError)


def test_a_simulator_that_always_fails_cannot_be_started_even_if_failures_are_misses() -> None:
    calls = []

    def broken(theta, rng, tolerance):
        calls.append(1)
        raise ArithmeticError("out of range")

    problem = aptmc.Abc.early(broken, PRIOR, on_error="reject", start_simulations=2000)
    with pytest.raises(aptmc.InputError, match="the smallest distances seen were none"):
        sample(problem)
    assert len(calls) < 3000


def test_a_simulator_that_mostly_fails_can_be_started_if_failures_are_misses() -> None:
    def mostly_broken(theta, rng, tolerance):
        if rng.random() < 0.9:
            raise ArithmeticError("out of range")
        return abs(theta[0] + rng.standard_normal() - 3.0)

    run = sample(aptmc.Abc.early(mostly_broken, PRIOR, on_error="reject"))
    assert run.stopped is StopReason.BUDGET_SPENT
    share = run.failures / run.simulations
    # A race goes on until a hit, so the number of failures is not binomial; it is close.
    assert 0.85 < share < 0.95


# --- failures that are counted as misses ----------------------------------------------------------


@pytest.mark.parametrize("kind", PLAIN)
def test_a_run_goes_on_and_counts_the_failures(kind: str, backend: Any) -> None:
    run = sample(PLAIN[kind].problem(on_error="reject"), on=backend, budget=3000)
    assert run.stopped is StopReason.BUDGET_SPENT
    assert 0 < run.failures < run.simulations
    for draws in all_draws(run):
        assert np.isfinite(draws.state).all()
        # In the region every simulation fails, so that no state lies there.
        assert not ((draws.state[:, 0] > LOWER) & (draws.state[:, 0] < UPPER)).any()


@pytest.mark.parametrize("kind", ["raises", "wrong length"])
def test_compiled_and_plain_runs_with_failures_are_the_same_bit_for_bit(kind: str) -> None:
    compiled, plain = (
        sample(case.problem(on_error="reject")) for case in (COMPILED[kind], PLAIN[kind])
    )
    assert compiled.failures == plain.failures > 0
    assert compiled.simulations == plain.simulations
    for mine, yours in zip(all_draws(compiled), all_draws(plain), strict=True):
        for left, right in zip(mine, yours, strict=True):
            np.testing.assert_array_equal(left, right)


@njit
def often_fails(theta, rng, tolerance):
    """Whatever theta is."""
    away = abs(theta[0] + rng.standard_normal() - 3.0)
    kind = rng.random()
    if kind < 0.1:
        raise ArithmeticError("out of range")
    if kind < 0.2:
        return math.nan
    if kind < 0.3:
        return -1.0
    return away


@njit
def fails_with_theta(theta, rng, tolerance):
    """Fails with probability theta, and otherwise hits whatever theta is."""
    away = rng.random()
    if rng.random() < theta[0]:
        raise ArithmeticError("out of range")
    return away


FAILS_WITH_THETA = aptmc.Abc.early(
    fails_with_theta, aptmc.Prior(theta=stats.uniform(0, 1)), on_error="reject"
)
RUNS = 16
LIMIT = stats.t.isf(FALSE_ALARM / 2, RUNS - 1)  # of the mean of independent runs, in its errors


def moments(problem: aptmc.Abc, **changes: Any) -> Any:
    """Of independent runs: the means of the parameter and of its square on the coldest rung."""
    settings = {"budget": 30_000, "warmup": 1000, "keep": "coldest"} | changes
    (name,) = problem.names
    runs = [sample(problem, seed=seed, **settings) for seed in range(RUNS)]
    draws = [run.series(name)[0] for run in runs]
    return np.array([[np.mean(one), np.mean(one**2)] for one in draws]).T


def test_failures_that_do_not_depend_on_the_parameters_leave_the_posterior_as_it_is() -> None:
    problem = aptmc.Abc.early(often_fails, PRIOR, on_error="reject")
    mean, sd = normal.posterior_mean(0.5), normal.posterior_sd(0.5)
    found, squares = moments(problem)
    assert standard_errors_off(found, mean) < LIMIT
    assert standard_errors_off(squares, mean**2 + sd**2) < LIMIT
    # The control: a posterior half a standard deviation away is told apart.
    assert standard_errors_off(found, mean + 0.5 * sd) > LIMIT
    run = sample(problem)
    assert 0.25 < run.failures / run.simulations < 0.35


@pytest.mark.parametrize("tolerances", [[0.3, 0.6, 0.9], [0.3, 0.6, math.inf]])
def test_failures_that_depend_on_the_parameters_weigh_the_prior_with_their_success(
    tolerances: list[float],
) -> None:
    """A uniform prior and success with probability 1 - theta: theta follows Beta(1, 2)."""
    ladder, expected = aptmc.Ladder.tolerances(tolerances), stats.beta(1, 2)
    found, squares = moments(FAILS_WITH_THETA, ladder=ladder)
    assert standard_errors_off(found, expected.mean()) < LIMIT
    assert standard_errors_off(squares, expected.moment(2)) < LIMIT
    # The control: the prior, which a simulator without failures would give.
    assert standard_errors_off(found, 0.5) > LIMIT
