"""Calls that are nearly right: they work, or the error says what to write."""

from __future__ import annotations

import math
import os
import traceback
from functools import partial
from typing import Any

import numpy as np
import pandas
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
RUN = IN_VIRTUAL_TIME(ladder=3)


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
        (lambda: aptmc.sample(PROBLEM, n_jobs=4), "no argument 'n_jobs': use on=4"),
        (lambda: aptmc.sample(PROBLEM, draws=1000), 'use budget="10 min", or "5000 moves"'),
        (lambda: aptmc.start(PROBLEM, random_seed=1), "use seed=1"),
        (lambda: aptmc.Reassignment(3), "Reassignment() takes nothing without a name"),
        (lambda: aptmc.given(), "given() needs family"),
        (lambda: aptmc.Variable(), "Variable() needs name"),
        (lambda: aptmc.distance.p_norm(p=2), "p_norm() has no argument 'p'"),
        (lambda: aptmc.plan("run.zarr"), "plan() needs workers"),
        (lambda: aptmc.distance.log_supremum(3), "log_supremum() takes nothing, got 1"),
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
        (lambda: IN_VIRTUAL_TIME(kernel=log_likelihood), "kernel=aptmc.OwnMove(function)"),
        (
            lambda: IN_VIRTUAL_TIME(schedule=aptmc.Alternating()),
            "schedule=aptmc.Anytime(exchange=Alternating(rounds=1))",
        ),
        (lambda: IN_VIRTUAL_TIME(ladder=aptmc.Ladder.auto), "call it"),
        (lambda: IN_VIRTUAL_TIME(ladder=10**6), "use 1000 at most"),
        (lambda: IN_VIRTUAL_TIME(ladder=[1]), "1 moving chain for 1 processor, so none"),
        (lambda: IN_VIRTUAL_TIME(progress="no"), "progress must be True or False, got 'no'"),
        (lambda: IN_VIRTUAL_TIME(log_events="no"), "log_events must be True or False, got 'no'"),
        (lambda: aptmc.sample(PROBLEM, budget=60, on=10**6), "for which this process may open"),
        (lambda: aptmc.InProcess(3), "clock must be an aptmc Clock, got 3"),
        (lambda: aptmc.ReversibleJump(3), "sizes must be whole numbers that grow"),
        (lambda: aptmc.Prior(x=stats.gaussian_kde([1.0, 2.0, 4.0])), "stats.rv_histogram"),
        (
            lambda: aptmc.Abc(
                simulate, PRIOR, observed=np.ma.array([1.0], mask=[True]), distance=min
            ),
            "observed must be an array of finite numbers",
        ),
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


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda theta: -(theta**2), "theta is an array, also of one parameter: use theta[0]"),
        (lambda theta: theta["x"], "theta[0] is the first parameter, at x="),
        (lambda theta: theta.x, "theta[0] is the first parameter, at x="),
        (lambda theta: math.exp(theta), "theta[0] is the first parameter, at x="),
        (lambda theta: [1.0][5], "IndexError: list index out of range at x="),
    ],
)
def test_who_takes_theta_for_something_else_is_told_what_it_is(function: Any, words: str) -> None:
    with pytest.raises(MoveFailed) as caught:
        aptmc.sample(
            aptmc.Tempered(function, PRIOR), budget=10, ladder=3, on=aptmc.VirtualTime(1), **GIVEN
        )
    assert words in str(caught.value)


@pytest.mark.parametrize("ladder", [iter([1, 0.5, 0.1]), pandas.Series([1, 0.5, 0.1])])
def test_any_ordered_list_is_a_ladder(ladder: Any) -> None:
    run = IN_VIRTUAL_TIME(ladder=ladder)
    assert run.settings.ladder == aptmc.Ladder.powers([1, 0.5, 0.1])


@pytest.mark.parametrize(
    "distribution",
    [
        stats.rv_discrete(values=([0, 1, 2], [0.2, 0.3, 0.5])),
        stats.rv_histogram(np.histogram([1.0, 2.0, 2.5, 4.0], bins=3)),
    ],
)
def test_distributions_that_have_no_parameters_need_not_be_frozen(distribution: Any) -> None:
    assert aptmc.Prior(x=distribution).draw(np.random.default_rng(1)).shape == (1,)


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


@pytest.mark.parametrize("wrong", [3, True, b"run.zarr", "", "a\0b", "a" * 300, "s3://b/run.zarr"])
def test_what_is_no_path_is_refused(wrong: Any) -> None:
    calls = [
        lambda: IN_VIRTUAL_TIME(store=wrong),
        lambda: aptmc.resume(wrong, PROBLEM, budget=1),
        lambda: aptmc.replay(wrong, PROBLEM),
        lambda: aptmc.open(wrong),
        lambda: RUN.report(wrong),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"^(store|path) (must|cannot) be "):
            call()


def test_a_folder_in_ones_home_can_be_named(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    IN_VIRTUAL_TIME(store="~/run.zarr")
    assert aptmc.open(tmp_path / "run.zarr").stopped.name == "BUDGET_SPENT"
    with pytest.raises(InputError, match="is a folder: name a file in it"):
        RUN.report("~")


@pytest.mark.parametrize("plot", ["marginals", "traces", "pairs", "timeline", "swap_rates"])
def test_plots_and_moves_are_asked_of_a_run(plot: str) -> None:
    with pytest.raises(InputError, match=f"^{plot} takes a run, got DataTree"):
        getattr(aptmc.plots, plot)(RUN.draws)
    with pytest.raises(InputError, match=r"^a move is named by its random key, got None"):
        RUN.rerun(None)  # type: ignore[arg-type]


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
