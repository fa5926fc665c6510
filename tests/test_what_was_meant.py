"""Calls that are nearly right: they work, or the error says what to write."""

from __future__ import annotations

import os
import traceback
from functools import partial
from typing import Any

import pytest
from scipy import stats

import aptmc
from aptmc.errors import ArgumentError, InputError, MoveFailed, WorkerDied

PRIOR = aptmc.Prior(x=stats.norm(0, 5))


def log_likelihood(theta: Any) -> float:
    return -0.5 * float(theta[0]) ** 2


def simulate(theta: Any, rng: Any) -> Any:
    return theta[0] + rng.standard_normal(3)


PROBLEM = aptmc.Tempered(log_likelihood, PRIOR)
GIVEN: Any = {"kernel": aptmc.RandomWalk(1.0), "schedule": aptmc.Anytime(every=5), "seed": 1}
IN_VIRTUAL_TIME = partial(aptmc.sample, PROBLEM, budget=100, on=aptmc.VirtualTime(1), **GIVEN)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: aptmc.sample(PROBLEM, buget=1), "no argument 'buget': did you mean budget?"),
        (lambda: aptmc.start(PROBLEM, budgets=1), "no argument 'budgets': did you mean budget?"),
        (lambda: aptmc.resume("run.zarr", PROBLEM, bugdet=1), "did you mean budget?"),
        (lambda: aptmc.sample(PROBLEM), "sample() needs budget: when to stop"),
        (lambda: aptmc.sample(budget=1), "sample() needs problem: what to sample"),
        (lambda: aptmc.sample(PROBLEM, 60), "name the others, sample(problem, budget=...)"),
        (lambda: aptmc.RandomWalk(scal=1.0), "RandomWalk() has no argument 'scal': did you mean"),
        (lambda: aptmc.Anytime(evry=1.0), "did you mean every?"),
        (lambda: aptmc.Tempered(log_likelihood), "Tempered() needs prior"),
        (lambda: aptmc.Abc(simulate, PRIOR, observed=[1.0]), "Abc() needs distance: distance(sim"),
        (lambda: aptmc.Abc.early(simulate, PRIOR, counts=True), "did you mean counts_work?"),
    ],
)
def test_arguments_by_wrong_names_are_named(call: Any, words: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert words in str(caught.value)
    assert isinstance(caught.value, TypeError)  # as Python has it
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: aptmc.Prior({"x": stats.norm()}), "Prior(**marginals)"),
        (lambda: aptmc.Prior(stats.norm()), "name it, as in Prior(rate="),
        (lambda: aptmc.Prior([stats.norm()]), "name each"),
        (lambda: IN_VIRTUAL_TIME(ladder="geometric"), "ladder=aptmc.Ladder.powers([1, 0.5, 0.1])"),
        (lambda: IN_VIRTUAL_TIME(ladder=[0.5, 1]), "put 1 first"),
        (lambda: IN_VIRTUAL_TIME(kernel="gibbs"), "one of the names randomwalk, slice"),
        (lambda: IN_VIRTUAL_TIME(kernel=aptmc.Slice), "call it, kernel=aptmc.Slice(...)"),
        (lambda: IN_VIRTUAL_TIME(pools=2), "pools=aptmc.Shared(2)"),
        (lambda: IN_VIRTUAL_TIME(on="cluster"), "on=aptmc.Processes(4)"),
        (
            lambda: aptmc.Abc(simulate, PRIOR, observed=[1.0], distance="Euclidean"),
            "distance=aptmc.distance.p_norm(2)",
        ),
    ],
)
def test_other_mistakes_come_with_a_remedy(call: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)


def test_a_list_is_a_ladder_of_the_kind_that_the_problem_stands_on() -> None:
    listed = IN_VIRTUAL_TIME(ladder=[1, 0.5, 0.1])
    assert listed.settings.ladder == aptmc.Ladder.powers([1, 0.5, 0.1])
    counted = IN_VIRTUAL_TIME(ladder=4)
    assert counted.settings.ladder == aptmc.Ladder.powers(4)
    simulated = aptmc.sample(
        aptmc.Abc(
            simulate, PRIOR, observed=[1.0, 1.0, 1.0], distance=lambda a, b: abs(a - b).max()
        ),
        budget=100,
        ladder=(2, 5, 9),
        kernel="one-hit",
        on=aptmc.VirtualTime(1),
        seed=1,
    )
    assert simulated.settings.ladder == aptmc.Ladder.tolerances([2, 5, 9])
    assert isinstance(simulated.settings.kernel, aptmc.OneHit)


def test_names_and_numbers_stand_for_what_learns_and_computes() -> None:
    run = IN_VIRTUAL_TIME(ladder=[1, 0.5, 0.1], kernel="Slice", schedule="synchronous")
    assert isinstance(run.settings.kernel, aptmc.Slice)
    assert run.settings.schedule == aptmc.Synchronous()
    with aptmc.start(PROBLEM, budget=60, on=2, ladder=4, **GIVEN) as handle:
        assert handle.stop().settings.on.processors == 2


# --- whose frames are shown ---------------------------------------------------------------------


def fails(theta: Any) -> float:
    return deeper(theta)


def deeper(theta: Any) -> float:
    raise KeyError("boom")


def test_an_exception_shows_the_frames_of_the_user_and_not_ours() -> None:
    with pytest.raises(MoveFailed) as caught:
        aptmc.sample(aptmc.Tempered(fails, PRIOR), budget=10, ladder=[1], on="in-process", seed=1)
    failure = caught.value
    assert failure.__cause__ is not None
    names = [frame.name for frame in traceback.extract_tb(failure.__cause__.__traceback__)]
    assert names == ["fails", "deeper"]
    ours = [one for one in traceback.extract_tb(failure.__traceback__) if "aptmc" in one.filename]
    assert [one.name for one in ours if "/tests/" not in one.filename] == ["checked"]


def dies(theta: Any) -> float:
    os._exit(3)


def simulator_that_dies(theta: Any, rng: Any) -> Any:
    os._exit(3)


def raises(theta: Any, rng: Any) -> Any:
    raise KeyError("boom")


def of_simulator(simulator: Any) -> aptmc.Abc:
    return aptmc.Abc(simulator, PRIOR, observed=[1.0], distance=lambda a, b: 0.0)


@pytest.mark.parametrize(
    ("problem", "same_that_raises"),
    [
        (aptmc.Tempered(dies, PRIOR), aptmc.Tempered(fails, PRIOR)),
        (of_simulator(simulator_that_dies), of_simulator(raises)),
    ],
)
def test_a_worker_that_dies_names_the_parameters(problem: Any, same_that_raises: Any) -> None:
    """They are those that the same move has in another process: of a function that raises."""
    with pytest.raises(WorkerDied) as caught:
        aptmc.sample(problem, budget=60, ladder=[1], on=1, seed=1, progress=False)
    failure = caught.value
    with pytest.raises(MoveFailed) as raised:
        aptmc.sample(same_that_raises, budget=60, ladder=[1], on="in-process", seed=1)
    assert failure.key == raised.value.key
    assert failure.parameters == raised.value.parameters
