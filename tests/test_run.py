"""`sample` and what it gives back."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.diagnostics import round_trips
from tests.support import targets


@njit
def log_likelihood(theta):
    return -0.5 * (theta[0] - 1.0) ** 2 - 0.5 * (theta[1] + 2.0) ** 2 / 0.25


PROBLEM = aptmc.Tempered(log_likelihood, aptmc.Prior(a=stats.norm(0, 3), b=stats.norm(0, 3)))
NORMAL = targets.problem()


def sample(problem=PROBLEM, **changes):
    settings = {
        "budget": 5000,
        "ladder": aptmc.Ladder.powers([1, 0.3, 0.1, 0]),
        "kernel": aptmc.RandomWalk(scale={"a": 1.5, "b": 1.0}),
        "schedule": aptmc.Anytime(every=4.3),
        "on": aptmc.VirtualTime(workers=2),
        "seed": 1,
    }
    return aptmc.sample(problem, **(settings | changes))


def test_draws_come_in_the_layout_of_arviz():
    run = sample(warmup=500, pools=aptmc.Shared(chains_per_rung=2))
    assert set(run.draws.children) == {
        "posterior",
        "sample_stats",
        "warmup_posterior",
        "warmup_sample_stats",
    }
    posterior = run.draws["posterior"]
    assert set(posterior.data_vars) == {"a", "b"}
    assert posterior["a"].dims == ("chain", "draw")
    assert posterior["a"].shape[0] == 2
    statistics = run.draws["sample_stats"]
    assert {"log_likelihood", "time", "exchanged", "accepted", "replica"} <= set(statistics)
    assert float(run.draws["warmup_sample_stats"]["time"].max()) <= 500
    assert float(statistics["time"].min()) > 500


def test_values_belong_to_the_draws_beside_them():
    run = sample(keep="all")
    for rung in range(4):
        for draws in run.chains(rung):
            expected = [log_likelihood(theta) for theta in draws.state[:200, :2]]
            assert (draws.state[:200, 2] == expected).all()
            assert (np.diff(draws.time) >= 0).all()


def test_the_posterior_is_right():
    run = sample(budget=100_000, warmup=1000)
    summary = run.summary()
    # Precisions add: 1 + 1/9 and 4 + 1/9.
    for name, precision, weighed in (("a", 1 + 1 / 9, 1.0), ("b", 4 + 1 / 9, -8.0)):
        row = summary[name]
        assert abs(row.mean - weighed / precision) < 5 * row.mcse
        # The standard error of a standard deviation is about sd / sqrt(2 ess).
        assert abs(row.sd - precision**-0.5) < 5 * row.sd / np.sqrt(2 * row.ess)
        assert row.r_hat < 1.01


def test_the_same_seed_gives_the_same_run_and_another_seed_another():
    first, again, other = sample(), sample(), sample(seed=2)
    assert (first.series("a")[0] == again.series("a")[0]).all()
    assert first.series("a")[0][:10].tolist() != other.series("a")[0][:10].tolist()


def test_new_settings_need_no_new_compilation():
    compiled = dict(PROBLEM.compiled_moves)
    sample(kernel=aptmc.RandomWalk(0.1, steps=3), ladder=aptmc.Ladder.powers(5))
    assert compiled == PROBLEM.compiled_moves


def test_round_trips_agree_with_the_index_process():
    ladder = aptmc.Ladder.powers([1, 0.5, 0.25])
    run = sample(
        NORMAL,
        ladder=ladder,
        kernel=aptmc.RandomWalk(1.0),
        on=aptmc.VirtualTime(hold=targets.hold),
        keep="all",
    )
    chains = [run.chains(rung)[0] for rung in range(3)]
    times = np.unique(np.concatenate([draws.time for draws in chains]))
    rung_of = np.tile(np.arange(3), (times.size, 1))
    for rung, draws in enumerate(chains):
        last = np.searchsorted(draws.time, times, side="right") - 1
        known = last >= 0
        rung_of[np.flatnonzero(known), draws.replica[last[known]]] = rung
    assert run.round_trips == round_trips(rung_of, hottest=2).sum() > 10


def test_swap_rates_are_those_of_the_recorded_exchanges():
    run = sample(keep="all", warmup=0, on=aptmc.VirtualTime(2, hold=targets.hold))
    attempted = sum(draws.exchanged.sum() for rung in range(4) for draws in run.chains(rung))
    accepted = sum(
        draws.accepted[draws.exchanged].sum() for rung in range(4) for draws in run.chains(rung)
    )
    assert attempted == 2 * run._record.attempts.sum()
    assert accepted == 2 * run._record.swaps.sum()
    assert ((run.swap_rates.neighbours > 0) & (run.swap_rates.neighbours <= 1)).all()


def test_only_what_was_kept_can_be_asked_for():
    run = sample()
    assert len(run.chains(0)) == 1
    with pytest.raises(aptmc.InputError, match='keep="all"'):
        run.chains(1)
    with pytest.raises(aptmc.InputError, match="there are a, b"):
        run.series("c")


def test_a_run_says_what_it_is():
    run = sample()
    assert "the budget was spent" in repr(run)
    assert run.elapsed == 5000
    assert run.utilisation == pytest.approx(1.0)
    assert run.completions == 10_000
    assert "ess/unit" in str(run.summary())


def test_a_run_too_short_for_any_draw_is_still_a_run():
    run = sample(budget=0.5)
    assert run.completions == 0
    assert run.series("a")[0].size == 0
    assert run.draws["posterior"]["a"].shape == (1, 0)
    assert "a" in str(run.summary())


def test_one_rung_is_plain_markov_chain_monte_carlo():
    run = sample(
        ladder=aptmc.Ladder.powers([1]),
        schedule=aptmc.Synchronous(),
        on=aptmc.VirtualTime(),
    )
    assert run.series("a")[0].size == 5000
    assert run.round_trips == 0


def test_unknown_names_are_unknown():
    with pytest.raises(AttributeError, match="no attribute 'sampel'"):
        aptmc.sampel  # noqa: B018
    assert {name for name in dir(aptmc) if hasattr(aptmc, name)} == set(dir(aptmc))
