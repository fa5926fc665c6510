"""Runs that end when there is enough, or after a count, and say why they ended."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.errors import InputError, StopReason
from aptmc.sampling.enough import IN_A_ROW, LATER_BY, Goal, Until, until_from

PRIOR = aptmc.Prior(x=stats.norm(0, 5))


@njit
def log_likelihood(theta: Any) -> float:
    return -0.5 * theta[0] ** 2  # type: ignore[no-any-return]


def plain(theta: Any) -> float:
    return -0.5 * float(theta[0]) ** 2


def simulate(theta: Any, rng: Any) -> Any:
    return theta[0] + rng.standard_normal(2)


PROBLEM = aptmc.Tempered(plain, PRIOR)
SIMULATOR = aptmc.Abc(
    simulate, PRIOR, observed=[1.0, 1.0], distance=lambda a, b: float(abs(a - b).max())
)
GIVEN: Any = {"kernel": aptmc.RandomWalk(2.0), "schedule": aptmc.Anytime(every=5), "seed": 1}
sample = partial(aptmc.sample, PROBLEM, ladder=4, on=aptmc.VirtualTime(1), **GIVEN)


# --- goals --------------------------------------------------------------------------------------


def test_a_run_goes_on_until_there_are_enough_effective_draws() -> None:
    run = sample(budget=1e6, until=aptmc.Effective(100))
    assert run.stopped is StopReason.ENOUGH
    assert str(run.stopped) == "enough was drawn"
    assert run.settings.until == "100 effective draws"
    assert run.summary()["x"].ess >= 100
    # Twice in a row, each look a seventh later than the last: never far too late.
    assert run.elapsed < 20_000
    assert run.completions == pytest.approx(run.elapsed, rel=0.01)


def test_whichever_comes_first_ends_it() -> None:
    run = sample(budget=300, until=aptmc.Effective(400))
    assert run.stopped is StopReason.BUDGET_SPENT
    assert run.elapsed == pytest.approx(300)


def test_in_virtual_time_it_ends_at_the_same_moment_again() -> None:
    both = [sample(budget=1e6, until="60 effective draws, r-hat < 1.1") for _ in range(2)]
    assert both[0].elapsed == both[1].elapsed
    np.testing.assert_array_equal(both[0].series("x")[0], both[1].series("x")[0])
    # As a run of that length is, which looks at nothing.
    whole = sample(budget=both[0].elapsed)
    np.testing.assert_array_equal(whole.series("x")[0], both[0].series("x")[0])


def test_a_few_draws_that_agree_by_chance_are_not_enough() -> None:
    run = sample(budget=20_000, until="r-hat < 1.2")
    assert run.stopped is StopReason.ENOUGH
    assert min(one.size for one in run.series("x")) >= 100


@pytest.mark.validation
def test_by_the_clock_it_ends_before_the_budget_and_goes_on_from_a_store(tmp_path: Any) -> None:
    store = tmp_path / "run.zarr"
    given = {**GIVEN, "schedule": aptmc.Anytime(every="1 ms")}
    run = aptmc.sample(
        PROBLEM, budget=600, ladder=4, on="in-process", until="50 ess", store=store,
        progress=False, **given,
    )  # fmt: skip
    assert run.stopped is StopReason.ENOUGH
    assert run.summary()["x"].ess > 40
    assert aptmc.open(store).stopped is StopReason.ENOUGH
    assert aptmc.replay(store, PROBLEM).is_same
    more = aptmc.resume(
        store, PROBLEM, budget=600, until=aptmc.Effective(100), progress=False, on="in-process"
    )
    assert more.stopped is StopReason.ENOUGH
    assert more.summary()["x"].ess > 80
    assert more.completions > run.completions


def test_a_warm_up_ends_when_a_round_had_enough() -> None:
    found = partial(aptmc.sample, PROBLEM, budget=30_000, on=aptmc.VirtualTime(2), seed=1)
    run = found(until=aptmc.Effective(50), kernel=aptmc.RandomWalk("auto"), ladder=4)
    assert run.stopped is StopReason.ENOUGH
    warmed = sum(part.elapsed for part in run.warmup_rounds)
    assert 0 < warmed < 4000  # of 7,500 without a goal


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("400 effective draws", "400 effective draws"),
        ("ess > 400", "400 effective draws"),
        ("400 ESS and r_hat<=1.01", "400 effective draws and r-hat below 1.01"),
        ([aptmc.RHat(), aptmc.Effective(60)], "r-hat below 1.01 and 60 effective draws"),
        ("5_000 moves", "5,000 moves"),
        (None, ""),
    ],
)
def test_goals_are_said_in_words(said: Any, words: str) -> None:
    assert str(until_from(said)) == words


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sample(budget=10, until="soon"), 'use aptmc.Effective(400), "400 effective'),
        (lambda: sample(budget=10, until=400), "until must be a goal, got 400"),
        (lambda: sample(budget=10, until="100 ess, 50 moves"), 'budget="50 moves"'),
        (lambda: aptmc.Effective(10), "50 or more"),
        (lambda: aptmc.RHat(0.9), "use 1.01"),
        (lambda: sample(budget="5000 steps"), "how many moves, or how many evaluations"),
        (lambda: sample(budget="10 populations"), "how many simulations"),
        (lambda: sample(budget="10 simulations"), "has evaluations and no simulations"),
        (lambda: sample(budget="1000 moves", warmup=10), "leave it out"),
        (
            lambda: aptmc.sample(SIMULATOR, budget="9 moves", on=aptmc.Lanes(2)),
            "does not count 9 moves",
        ),
    ],
)
def test_what_cannot_be_gone_on_until_is_refused(call: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)


# --- counts -------------------------------------------------------------------------------------


def test_moves_are_counted_to_the_last_one() -> None:
    run = sample(budget="700 moves")
    assert run.stopped is StopReason.BUDGET_SPENT
    assert run.completions == 700
    assert run.settings.budget == run.elapsed
    here = aptmc.sample(
        PROBLEM, budget="700 moves", ladder=4, on="in-process", progress=False,
        kernel=aptmc.RandomWalk(2.0), schedule=aptmc.Anytime(every="1 ms"), seed=1,
    )  # fmt: skip
    assert here.completions == 700
    beside = sample(budget=1e6, until="700 moves")
    assert beside.stopped is StopReason.ENOUGH
    assert beside.completions == 700
    np.testing.assert_array_equal(beside.series("x")[0], run.series("x")[0])


def test_a_count_is_that_of_search_warm_up_and_sampling_together() -> None:
    calls = 0

    def counted(theta: Any, rng: Any) -> Any:
        nonlocal calls
        calls += 1
        return simulate(theta, rng)

    problem = aptmc.Abc(
        counted, PRIOR, observed=[1.0, 1.0], distance=lambda a, b: float(abs(a - b).max())
    )
    run = aptmc.sample(problem, budget="6000 simulations", on="in-process", seed=1, progress=False)
    assert run.stopped is StopReason.BUDGET_SPENT
    assert run.summary()["x"].draws > 100
    assert run.warmup_rounds
    assert run.simulations > 2000
    # The last move may be of many simulations; those of the start are counted, too.
    assert 6000 <= calls <= 6300


def test_a_count_beside_a_time_leaves_something_for_the_sampling() -> None:
    run = aptmc.sample(
        SIMULATOR, budget=1e9, until="6000 simulations", on=aptmc.VirtualTime(2), seed=1
    )
    assert run.stopped is StopReason.ENOUGH
    assert run.simulations > 1500


def test_workers_stop_at_a_count_and_it_goes_on_from_there(tmp_path: Any) -> None:
    store = tmp_path / "run.zarr"
    given = {**GIVEN, "schedule": aptmc.Anytime(every="1 ms")}
    run = aptmc.sample(
        PROBLEM, budget="300 moves", ladder=8, on=aptmc.Processes(2, group=1), store=store,
        progress=False, **given,
    )  # fmt: skip
    assert run.completions == 300
    more = aptmc.resume(store, PROBLEM, budget="200 moves", on="in-process", progress=False)
    assert more.completions == 500
    assert aptmc.replay(store, PROBLEM).is_same


# --- looking does no harm -----------------------------------------------------------------------


class Lucky(Goal):
    """The planted error: it looks at the mean, and ends where that is to its liking."""

    def is_reached(self, run: aptmc.Run) -> bool:
        row = run.summary()["x"]
        return row.ess >= 50 and row.mean > 0.0


def scores_at_the_end(goal: Goal, runs: int) -> np.ndarray:
    """How far means were from the truth, 0, in their own standard errors."""
    found = []
    for seed in range(runs):
        run = aptmc.sample(
            aptmc.Tempered(log_likelihood, PRIOR),
            budget=20_000,
            until=goal,
            ladder=4,
            kernel=aptmc.RandomWalk(2.0),
            schedule=aptmc.Anytime(every=5),
            on=aptmc.VirtualTime(1),
            seed=seed,
        )
        found.append(run.summary()["x"].mean / run.summary()["x"].mcse)
    return np.array(found)


@pytest.mark.validation
@pytest.mark.parametrize(("goal", "is_sound"), [(aptmc.Effective(200), True), (Lucky(), False)])
def test_means_are_where_they_were_without_a_goal(goal: Goal, is_sound: bool) -> None:
    """A mean of 100 scores has a standard error of 0.1 if they are as large as they say."""
    scores = scores_at_the_end(goal, 100)
    assert (abs(scores.mean()) < 0.4) == is_sound
    if is_sound:
        assert 0.7 < np.sqrt((scores**2).mean()) < 1.3  # 4 standard errors are 0.28


def test_looks_come_ever_more_seldom() -> None:
    class Never(Goal):
        looks = 0

        def is_reached(self, run: aptmc.Run) -> bool:
            Never.looks += 1
            return False

    until = Until((Never(),))
    sample(budget=2000, until=[Never()])
    assert 20 < Never.looks < 2 + np.log(1e3) / np.log(LATER_BY)
    assert not until.is_reached(None, 1.0)  # type: ignore[arg-type]
    assert until.next_look == LATER_BY
    assert IN_A_ROW == 2
