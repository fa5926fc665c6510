"""How far down a run came is known to it, wherever it is kept and however it began."""

from __future__ import annotations

import json
import math

import pytest

import aptmc
from aptmc.cli.run_as_json import run_as_json
from aptmc.errors import StopReason
from aptmc.result.report import report
from aptmc.result.tolerance_advice import about_tolerance
from aptmc.sampling import saved_run
from aptmc.session.descent import (
    DownTo,
    Reached,
    carry_out,
    reached_by,
    reached_so_far,
    share_text,
    share_within,
)
from aptmc.session.first_states import descent_for
from aptmc.session.orders import Mover
from aptmc.session.snapshot import snapshot
from tests.support import seen
from tests.support.wide_prior import BY_HAND, ON, PROBLEM, sample, share

# Within a tolerance lies the square of it, so that ten times less of the prior is at a third.
CURVE = tuple((level, 2.0 * math.log(level)) for level in (1.0, 0.7, 0.5, 0.35, 0.25))
CHOSEN = Reached(None, 0.25, 0.0625, 1000.0, 0, 9.0, 400.0, False, CURVE)


# --- what it says ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {},
            "tolerance 0.25, chosen for 400 effective draws: the nearest 6.2 % of the prior's "
            "simulations",
        ),
        (
            {"asked": 0.25},
            "tolerance 0.25, as asked for: the nearest 6.2 % of the prior's simulations",
        ),
        (
            {"asked": 0.1, "given_up": 3},
            "tolerance 0.25, asked for 0.1: the nearest 6.2 % of the prior's simulations; 3 "
            "simulations on the way took far too long and were given up",
        ),
        (
            {"asked": 0.1, "given_up": 1},
            "tolerance 0.25, asked for 0.1: the nearest 6.2 % of the prior's simulations; 1 "
            "simulation on the way took far too long and was given up",
        ),
        (
            {"asked": 0.1, "rungs": 6, "rungs_reached": 4},
            "tolerance 0.25, asked for 0.1, reached by 4 of about 6 rungs: the nearest 6.2 % of "
            "the prior's simulations",
        ),
        (
            {
                "asked": 0.1,
                "rungs": 6,
                "rungs_reached": 2,
                "is_ladder_given": True,
                "is_over": False,
            },
            "tolerance 0.25, on the way down, asked for 0.1, reached by 2 of 6 rungs: the nearest "
            "6.2 % of the prior's simulations",
        ),
        (
            {"effective_draws": None, "is_over": False},
            "tolerance 0.25, on the way down: the nearest 6.2 % of the prior's simulations",
        ),
        (
            {"asked": 0.1, "level": math.inf, "is_over": False, "rungs": 3},
            "tolerance ∞, the prior itself, on the way down, asked for 0.1, reached by 0 of about "
            "3 rungs",
        ),
        (
            {"asked": 0.25, "by_rejection": True, "prior_share": 0.3},
            "tolerance 0.25, as asked for: the nearest 30 % of the prior's simulations, by "
            "rejection, which is cheapest there",
        ),
        ({"asked": math.inf, "level": math.inf}, "tolerance ∞, the prior itself"),
    ],
)
def test_in_words(changes, words) -> None:
    assert str(CHOSEN._replace(**changes)) == words


def test_of_one_distance_for_all_simulations_no_longer_budget_is_the_remedy() -> None:
    wide = CHOSEN._replace(prior_share=1.0)
    (one,) = about_tolerance(wide, ["mean"], 1, only_distance=3.74)
    assert one.serious
    assert "all simulations are as far from the data, 3.74, whatever" in one.problem
    assert "for different parameters" in one.remedy
    # Counts may well have one distance that is the smallest.
    assert list(about_tolerance(CHOSEN, [], 1, only_distance=1.0)) == []
    (other,) = about_tolerance(wide, [], 1)
    assert "longer budget" in other.remedy


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (1.0, "100 %"),
        (0.998, "100 %"),
        (0.0996, "10 %"),
        (0.00412, "0.41 %"),
        (0.00099, "1 in 1,000"),
        (1 / 123_456, "1 in 120,000"),
    ],
)
def test_a_share_of_the_prior_in_words(part, words) -> None:
    assert share_text(part) == words


def test_the_trend_goes_on_below_what_was_seen() -> None:
    assert CHOSEN.steepness == pytest.approx(2.0)
    for level in (0.6, 0.25, 0.1, 0.01):
        assert CHOSEN.share_within(level) == pytest.approx(level**2, rel=0.05)
        assert CHOSEN.tolerance_after((0.25 / level) ** 2) == pytest.approx(level, rel=0.05)
    assert CHOSEN.share_within(7.0) == 1.0
    elsewhere = CHOSEN.at(0.5)
    assert (elsewhere.level, elsewhere.prior_share) == (0.5, pytest.approx(0.25))
    # One tolerance has no trend.
    alone = CHOSEN._replace(curve=CURVE[-1:])
    assert alone.steepness is None


def test_little_is_promised_where_a_share_hardly_falls() -> None:
    """On such a slope ten times as long would be a tolerance 10,000 times smaller."""
    flat = CHOSEN._replace(curve=tuple((level, 0.25 * math.log(level)) for level, _ in CURVE))
    assert flat.steepness == pytest.approx(0.25)
    assert flat.tolerance_after(10.0) == pytest.approx(0.25 / math.sqrt(10.0))
    assert flat.times_to(0.025) == pytest.approx(10.0)
    assert CHOSEN.times_to(0.025) == pytest.approx(100.0, rel=0.05)
    # One tolerance has no trend.
    alone = CHOSEN._replace(curve=CURVE[-1:])
    assert alone.tolerance_after(100.0) == pytest.approx(0.025)
    assert alone.times_to(0.025) == math.inf


def test_of_a_ladder_that_is_not_there_the_missing_rungs_are_told_by_the_trend() -> None:
    """Each rung keeps 40 % of the mass; within a tenth of the tolerance lies a hundredth of it."""
    missed = CHOSEN._replace(asked=0.025).on((0.25, 0.4, 0.6), 0.4)
    assert (missed.rungs, missed.rungs_reached) == (3 + 6, 3)  # 0.4**6 < 1 / 100 < 0.4**5
    later = missed.on((0.05, 0.1, 0.2, 0.4, 0.6), 0.4)
    assert (later.level, later.rungs, later.rungs_reached) == (0.05, 5 + 2, 5)
    assert missed.on((0.025, 0.25), 0.4).is_as_asked
    # What nobody would wait for, or can tell, has no number.
    for far in (missed._replace(asked=1e-30), missed._replace(asked=0.1, curve=CURVE[:1])):
        assert far.on((0.25, 0.4), 0.4).rungs == 0
        assert "rungs" not in str(far.on((0.25, 0.4), 0.4))
    given = CHOSEN._replace(is_ladder_given=True, rungs=2, rungs_reached=2)
    assert given.on((0.25, 0.4), 0.4) == given


@pytest.mark.parametrize("asked", [None, 0.25, math.inf])
def test_a_store_holds_all_of_it_and_what_it_does_not_say_is_not_known(asked) -> None:
    whole = CHOSEN._replace(asked=asked, level=math.inf, by_rejection=True)
    assert Reached.from_notes(json.loads(json.dumps(whole.notes(), allow_nan=False))) == whole
    assert Reached.from_notes(None) is None
    later = whole.notes() | {"of a later version": 1}
    assert Reached.from_notes(later) == whole


def test_a_descent_says_it() -> None:
    ladder, kernel = BY_HAND["ladder"], BY_HAND["kernel"]
    goal = DownTo(ladder.levels, 10_000)
    descent = descent_for(PROBLEM, ladder, kernel, 1, goal)
    carry_out(descent, Mover(PROBLEM, kernel, 1).compute)
    made = reached_by(descent, 0.5, asked=0.1)
    assert made.prior_share == share_within(descent.stages, 0.5)
    assert [level for level, _ in made.curve] == [stage.level for stage in descent.stages]
    assert made.simulations == descent.simulations
    assert not made.is_as_asked
    assert made.is_chosen
    assert reached_by(descent, 1.5, asked=1.5).is_wide
    assert (made.rungs, made.rungs_reached) == (3, 3)
    assert reached_by(descent, 1.0, asked=0.5).rungs_reached == 2


@pytest.mark.parametrize("most", [5, 120, 500])
def test_a_descent_under_way_says_how_far_it_is(most) -> None:
    ladder, kernel = aptmc.Ladder.tolerances([1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0]), BY_HAND["kernel"]
    descent = descent_for(PROBLEM, ladder, kernel, 1, DownTo(ladder.levels, most))
    carry_out(descent, Mover(PROBLEM, kernel, 1).compute)
    made = reached_so_far(descent, asked=1e-4)
    assert not made.is_over
    assert made.level == descent.has_reached > 1e-4
    assert made.rungs == 6
    assert made.rungs_reached == sum(level >= made.level for level in ladder.levels)
    assert (made.rungs_reached == 0) is (most == 5)
    words = f"asked for 0.0001, reached by {made.rungs_reached} of 6 rungs"
    assert words in str(made)
    if most > 5:
        error = descent.out_of_reach(ladder.levels)
        assert f"came down to {made.level:.4g}, {made.rungs_reached} of 6 rungs" in error


# --- of runs --------------------------------------------------------------------------------------

WAYS = {
    "by hand": BY_HAND,
    "by hand, with a warm-up": BY_HAND | {"kernel": "auto"},
    "asked for": {"ladder": aptmc.Ladder.auto(coldest=0.2)},
    "chosen": {},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_likelihood_free_run_knows_how_much_of_the_prior_is_within(way) -> None:
    run = sample(**WAYS[way])
    reached = run.reached
    assert reached.level == run.settings.ladder.levels[0]
    assert reached.asked == {"chosen": None, "asked for": 0.2}.get(way, 0.5)
    assert reached.is_as_asked
    assert reached.is_over
    assert reached.rungs == reached.rungs_reached == run.settings.ladder.rungs
    # Known to a factor: a population of some dozens, halved a few times.
    assert share(reached.level) / 2 < reached.prior_share < 2 * share(reached.level)
    assert reached.simulations > 0
    assert str(run.summary()).startswith(f"{reached}\n")
    assert f"<p>{reached}</p>" in run.summary()._repr_html_().replace("&#x27;", "'")


def test_powers_have_nothing_to_say() -> None:
    run = seen.sample()
    assert run.reached is None
    assert "tolerance" not in str(run.summary())
    assert run_as_json(run)["reached"] is None


@pytest.mark.parametrize("way", ["by hand", "asked for"])
def test_a_stored_run_says_it_too_and_so_does_one_that_goes_on(way, tmp_path) -> None:
    path = tmp_path / "run.zarr"
    run = sample(store=path, **WAYS[way])
    opened = aptmc.open(path)
    assert opened.reached == run.reached
    assert str(opened.summary()).startswith(f"{run.reached}\n")
    again = aptmc.resume(path, PROBLEM, budget=500, on=ON, progress=False)
    assert again.reached == aptmc.open(path).reached == run.reached


def test_a_run_that_was_stopped_in_its_warm_up_says_how_far_it_was(tmp_path) -> None:
    path, calls = tmp_path / "run.zarr", []

    def simulate(theta, rng, tolerance):
        calls.append(tolerance)
        if len(calls) == 4000:
            raise KeyboardInterrupt
        return abs(theta[0] + rng.standard_normal() - 3.0)

    problem = aptmc.Abc.early(simulate, PROBLEM.prior)
    ladder = aptmc.Ladder.auto(coldest=0.2)
    run = sample(problem, ladder=ladder, budget=9_000, store=path)
    assert run.stopped is StopReason.INTERRUPTED
    assert run.warmup_rounds
    assert run.reached.level == 0.2
    assert aptmc.open(path).reached == run.reached
    again = aptmc.resume(path, problem, budget=8_000, on=ON, progress=False, force=True)
    # Later rounds have spaced the ladder anew.
    rungs = again.settings.ladder.rungs
    assert again.reached == run.reached._replace(rungs=rungs, rungs_reached=rungs)
    assert again.stopped is StopReason.BUDGET_SPENT


def test_a_store_of_before_opens_as_before_and_can_be_gone_on_with(tmp_path, monkeypatch) -> None:
    def without_reached(session):
        notes, arrays = snapshot(session)
        del notes["reached"]
        return notes, arrays

    path = tmp_path / "run.zarr"
    with monkeypatch.context() as before:
        before.setattr(saved_run, "snapshot", without_reached)
        before.setattr(saved_run, "to_notes", lambda sketches: None)
        run = sample(store=path, warmup=0, **BY_HAND)
    opened = aptmc.open(path)
    assert opened.reached is None
    first_line = str(opened.summary()).splitlines()[0]
    assert first_line.startswith(("warning: ", " "))
    again = aptmc.resume(path, PROBLEM, budget=500, on=ON, progress=False)
    assert again.reached is None
    assert again.completions > run.completions


def test_reports_and_commands_say_it_first() -> None:
    run = sample(**BY_HAND)
    words = str(run.reached).replace("'", "&#39;")
    words = words[0].upper() + words[1:]
    html = report(run)
    assert html.index("<h1>") < html.index(words) < html.index('class="tiles"')
    said = run_as_json(run)["reached"]
    assert said["tolerance"] == "0.5"
    assert said["asked"] == 0.5
    assert said["prior_share"] == run.reached.prior_share
    assert (said["rungs"], said["rungs_reached"]) == (3, 3)
    assert said["words"] == str(run.reached)
    assert json.dumps(said, allow_nan=False)
