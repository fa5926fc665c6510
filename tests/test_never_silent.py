"""A likelihood-free run that shows little more than its prior says so, before anything else.

And advice never contradicts what the run has chosen itself.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.diagnostics import summarise
from aptmc.result.advice import advise
from aptmc.result.report import report
from aptmc.session.descent import Reached
from tests.support.vital_signs import GOOD_ABC
from tests.support.wide_prior import ON, PROBLEM, sample

CURVE = tuple((level, 2.0 * math.log(level)) for level in (1.0, 0.7, 0.5, 0.35, 0.25))
REACHED = Reached(None, 0.25, 0.0625, 1000.0, 0, 9.0, 400.0, False, CURVE)
GOOD = GOOD_ABC._replace(
    levels=(0.25, 0.5, 1.0),
    swap_rates=np.array([0.4, 0.5]),
    failures=0,
    last_rungs=3,
    reached=REACHED,
    parameters=3,
)


def reached(**changes):
    return {"reached": REACHED._replace(**changes)}


def test_a_good_run_is_left_alone() -> None:
    assert advise(GOOD) == []
    assert advise(GOOD._replace(**reached(asked=0.25))) == []
    assert advise(GOOD._replace(**reached(prior_share=0.1))) == []
    assert advise(GOOD._replace(reached=None)) == []  # of a store of before


@pytest.mark.parametrize(
    ("changes", "problem", "remedy", "serious"),
    [
        (
            reached(level=0.5, prior_share=0.25),
            "the tolerance 0.5 keeps 25 % of the prior's own simulations",
            "ten times as long should give a tolerance of 0.16 or less",
            True,
        ),
        (
            reached(asked=0.5, level=0.5, prior_share=0.25),
            "the tolerance 0.5 keeps 25 % of the prior's own simulations",
            "Use a smaller tolerance, or leave the choice to the run",
            True,
        ),
        (
            reached(asked=0.1),
            "the tolerance that was asked for, 0.1, was not reached: it is 0.25",
            "6 times as long",
            True,
        ),
        (
            reached(asked=0.1, level=0.5, prior_share=0.25),
            "was not reached: it is 0.5, which keeps 25 % of the prior's own simulations",
            "25 times as long",
            True,
        ),
        (reached(asked=0.001), "0.001, was not reached", "far longer budget", True),
        (
            {"alike": ("a", "b", "c")},
            "the draws cannot be told from the prior's",
            "a distance that tells parameters apart",
            True,
        ),
        (
            {"alike": ("a", "b")},
            "the draws of a, b cannot be told from the prior's",
            "the data, as they are compared, say nothing",
            False,
        ),
        (
            {"alike": ("a", "b", "c"), **reached(level=0.5, prior_share=0.25)},
            "prior's own simulations, and the draws cannot be told from the prior's",
            "longer budget",
            True,
        ),
    ],
)
def test_what_is_said_of_a_tolerance(changes, problem, remedy, serious) -> None:
    (advice,) = advise(GOOD._replace(**changes))
    assert problem in advice.problem
    assert remedy in advice.remedy
    assert advice.serious is serious


CHOSEN = [
    reached(),
    reached(asked=0.1),
    reached(level=0.5, prior_share=0.25),
    reached(effective_draws=2000.0),
]


@pytest.mark.parametrize("changes", CHOSEN)
@pytest.mark.parametrize("effective", [math.nan, 3.0, 90.0, 350.0])
def test_what_the_run_chose_is_never_too_tight(changes, effective) -> None:
    said = advise(GOOD._replace(effective_draws=effective, **changes))
    words = " ".join(map(str, said))
    assert "too tight" not in words
    assert "or more" not in words
    assert "effective size" in words
    assert "longer budget" in words or "times as long" in words
    # The control: where a user has chosen, the words are these.
    by_hand = advise(GOOD._replace(effective_draws=effective, **reached(asked=0.25)))
    assert "too tight for this budget" in str(by_hand[0])


def test_as_many_draws_as_were_asked_for_are_enough() -> None:
    few = reached(effective_draws=50.0)
    assert advise(GOOD._replace(effective_draws=50.0, **few)) == []
    (advice,) = advise(GOOD._replace(effective_draws=40.0, **few))
    assert advice.problem.endswith("effective size of 40, less than the 50 that were asked for")
    assert not advice.serious
    (advice,) = advise(GOOD._replace(effective_draws=12.0, **few))
    assert advice.serious
    (advice,) = advise(GOOD._replace(effective_draws=900.0, **reached(effective_draws=2000.0)))
    assert "less than the 2000 that were asked for" in advice.problem


def test_lines_above_the_table_come_first() -> None:
    summary = summarise({"x": np.random.default_rng(1).normal(size=500)}, elapsed=1.0)
    both = type(summary)(summary.rows, summary.elapsed, summary.unit, ("last",), ("first", "a < b"))
    assert str(both) == f"first\na < b\n{summary}\nlast"
    assert both._repr_html_() == f"<p>first</p><p>a &lt; b</p>{summary._repr_html_()}<p>last</p>"
    assert str(both.without_notes()) == str(summary)


# --- from runs ------------------------------------------------------------------------------------


def lines(run) -> list[str]:
    return str(run.summary()).splitlines()


def test_the_prior_is_not_sold_as_a_posterior() -> None:
    """A simulator of which the budget allows a few dozen."""
    slow = aptmc.VirtualTime(2, hold=lambda theta, rung, rng: 100.0)
    run = sample(on=slow)
    assert run.reached.is_wide
    first, second, *_ = lines(run)
    assert first == str(run.reached)
    assert second.startswith("warning: the tolerance ")
    assert "of the prior's own simulations" in second
    assert "a longer budget" in second
    html = report(run)
    assert html.index("prior&#39;s own simulations") < html.index("<table>")


def test_a_tolerance_that_is_out_of_reach_is_named() -> None:
    run = sample(ladder=aptmc.Ladder.auto(coldest=1e-5), budget=1000)
    assert run.reached.asked == 1e-5
    assert run.settings.ladder.levels[0] == run.reached.level > 1e-5
    there, whole = run.settings.ladder.rungs, run.reached.rungs
    assert whole > there == run.reached.rungs_reached
    assert f"asked for 1e-05, reached by {there} of about {whole} rungs" in lines(run)[0]
    assert str(run.reached)[1:].replace("'", "&#39;") in report(run)  # it begins a sentence
    assert lines(run)[1].startswith(
        "warning: the tolerance that was asked for, 1e-05, was not reached: it is "
    )
    assert "too tight" not in str(run.summary())


def knows_nothing_of_b(theta, rng, tolerance):
    return abs(theta[0] + 0.1 * rng.standard_normal() - 1.0)


TWO = aptmc.Prior(a=stats.norm(0, 3), b=stats.norm(0, 1))


@pytest.mark.validation
def test_a_parameter_that_the_data_do_not_touch_is_named(tmp_path) -> None:
    path = tmp_path / "run.zarr"
    problem = aptmc.Abc.early(knows_nothing_of_b, TWO)
    run = sample(problem, budget=8_000, ladder=aptmc.Ladder.auto(coldest=0.3), store=path)
    (advice,) = [one for one in run.advice if "prior's" in one.problem]
    assert advice.problem == "the draws of b cannot be told from the prior's"
    assert not advice.serious
    # A store knows the prior, too, without the problem.
    assert aptmc.open(path).advice == run.advice


def test_a_distance_that_knows_nothing_of_the_parameters() -> None:
    def noise(theta, rng, tolerance):
        return rng.random()

    run = sample(aptmc.Abc.early(noise, TWO), ladder=aptmc.Ladder.auto(coldest=0.05), seed=4)
    assert run.reached.prior_share < 0.1
    assert lines(run)[1].startswith("warning: the draws cannot be told from the prior's.")


def test_few_draws_that_were_asked_for_are_not_called_few() -> None:
    run = sample(ladder=aptmc.Ladder.auto(effective_draws=50), budget=20_000)
    assert run.reached.effective_draws == 50
    assert "for 50 effective draws" in lines(run)[0]
    assert "too tight" not in str(run.summary())
    effective = min(row.ess for row in run.summary().values())
    assert ("effective size" in str(run.summary())) == (effective < 50)
    assert "400" not in " ".join(str(one) for one in run.advice)


def test_a_problem_with_a_likelihood_may_differ_little_from_its_prior() -> None:
    flat = aptmc.Tempered(lambda theta: 0.0, TWO)
    run = aptmc.sample(flat, budget=4_000, on=ON, seed=1, progress=False)
    assert "prior's" not in str(run.summary())


def test_a_simulator_that_is_sure_is_not_accused() -> None:
    run = sample(ladder=aptmc.Ladder.auto(coldest=0.2), budget=20_000)
    assert "prior's simulations" in lines(run)[0]
    assert not [one for one in run.advice if "prior" in one.problem]
    assert PROBLEM.prior.names == tuple(run.summary())
