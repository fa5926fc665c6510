"""Arguments that are wrong: each is refused early, by name."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import stats

import aptmc
from tests.support.mistakes import PRIOR, RUNGS, Counted, compiled_normal, normal, sample

# --- arguments of sample --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("problem", normal),
        ("problem", compiled_normal),
        ("problem", PRIOR),
        ("problem", aptmc.Power),
        ("ladder", 8.5),
        ("ladder", True),
        ("ladder", None),
        ("kernel", 0.5),
        ("kernel", "automatic"),
        ("ladder", "automatic"),
        ("kernel", aptmc.RandomWalk),
        ("kernel", None),
        ("schedule", 5),
        ("schedule", "sometimes"),
        ("schedule", aptmc.Anytime),
        ("schedule", aptmc.Alternating()),
        ("pools", "private"),
        ("pools", aptmc.Shared),
        ("pools", 2),
        ("on", 0),
        ("on", "clouds"),
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
    words = "must be a function, called as"
    assert f"log_density {words} log_density(theta), got {function!r}" in str(refusal.value)
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.Tempered(function, PRIOR)
    assert f"log_likelihood {words} log_likelihood(theta), got {function!r}" in str(refusal.value)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (None, "None: write aptmc.Prior("),
        (stats.norm(0, 1), "norm(0, 1): write aptmc.Prior("),
        (
            {"x": stats.norm(0, 1)},
            "{'x': norm(0, 1)}: put it between the brackets of one, with two",
        ),
        (aptmc.Prior, f"{aptmc.Prior!r}: write aptmc.Prior("),
    ],
)
def test_what_is_no_prior_is_refused(prior: Any, words: str) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.Tempered(normal, prior)
    assert f"prior must be an aptmc.Prior, got {words}" in str(refusal.value)


@pytest.mark.parametrize(
    ("on", "words"),
    [
        ("dask", "use on=aptmc.Dask(client)"),
        ("Ray", "use on=aptmc.Ray()"),
        (ThreadPoolExecutor(1), "on=aptmc.Futures(executor, workers=4)"),
    ],
)
def test_engines_are_told_by_what_they_are(on: Any, words: str) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.sample(aptmc.Tempered(normal, PRIOR), budget=1, on=on)
    assert words in str(refusal.value)


def test_python_knows_which_name_was_meant() -> None:
    with pytest.raises(AttributeError) as refusal:
        _ = aptmc.Efective
    assert (refusal.value.name, refusal.value.obj) == ("Efective", aptmc)


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
        {"x": [0.0, math.nan]},
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
