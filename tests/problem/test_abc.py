"""Likelihood-free problems: what they take, what they refuse, and that all ways to write one agree.

The model is normal: theta ~ N(0, 5), and three observations from N(theta, 1).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.errors import StopReason
from tests.support.statistical import FALSE_ALARM

PRIOR = aptmc.Prior(theta=stats.norm(0, math.sqrt(5)))
OBSERVED = np.array([3.0, 2.0, 4.0])
RUNGS = 3


@njit
def simulate(theta, rng):
    return theta[0] + rng.standard_normal(3)


@njit
def distance(simulated, observed):
    return np.abs(simulated - observed).max()


@njit
def simulated_distance(theta, rng, tolerance):
    """The same as simulate and distance, with the same random numbers."""
    x = theta[0] + rng.standard_normal(3)
    return max(abs(x[0] - 3.0), abs(x[1] - 2.0), abs(x[2] - 4.0))


@njit
def or_infinity(theta, rng, tolerance):
    """The same random numbers, but misses have no distance."""
    x = theta[0] + rng.standard_normal(3)
    away = max(abs(x[0] - 3.0), abs(x[1] - 2.0), abs(x[2] - 4.0))
    return away if away <= tolerance else math.inf


def stops_early(theta, rng, tolerance):
    """The same law with fewer random numbers."""
    largest = 0.0
    for y in (3.0, 2.0, 4.0):
        largest = max(largest, abs(theta[0] + rng.standard_normal() - y))
        if largest > tolerance:
            return math.inf
    return largest


@njit
def mean_and_range(data):
    return np.array([data.mean(), data.max() - data.min()])


def sample(problem, **changes):
    settings = {
        "budget": 3000,
        "ladder": aptmc.Ladder.tolerances([0.8, 2.0, math.inf]),
        "kernel": aptmc.OneHit(1.0, cap=20),
        "schedule": aptmc.Anytime(every=10),
        "on": aptmc.VirtualTime(workers=2),
        "pools": aptmc.Shared(chains_per_rung=2),
        "keep": "all",
        "seed": 1,
    }
    return aptmc.sample(problem, **(settings | changes))


def all_draws(run):
    return [draws for rung in range(RUNGS) for draws in run.chains(rung)]


def assert_same(first, second, columns=slice(None)):
    """Bit for bit, all that was recorded."""
    for mine, yours in zip(all_draws(first), all_draws(second), strict=True):
        assert mine.time.size > 20
        np.testing.assert_array_equal(mine.state[:, columns], yours.state[:, columns])
        for left, right in zip(mine[1:], yours[1:], strict=True):
            np.testing.assert_array_equal(left, right)
    assert (first.simulations, first.failures) == (second.simulations, second.failures)


def with_data(function=simulate, *, plain=False, **options):
    options = {"observed": OBSERVED, "distance": distance} | options
    if plain:
        function = getattr(function, "py_func", function)
        for name in {"distance", "summary"} & set(options):
            options[name] = getattr(options[name], "py_func", options[name])
    return aptmc.Abc(function, PRIOR, **options)


COMPILED = with_data()


# --- construction ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("observed", "shape"),
    [(3.0, (1,)), ([3], (1,)), ([3.0, 2.0], (2,)), ([[1, 2, 3], [4, 5, 6]], (2, 3))],
)
def test_data_of_any_shape_reach_the_distance_as_they_are(observed, shape) -> None:
    seen = []

    def compare(simulated, data):
        seen.append((simulated.shape, data.shape, simulated.dtype, data.dtype))
        return 0.1

    problem = aptmc.Abc(
        lambda theta, rng: np.zeros(np.shape(observed)), PRIOR, observed=observed, distance=compare
    )
    aptmc.rejection(problem, 1.0, simulations=2, seed=1)
    assert set(seen) == {(shape, shape, np.dtype(float), np.dtype(float))}


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, 0),
        ({"keep_simulated": True}, 3),
        ({"keep_simulated": True, "summary": mean_and_range}, 2),
        ({"keep_simulated": True, "summary": lambda data: data.mean()}, 1),
        ({"keep_simulated": False, "summary": mean_and_range}, 0),
    ],
)
def test_states_have_room_for_what_is_kept(options, kept: int) -> None:
    assert with_data(**options).width == 3 + kept


def test_only_problems_that_are_compiled_throughout_are_compiled() -> None:
    assert COMPILED.is_compiled
    assert aptmc.Abc.early(simulated_distance, PRIOR).is_compiled
    assert not with_data(plain=True).is_compiled
    assert not with_data(distance=distance.py_func).is_compiled
    assert not with_data(summary=lambda data: data).is_compiled
    gumbel = aptmc.Prior(theta=stats.gumbel_r(0, 1))
    assert not aptmc.Abc.early(simulated_distance, gumbel).is_compiled


def test_the_summary_is_applied_to_the_data_once_and_to_each_simulation() -> None:
    seen = []

    def summary(data):
        seen.append(data.tolist())
        return data[:1] * 2.0

    problem = with_data(
        lambda theta, rng: [1.0, 1.0, 1.0],
        summary=summary,
        distance=lambda mine, yours: abs(mine[0] - yours[0]),
    )
    assert seen == [OBSERVED.tolist()]
    accepted = aptmc.rejection(problem, math.inf, simulations=3, seed=1)
    assert seen[1:] == 3 * [[1.0, 1.0, 1.0]]
    assert accepted.distance.tolist() == 3 * [4.0]


def test_changing_the_data_afterwards_changes_nothing() -> None:
    observed = OBSERVED.copy()
    problem = with_data(observed=observed, plain=True)
    before = aptmc.rejection(problem, 2.0, simulations=200, seed=1)
    observed[:] = 1e6
    after = aptmc.rejection(problem, 2.0, simulations=200, seed=1)
    assert before.distance.size > 5
    np.testing.assert_array_equal(before.distance, after.distance)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [None, 3.0, "simulate", np.zeros(2)])
@pytest.mark.parametrize("name", ["simulate", "distance", "summary", "simulated_distance"])
def test_what_is_no_function_is_refused(name: str, function) -> None:
    if name == "summary" and function is None:
        return  # there need not be one
    make = {
        "simulate": lambda: with_data(function),
        "simulated_distance": lambda: aptmc.Abc.early(function, PRIOR),
    }.get(name, lambda: with_data(**{name: function}))
    with pytest.raises(aptmc.InputError) as refusal:
        make()
    assert f"{name} must be a function" in str(refusal.value)
    assert repr(function) in str(refusal.value)


@pytest.mark.parametrize("prior", [None, stats.norm(0, 1), {"x": stats.norm(0, 1)}, aptmc.Prior])
def test_what_is_no_prior_is_refused(prior) -> None:
    for make in (
        lambda: aptmc.Abc(simulate, prior, observed=OBSERVED, distance=distance),
        lambda: aptmc.Abc.early(simulated_distance, prior),
    ):
        with pytest.raises(aptmc.InputError) as refusal:
            make()
        assert f"prior must be an aptmc.Prior, got {prior!r}" in str(refusal.value)


@pytest.mark.parametrize(
    "observed",
    [
        None,
        "three",
        ["1.0", "2.0"],
        [],
        [[]],
        math.nan,
        [1.0, math.nan],
        [1.0, math.inf],
        [1.0, None],
        [[1.0], [1.0, 2.0]],
        {"y": 1.0},
        [1j],
    ],
    ids=repr,
)
def test_what_is_no_data_is_refused(observed) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        with_data(observed=observed)
    assert f"observed must be an array of finite numbers, got {observed!r}" in str(refusal.value)


def complain(data):
    raise ArithmeticError("out of range")


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        (lambda data: math.nan * data, "got array([nan, nan, nan])"),
        (lambda data: [1.0, math.inf], "got [1.0, inf]"),
        (lambda data: [], "got []"),
        (lambda data: None, "got None"),
        (lambda data: "mean", "got 'mean'"),
        (lambda data: [[1.0], [1.0, 2.0]], "got [[1.0], [1.0, 2.0]]"),
        (complain, "summary raised ArithmeticError for the observed data: out of range"),
        (lambda: 0.0, "summary raised TypeError"),
    ],
)
def test_a_summary_that_fails_for_the_data_is_refused(summary, message: str) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        with_data(summary=summary)
    assert "summary" in str(refusal.value)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("on_error", "ignore"),
        ("on_error", "Raise"),
        ("on_error", None),
        ("on_error", True),
        ("start_simulations", 0),
        ("start_simulations", -1),
        ("start_simulations", 1.5),
        ("start_simulations", True),
        ("start_simulations", "many"),
        ("start_simulations", None),
    ],
)
def test_a_wrong_option_is_refused_by_name(name: str, value) -> None:
    for make in (
        lambda: with_data(**{name: value}),
        lambda: aptmc.Abc.early(simulated_distance, PRIOR, **{name: value}),
    ):
        with pytest.raises(aptmc.InputError) as refusal:
            make()
        assert name in str(refusal.value)
        assert repr(value) in str(refusal.value)


@njit
def takes_no_generator(theta):
    return theta


@njit
def gives_text(theta, rng):
    return "three"


@njit
def array_distance(simulated, observed):
    return np.abs(simulated - observed)


@njit
def early_array(theta, rng, tolerance):
    return np.abs(theta)


@pytest.mark.parametrize(
    "make",
    [
        lambda: with_data(takes_no_generator),
        lambda: with_data(gives_text),
        lambda: with_data(distance=array_distance),
        lambda: aptmc.Abc.early(early_array, PRIOR),
        lambda: aptmc.Abc.early(early_array, PRIOR, on_error="reject"),
        lambda: aptmc.Abc.early(simulated_distance, PRIOR, counts_work=True),
    ],
    ids=["arguments", "text", "distance", "early", "early, reject", "no work"],
)
def test_compiled_functions_that_do_not_fit_are_refused_by_name(make) -> None:
    problem = make()
    with pytest.raises(aptmc.InputError, match=r"^simulate.* cannot be compiled together"):
        sample(problem)
    with pytest.raises(aptmc.InputError, match=r"^simulate.* cannot be compiled together"):
        aptmc.rejection(problem, 1.0, simulations=10, seed=1)


def never(*arguments):
    raise AssertionError("no work must be done")


NEVER = aptmc.Abc.early(never, PRIOR)
DENSITY = aptmc.Tempered(never, PRIOR)


@pytest.mark.parametrize(
    ("problem", "changes", "message"),
    [
        (NEVER, {"kernel": aptmc.RandomWalk(1.0)}, "RandomWalk needs a density, got a problem of"),
        (
            DENSITY,
            {"ladder": aptmc.Ladder.powers(3), "kernel": aptmc.OneHit(1.0)},
            "OneHit needs a simulator, got a problem of kind Tempered",
        ),
        (
            NEVER,
            {"ladder": aptmc.Ladder.powers(3)},
            "kind Abc needs a ladder of tolerances, got Ladder.powers(",
        ),
        (
            DENSITY,
            {"kernel": aptmc.RandomWalk(1.0)},
            "kind Tempered needs a ladder of powers, got Ladder.tolerances([0.8, 2.0, inf])",
        ),
        (
            NEVER,
            {"kernel": aptmc.OneHit(1.0, cap=[5, 6])},
            "cap must have one entry for each of 3 rungs, got [5, 6]",
        ),
        (NEVER, {"kernel": aptmc.OneHit(1.0, cap=[])}, "for each of 3 rungs, got []"),
        (NEVER, {"kernel": aptmc.OneHit(0.0)}, "scale must be positive, got 0.0"),
        (NEVER, {"kernel": aptmc.OneHit([1.0, 2.0])}, "3 rungs, got shape (2,)"),
        (NEVER, {"kernel": aptmc.OneHit({"x": 1.0})}, "scale must name each of theta, got"),
        *(
            (NEVER, {"kernel": aptmc.OneHit(1.0, truncate=wrong)}, f"got {wrong!r}")
            for wrong in (
                (1.0, 0.0),
                (1.0, 1.0),
                (0.0, math.nan),
                (0.0,),
                (0.0, 1.0, 2.0),
                ([0.0, 0.0], [1.0, 1.0]),
                ("low", "high"),
                None,
                0,
                1.0,
                "support",
            )
        ),
    ],
)
def test_parts_that_do_not_fit_together_are_refused_before_any_work(
    problem, changes, message: str
) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        sample(problem, **changes)
    assert message in str(refusal.value)


@pytest.mark.parametrize("cap", [0, -1, 1.5, True, "many", [5, 0], [5, None, 1.5], math.inf])
def test_a_wrong_cap_is_refused(cap) -> None:
    with pytest.raises(aptmc.InputError, match="cap must be a whole number from 1 on") as refusal:
        aptmc.OneHit(1.0, cap=cap)
    wrong = cap[-1] if isinstance(cap, list | str) else cap
    assert repr(wrong) in str(refusal.value) or repr(cap[0]) in str(refusal.value)


@pytest.mark.parametrize("truncate", [True, (0.0, 1.0)])
def test_truncation_with_a_covariance_is_refused(truncate) -> None:
    with pytest.raises(aptmc.InputError, match="truncate works with scale only"):
        aptmc.OneHit(covariance=[[1.0]], truncate=truncate)


def test_a_kernel_needs_a_scale() -> None:
    with pytest.raises(aptmc.InputError, match="OneHit needs either scale or covariance"):
        aptmc.OneHit()
    with pytest.raises(aptmc.InputError, match="OneHit needs either scale or covariance"):
        aptmc.OneHit(1.0, covariance=[[1.0]])


# --- all ways to write a problem agree ------------------------------------------------------------


def counted_work(theta, rng, tolerance):
    x = theta[0] + rng.standard_normal(3)
    away = max(abs(x[0] - 3.0), abs(x[1] - 2.0), abs(x[2] - 4.0))
    return away, 1.0 + 0.5 * abs(theta[0])


@njit
def counts(theta, rng):
    """Integers: differences of them would wrap around if they were not made numbers first."""
    data = np.empty(2, np.uint8)
    data[0] = int(10.0 + theta[0] + rng.standard_normal())
    data[1] = int(12.0 + theta[0] + rng.standard_normal())
    return data


@njit
def difference_and_sum(data):
    return np.array([data[0] - data[1], 100.0 * (data[0] + data[1])])


@njit
def scalar(theta, rng):
    return theta[0] + rng.standard_normal()


@njit
def mean(data):
    return data.mean()


@njit
def pair(theta, rng):
    return theta[0] + rng.standard_normal(), theta[0] + rng.standard_normal(), 4.0


@njit
def table(theta, rng):
    return theta[0] + rng.standard_normal((2, 3))


@njit
def whole_distance(simulated, observed):
    return int(10.0 * np.abs(simulated - observed).max())


PAIRS = {
    "data": (COMPILED, with_data(plain=True)),
    "summary, kept": tuple(
        with_data(summary=mean_and_range, keep_simulated=True, plain=plain)
        for plain in (False, True)
    ),
    "early": (
        aptmc.Abc.early(or_infinity, PRIOR),
        aptmc.Abc.early(or_infinity.py_func, PRIOR),
    ),
    "counted work": (
        aptmc.Abc.early(njit(counted_work), PRIOR, counts_work=True),
        aptmc.Abc.early(counted_work, PRIOR, counts_work=True),
    ),
    "integers": tuple(
        with_data(
            counts,
            observed=[13, 15],
            summary=difference_and_sum,
            distance=njit(lambda mine, yours: 0.005 * np.abs(mine - yours).sum()),
            keep_simulated=True,
            plain=plain,
        )
        for plain in (False, True)
    ),
    "scalar": tuple(
        with_data(scalar, observed=3.0, keep_simulated=True, plain=plain) for plain in (False, True)
    ),
    "tuple, scalar summary": tuple(
        with_data(pair, summary=mean, plain=plain) for plain in (False, True)
    ),
    "table, whole distance": tuple(
        with_data(
            table,
            observed=[[1, 2, 3], [2, 3, 1]],
            distance=whole_distance,
            keep_simulated=True,
            plain=plain,
        )
        for plain in (False, True)
    ),
}
KEPT = with_data(keep_simulated=True, plain=True)


@pytest.mark.parametrize("kind", PAIRS)
def test_compiled_and_plain_runs_are_the_same_bit_for_bit(kind: str) -> None:
    compiled, plain = PAIRS[kind]
    assert compiled.is_compiled
    assert not plain.is_compiled
    changes = {}
    if kind == "table, whole distance":
        changes["ladder"] = aptmc.Ladder.tolerances([20.0, 40.0, math.inf])
    runs = [sample(problem, **changes) for problem in (compiled, plain)]
    assert runs[0].stopped is StopReason.BUDGET_SPENT
    assert_same(*runs)


def test_counted_work_is_the_hold_time() -> None:
    run = sample(PAIRS["counted work"][0])
    other = sample(COMPILED)
    # The same moves, at another pace.
    for mine, yours in zip(run.chains(0), other.chains(0), strict=True):
        assert mine.time.size != yours.time.size


@pytest.mark.parametrize("function", [simulated_distance, or_infinity])
def test_data_and_early_problems_agree_bit_for_bit(function) -> None:
    """Whatever the distance of a miss is."""
    assert_same(sample(COMPILED), sample(aptmc.Abc.early(function.py_func, PRIOR)))


def test_keeping_the_simulations_changes_nothing_else() -> None:
    assert_same(sample(COMPILED), sample(KEPT), slice(0, 3))


@pytest.mark.parametrize(
    "problem",
    [KEPT, *(PAIRS[kind][0] for kind in ("summary, kept", "integers", "scalar"))],
    ids=["data", "summary", "integers", "scalar"],
)
def test_what_is_kept_has_the_distance_that_its_state_says(problem) -> None:
    target, compare = problem.simulator.observed, problem.simulator.distance
    for draws in all_draws(sample(problem)):
        for state in draws.state[-20:]:
            assert compare(state[3:], target) == state[1]


def test_a_simulator_that_stops_early_has_the_same_law() -> None:
    """Independent draws of both, by rejection, and a control with another tolerance."""
    early = aptmc.Abc.early(stops_early, PRIOR)
    simulations = 20_000

    def draws(problem, tolerance, seed):
        return aptmc.rejection(problem, tolerance, simulations=simulations, seed=seed)

    whole, part = draws(COMPILED, 1.5, 1), draws(early, 1.5, 2)
    assert whole.distance.size > 500
    for column in ("theta", "distance"):
        both = [
            one.distance if column == "distance" else one.series("theta") for one in (whole, part)
        ]
        assert stats.ks_2samp(*both).pvalue > FALSE_ALARM
    hits = [[one.distance.size, simulations - one.distance.size] for one in (whole, part)]
    assert stats.chi2_contingency(hits).pvalue > FALSE_ALARM
    control = draws(early, 3.0, 3)
    assert stats.ks_2samp(whole.series("theta"), control.series("theta")).pvalue < FALSE_ALARM


# --- functions that change what they are given ----------------------------------------------------


def vandal(theta, rng):
    data = theta[0] + rng.standard_normal(3)
    theta[:] = 1e6
    return data


def vandal_distance(simulated, observed):
    away = np.abs(simulated - observed).max()
    simulated[:] = -1e6
    return away


def vandal_of_data(simulated, observed):
    away = np.abs(simulated - observed).max()
    observed[:] = -1e6
    return away


def vandal_summary(data):
    summary = data.copy()
    data[:] = 1e6
    return summary


def early_vandal(theta, rng, tolerance):
    x = theta[0] + rng.standard_normal(3)
    theta[:] = 1e6
    return max(abs(x[0] - 3.0), abs(x[1] - 2.0), abs(x[2] - 4.0))


VANDALS = {
    "plain": lambda: with_data(vandal, distance=vandal_distance, summary=vandal_summary),
    "compiled": lambda: with_data(
        njit(vandal), distance=njit(vandal_distance), summary=njit(vandal_summary)
    ),
    "plain, kept": lambda: with_data(vandal, distance=vandal_distance, keep_simulated=True),
    "of the data": lambda: with_data(vandal, distance=vandal_of_data),
    "early": lambda: aptmc.Abc.early(early_vandal, PRIOR),
}


@pytest.mark.parametrize("kind", VANDALS)
def test_functions_that_change_their_arguments_do_no_harm(kind: str) -> None:
    assert_same(sample(COMPILED), sample(VANDALS[kind]()), slice(0, 3))


def test_a_simulator_that_keeps_its_arguments_does_no_harm_to_itself() -> None:
    kept = []
    buffer = np.empty(3)

    def keeper(theta, rng):
        kept.append((theta, float(theta[0])))
        buffer[:] = theta[0] + rng.standard_normal(3)
        return buffer  # always the same array

    run = sample(with_data(keeper, distance=distance.py_func, keep_simulated=True), budget=500)
    assert all(theta[0] == value for theta, value in kept)
    whole = sample(KEPT, budget=500)
    for mine, yours in zip(all_draws(run), all_draws(whole), strict=True):
        np.testing.assert_array_equal(mine.state, yours.state)


# --- truncated proposals --------------------------------------------------------------------------


def test_proposals_can_be_truncated_to_the_support_of_the_prior() -> None:
    seen = []

    def watched(theta, rng, tolerance):
        seen.append(theta.tolist())
        return abs(theta[0] - theta[1] + 0.1 * rng.standard_normal())

    prior = aptmc.Prior(a=stats.uniform(0, 1), b=stats.expon(loc=-2))
    kernel = aptmc.OneHit(3.0, truncate=True)
    problem = aptmc.Abc.early(watched, prior)
    tuning = kernel.tuning(problem, aptmc.Ladder.tolerances([1.0]))
    assert tuning[0, 3:7].tolist() == [0.0, -2.0, 1.0, math.inf]
    sample(problem, kernel=kernel, budget=1000)
    thetas = np.array(seen)
    assert (thetas[:, 0] > 0.0).all()
    assert (thetas[:, 0] < 1.0).all()
    assert (thetas[:, 1] > -2.0).all()


def test_no_move_is_lost_to_the_border_of_a_flat_prior() -> None:
    """Truncated proposals under a uniform prior with flat distances are accepted or outweighed."""
    prior = aptmc.Prior(theta=stats.uniform(0, 1))
    problem = aptmc.Abc.early(lambda theta, rng, tolerance: rng.random(), prior)
    plain_rate, truncated_rate = (
        sample(problem, kernel=aptmc.OneHit(2.0, truncate=truncate), budget=1500).acceptance_rates
        for truncate in (False, True)
    )
    assert (truncated_rate[:2] > 2.0 * plain_rate[:2]).all()
