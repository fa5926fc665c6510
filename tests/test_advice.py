"""Advice: each piece appears when it should, and not when it should not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.diagnostics import summarise
from aptmc.models import normal
from aptmc.result.advice import advise
from aptmc.result.one_advice import Advice
from tests.support.vital_signs import GOOD, GOOD_ABC


def test_a_good_run_needs_no_advice():
    assert advise(GOOD) == advise(GOOD_ABC) == []


def test_a_ladder_that_is_short_or_joins_modes_is_left_as_it_is():
    assert advise(GOOD._replace(modes_seen=1)) == []
    long = {"levels": (1.0, 0.5, 0.3, 0.2, 0.1), "last_rungs": 5}
    for modes in (0, 2, 7):
        assert advise(GOOD._replace(**long, modes_seen=modes, **rates(0.4, 0.5, 0.4, 0.4))) == []
    cold = GOOD._replace(**long, modes_seen=1, is_mostly_cold=True, **rates(0.4, 0.5, 0.4, 0.4))
    assert advise(cold) == []


def rates(*values):
    return {"swap_rates": np.array(values)}


@pytest.mark.parametrize(
    ("changes", "problem", "remedy", "serious"),
    [
        (rates(0.4, np.nan, 0.3), "rungs 1 and 2 never waited", "jitter", True),
        (rates(0.4, 0.09, 0.05), "rungs 1 and 2, 2 and 3 hardly ever swap (5 %", "budget", True),
        (rates(0.8, 0.95, 0.7), "rungs 1 and 2 nearly always swap (95 %", "longer budget", False),
        (
            {"last_rungs": None, **rates(0.8, 0.95, 0.7)},
            "rungs 1 and 2 nearly always swap (95 %",
            "fewer rungs",
            False,
        ),
        (
            {
                "levels": (1.0, 0.5, 0.3, 0.2, 0.1),
                **rates(0.4, 0.5, 0.4, 0.4),
                "modes_seen": 1,
                "last_rungs": 5,
            },
            "none of 5 rungs shows more than one mode",
            "ladder=[1]",
            False,
        ),
        ({"round_trips": 0}, "no state travelled", "longer budget", True),
        ({"round_trips": 0, "is_mostly_cold": True}, "no state travelled", "longer budget", False),
        ({"ends_short_at": 0.25}, "ends at power 0.25", "End it at power 0", False),
        ({"draws": 0, "distinct": 0}, "spent before the first draws", "longer budget", True),
        ({"distinct": 99}, "hardly moves: 10000 draws hold 99 different", "smaller", True),
        ({"effective_draws": 390.0}, "effective size of 390", "Use a longer budget", False),
        ({"effective_draws": 130.0}, "effective size of 130", "3 times as long", False),
        ({"effective_draws": 99.0}, "effective size of 99", "4 times as long", True),
        ({"effective_draws": math.nan}, "effective size of unknown", "longer budget", True),
        ({"r_hat": 1.06}, "do not agree (r-hat 1.06)", "longer budget", False),
        ({"r_hat": math.inf}, "do not agree (r-hat inf)", "longer budget", True),
        ({"last_rungs": 9}, "from 9 to 4 rungs", "longer warm-up", False),
        (rates(0.15, 0.4, 0.5), "from 15 % to 50 %", "longer warm-up", False),
        ({"utilisation": 0.79}, "only 79 % of the time", "steps per move", False),
        ({"utilisation": 0.3, "has_barriers": True}, "only 30 %", "aptmc.Anytime()", False),
        ({"utilisation": 0.3, "others": 0.6}, "about 0.6 processes of others", "fewer w", False),
        ({"utilisation": 0.3, "others": 0.4}, "only 30 %", "steps per move", False),
        # Moves of microseconds are too short, whoever else is there.
        (
            {"utilisation": 0.3, "others": 5.0, "move_length": 1e-5},
            "only 30 % of the time",
            "steps per move",
            False,
        ),
        ({"started_late": 0.34}, "starting up took 34 %", "InProcess()", False),
        # What little came after a long start-up says nothing of idle processors.
        (
            {"started_late": 0.87, "utilisation": 0.05, "moves_each": 199.0},
            "starting up took 87 %",
            "InProcess()",
            False,
        ),
        ({"started_late": 0.9, "budget_is": "time"}, "took 90 % of the time", "InProcess()", False),
        ({"repeats_itself": "your simulator"}, "the same data again", "from a fixed seed", True),
        ({"astray": 0.01}, "1.0% of the trajectories", "EllipticalSlice", False),
        ({"astray": 0.2}, "20.0% of the trajectories", "Use other parameters", True),
        ({"sweeps": 15.9}, "only 15.9 moves in all, the first of them to settle", "longer", False),
    ],
)
def test_each_problem_has_one_remedy(changes, problem, remedy, serious):
    (advice,) = advise(GOOD._replace(**changes))
    assert problem in advice.problem
    assert remedy in advice.remedy
    assert advice.serious is serious


@pytest.mark.parametrize(
    ("changes", "problem", "remedy", "serious"),
    [
        # The rate 0.4 makes 150 draws 375 at the next tolerance, and 0.5 makes these 750.
        ({"effective_draws": 170.0}, "tolerance 0.1 is too tight", "of 0.3 or more", False),
        ({"effective_draws": 150.0}, "tolerance 0.1 is too tight", "of 1 or more", False),
        ({"effective_draws": 50.0}, "effective size of 50", "a larger tolerance", True),
        ({"distinct": 3}, "effective size of 3", "a larger tolerance", True),
        ({"failures": 5001}, "10 % of the simulations failed", "on_error", False),
        ({"failures": 30_000}, "60 % of the simulations failed", "on_error", True),
    ],
)
def test_problems_of_simulations_and_tolerances(changes, problem, remedy, serious):
    (advice,) = advise(GOOD_ABC._replace(**changes))
    assert problem in advice.problem
    assert remedy in advice.remedy
    assert advice.serious is serious


@pytest.mark.parametrize(
    "changes",
    [
        rates(0.1, 0.2, 0.3),
        rates(0.9, 0.8, 0.7),
        {"effective_draws": 400.0, "distinct": 400, "r_hat": 1.05},
        {"r_hat": math.nan},
        {"last_rungs": 6},
        # A ladder that was given may be as uneven as its maker likes.
        {"last_rungs": None, **rates(0.15, 0.4, 0.8)},
        {"utilisation": 0.8, "started_late": 0.33},
        {"utilisation": math.nan},
        {"utilisation": 0.05, "moves_each": 19.9},
        {"others": 5.0},
        # Two rungs are the fewest, and one has neither swaps nor round trips.
        {"levels": (1.0, 0.0), "last_rungs": 2, **rates(0.99)},
        {"levels": (1.0,), "last_rungs": None, "round_trips": 0, **rates()},
    ],
)
def test_what_is_good_enough_is_left_alone(changes):
    assert advise(GOOD._replace(**changes)) == []


def test_barriers_are_named_whatever_else_there_is():
    idle = GOOD._replace(utilisation=0.3, has_barriers=True, others=5.0, moves_each=3.0)
    (advice,) = advise(idle)
    assert "aptmc.Anytime()" in advice.remedy


def test_consequences_are_not_listed_beside_their_cause():
    (advice,) = advise(GOOD._replace(round_trips=0, **rates(0.4, 0.01, 0.5)))
    assert "hardly ever swap" in advice.problem
    (advice,) = advise(GOOD._replace(distinct=1, effective_draws=1.0))
    assert "hardly moves" in advice.problem


def test_serious_things_come_first_and_can_be_told_apart():
    first, second = advise(GOOD._replace(utilisation=0.1, effective_draws=7.0))
    assert (first.serious, second.serious) == (True, False)
    assert str(Advice("it rains", "Take a hat", serious=True)) == "warning: it rains. Take a hat."
    assert str(Advice("it rains", "Take a hat", serious=False)) == "hint: it rains. Take a hat."


def test_long_lists_of_rungs_are_cut():
    signs = GOOD._replace(levels=tuple(np.linspace(1, 0, 8)), last_rungs=None)
    (advice,) = advise(signs._replace(**rates(*[0.02] * 7)))
    assert "rungs 0 and 1, 1 and 2, 2 and 3 and 4 pairs more" in advice.problem


def test_notes_are_printed_under_the_table():
    summary = summarise({"x": np.random.default_rng(1).normal(size=500)}, elapsed=1.0)
    with_notes = type(summary)(summary.rows, summary.elapsed, summary.unit, ("first", "a < b"))
    assert str(with_notes) == f"{summary}\nfirst\na < b"
    assert with_notes._repr_html_() == summary._repr_html_() + "<p>first</p><p>a &lt; b</p>"


# --- from runs --------------------------------------------------------------------------------


@njit
def log_likelihood(theta):
    return -0.5 * (theta[0] - 1.0) ** 2


@njit
def narrow_log_likelihood(theta):
    return -0.5e6 * (theta[0] - 1.0) ** 2


PROBLEM = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.norm(0, 5)))
NARROW = aptmc.Tempered(narrow_log_likelihood, PROBLEM.prior)


def sample(problem=PROBLEM, **changes):
    settings = {
        "budget": 8000,
        "ladder": aptmc.Ladder.powers([1, 0.2, 0.03, 0]),
        "kernel": aptmc.RandomWalk([2.0, 4.0, 8.0, 1.0]),
        "schedule": aptmc.Anytime(every=4.3, jitter=0.5),
        "on": aptmc.VirtualTime(1),
        "seed": 1,
    }
    return aptmc.sample(problem, **(settings | changes))


def problems(run):
    return " / ".join(advice.problem for advice in run.advice)


def test_a_good_run_prints_its_settings_and_nothing_else():
    run = sample()
    assert run.advice == []
    assert str(run.summary()).splitlines()[-2:] == [
        f"{run.series('x')[0].size:,} draws on 1 chain of the coldest rung in "
        f"{8000 - run.counted_from:,.0f} units of time",
        "4 rungs, power 1 to 0, 1 chain on each, deadlines every 4.3 units of time",
    ]


def test_a_good_run_whose_settings_were_found():
    run = aptmc.sample(PROBLEM, budget=20_000, on=aptmc.VirtualTime(2), seed=3)
    assert run.advice == []
    *_, settings, kernel = str(run.summary()).splitlines()
    assert kernel.startswith("kernel: EllipticalSlice, because")
    rungs, chains = run.settings.ladder.rungs, len(run.chains())
    assert settings.startswith(f"{rungs} rungs, power 1 to 0, {chains} chains on ")


def test_other_settings_are_described_too():
    run = sample(
        schedule=aptmc.Synchronous(moves=2),
        kernel=aptmc.RandomWalk(2.0, steps=10),
        pools=aptmc.Shared(2),
    )
    assert str(run.summary()).splitlines()[3] == (
        "4 rungs, power 1 to 0, 2 chains on each, exchanges after 2 moves of every chain, "
        "10 local steps per move"
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"problem": NARROW}, "2 and 3 hardly ever swap"),
        ({"ladder": aptmc.Ladder.powers(4), "kernel": aptmc.RandomWalk(2.0)}, "nearly always"),
        ({"ladder": aptmc.Ladder.powers([1.0, 0.6, 0.4, 0.2])}, "ends at power 0.2: modes"),
        ({"budget": 30, "pools": aptmc.Shared(2)}, "no state travelled"),
        ({"budget": 1000}, "effective size"),
        ({"kernel": aptmc.RandomWalk([500.0, 4.0, 8.0, 1.0]), "budget": 400}, "hardly moves"),
        ({"budget": 0.5}, "spent before the first draws"),
        ({"on": aptmc.VirtualTime(3), "schedule": aptmc.Synchronous()}, "of the time"),
    ],
)
def test_runs_with_a_problem_say_so(changes, problem):
    run = sample(**changes)
    assert problem in problems(run)
    assert str(run.advice[0]) in str(run.summary())


def test_chains_that_march_in_step_never_meet():
    # All moves take equally long: with two processors it is always rungs 0 and 1 that wait, or
    # rungs 2 and 3.
    run = sample(on=aptmc.VirtualTime(2))
    assert problems(run).startswith("rungs 1 and 2 never waited at the same deadline")
    assert "never waited" not in problems(sample(on=aptmc.VirtualTime(2), pools=aptmc.Shared(2)))


def test_a_tolerance_too_tight_names_a_larger_one():
    problem = aptmc.Abc.early(normal.simulated_distance.py_func, normal.prior())
    run = sample(
        problem,
        ladder=aptmc.Ladder.tolerances([0.02, 0.1, 0.5, 2.0, np.inf]),
        kernel=aptmc.OneHit(2.0),
    )
    (advice,) = (advice for advice in run.advice if "tolerance" in advice.problem)
    assert advice.problem.startswith("the tolerance 0.02 is too tight for this budget")
    named = advice.remedy.removeprefix("Use a tolerance of ").split()[0]
    assert float(named) in (0.1, 0.5, 2.0)


def test_simulations_that_fail():
    def simulated_distance(theta, rng, tolerance):
        distance = abs(theta[0] + rng.standard_normal() - 3.0)
        return distance if rng.random() < 0.7 else math.nan

    problem = aptmc.Abc.early(
        simulated_distance, aptmc.Prior(x=stats.norm(0, 2)), on_error="reject"
    )
    run = sample(
        problem,
        ladder=aptmc.Ladder.tolerances([1.0, 2.0, 3.0, np.inf]),
        kernel=aptmc.OneHit(2.0),
    )
    assert "of the simulations failed" in problems(run)


def test_trajectories_that_go_astray_are_told():
    """A density that falls off so steeply on one side that no size of leaps fits both."""

    def log_likelihood(theta):
        return -0.5 * float(theta[0]) ** 2 if theta[0] < 1.0 else -1e6 * float(theta[0] - 1.0)

    def gradient(theta):
        return [-theta[0]]

    def of(function):
        problem = aptmc.Tempered(function, aptmc.Prior(x=stats.norm(0, 3)), gradient=gradient)
        run = aptmc.sample(
            problem,
            budget=4_000,
            kernel=aptmc.Nuts(),
            ladder=aptmc.Ladder.powers([1.0, 0.0]),
            on=aptmc.VirtualTime(1),
            seed=1,
            progress=False,
        )
        return [one for one in run.advice if "went astray" in one.problem], run

    (advice,), run = of(log_likelihood)
    assert run.statistics["divergences"][0] > 0
    assert advice.serious
    assert of(lambda theta: -0.5 * float(theta[0]) ** 2)[0] == []
