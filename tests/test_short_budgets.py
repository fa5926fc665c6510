"""A budget that ends before the first draws is a result, and a run goes on in sittings of any size.

In virtual time, and with clocks that are set: what took how long is a matter of the script.
"""

from __future__ import annotations

import json
from argparse import Namespace
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc import plots
from aptmc.backends.early_here import find_states_here
from aptmc.cli.command import FAILED, GOOD
from aptmc.cli.tell_result import tell_result
from aptmc.errors import StopReason
from aptmc.result.no_draws import enough, no_draws
from aptmc.sampling import announced
from aptmc.session.control import Control
from aptmc.session.descent import Descent, DownTo, carry_out
from aptmc.session.early_outcomes import EarlyOutcomes
from aptmc.session.first_states import descent_for, first_states
from aptmc.session.orders import Mover
from aptmc.session.session import Usage
from aptmc.session.start_up import Part, Spent, StartUp, StoppedEarly
from aptmc.settings import ToFind
from aptmc.warmup.guess import ROUNDS, SHARE
from aptmc.warmup.tuner import SETTLING, Tuner
from tests.support import seen
from tests.support.sessions import make_session
from tests.support.virtual_workforce import SetClock

ON = aptmc.VirtualTime(seen.WORKERS, hold=seen.hold)
AUTO = {"ladder": "auto", "kernel": "auto", "schedule": None, "keep": "coldest"}


# --- a run without draws --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def empty() -> aptmc.Run:
    return seen.sample(budget=0.001)


def test_it_says_that_its_budget_was_too_short(empty) -> None:
    assert empty.stopped is StopReason.TOO_SHORT
    assert repr(empty) == (
        "<aptmc.Run: 0 draws on rung 0; the budget was spent before the first draws>"
    )
    text = str(empty.summary())
    # No table of nothing, and no hints at what could be better.
    assert text == "warning: the budget was spent before the first draws. Use a longer budget."
    assert "nan" not in empty.summary()._repr_html_()
    assert seen.sample(budget=100.0).stopped is StopReason.BUDGET_SPENT


def test_draws_that_are_thinned_away_or_belong_to_the_warm_up_are_none() -> None:
    assert seen.sample(budget=20.0, thin=1000).stopped is StopReason.TOO_SHORT
    run = seen.sample(budget=20.0, warmup=19.999)
    assert run.completions > 0
    assert (run.stopped is StopReason.TOO_SHORT) is (run.chains()[0].time.size == 0)


@pytest.mark.parametrize(
    "look",
    [
        lambda run: run.draws["posterior"].sizes["draw"] == 0,
        lambda run: len(run.to_dataframe()) == 0,
        lambda run: run.utilisation >= 0.0,
        lambda run: plots.marginals(run) is not None,
        lambda run: plots.pairs(run) is not None,
        lambda run: plots.autocorrelation(run) is not None,
        lambda run: plots.swap_rates(run) is not None,
        lambda run: plots.index_process(run) is not None,
        lambda run: plots.levels(run) is not None,
    ],
)
def test_one_can_look_at_it_as_at_any_other(empty, look) -> None:
    assert look(empty)


@pytest.mark.parametrize("draw", [plots.timeline, plots.hold_times, plots.utilisation])
def test_what_cannot_be_drawn_is_said(empty, draw) -> None:
    with pytest.raises(aptmc.InputError, match=r"no move was completed.* a longer budget"):
        draw(empty)


def test_a_command_prints_it_and_fails(empty, capsys, tmp_path) -> None:
    page = tmp_path / "report.html"
    assert tell_result(empty, Namespace(json=True, report=page)) == FAILED
    printed = json.loads(capsys.readouterr().out)
    assert printed["stopped"] == "too_short"
    assert page.exists()
    assert tell_result(seen.sample(budget=100.0), Namespace(json=True, report=None)) == GOOD


def test_a_stored_one_can_be_opened_and_gone_on_with(tmp_path) -> None:
    path = seen.stored(tmp_path, budget=0.001)
    assert aptmc.open(path).stopped is StopReason.TOO_SHORT
    again = aptmc.resume(path, seen.problem(), budget=399.999, on=ON, progress=False)
    assert again.stopped is StopReason.BUDGET_SPENT
    whole = seen.sample()
    assert (again.series("a")[0] == whole.series("a")[0]).all()
    # With draws of before, a sitting in which none came is not too short.
    again = aptmc.resume(path, seen.problem(), budget=0.001, on=ON, progress=False)
    assert again.stopped is StopReason.BUDGET_SPENT


# --- what is said of it ---------------------------------------------------------------------------


def test_one_sentence_says_what_took_the_time_and_what_would_be_enough() -> None:
    way = (
        Spent("preparing the run", 0.01),
        Spent("starting the workers", 2.0),
        Spent("compiling the problem", 1.5),
        Spent("finding first states", 4.5, 0.75, "looking for first states: 9 of 16 within 1.5"),
    )
    assert str(no_draws(StopReason.TOO_SHORT, way)) == (
        "warning: the budget was spent before the first draws: starting the workers took 2 s, "
        "compiling the problem 1.5 s and finding first states 4.5 s (9 of 16 within 1.5). "
        "A budget of about 20 s should be enough."
    )
    # All states would have taken 6 s, and draws are to come.
    assert enough(way) == pytest.approx(2 * (0.01 + 2.0 + 1.5 + 6.0))


@pytest.mark.parametrize(
    ("seconds", "budget"), [(0.01, "5"), (1.0, "5"), (3.0, "15"), (40.0, "200"), (300.0, "1500")]
)
def test_of_what_nobody_can_tell_as_much_again_may_come(seconds: float, budget: str) -> None:
    way = (Spent("starting the workers", seconds, None, "starting 2 workers"),)
    advice = no_draws(StopReason.TOO_SHORT, way)
    assert advice.remedy == f"A budget of about {budget} s should be enough"
    assert advice.problem.endswith(f"starting the workers took {seconds:.2g} s")


def test_whoever_stopped_it_is_named() -> None:
    way = (Spent("starting the workers", 1.4), Spent("warming up", 3.3, None))
    assert str(no_draws(StopReason.INTERRUPTED, way)) == (
        "warning: interrupted from the keyboard while warming up, 4.7 s after the call, before the "
        "first draws. Let it go on for longer."
    )
    advice = no_draws(StopReason.INTERRUPTED, ())
    assert advice.problem == "the coldest rung has no draws: interrupted from the keyboard"


def test_the_way_to_the_first_draws_is_timed_part_by_part() -> None:
    clock = SetClock(10.0)
    way = StartUp(clock)
    told = []
    way.hear = lambda part, words: told.append((clock.now(), part, words))
    for part, words, seconds in (
        (Part.SAMPLER, "compiling the sampler", 20.0),
        (Part.WORKERS, "starting 2 workers", 3.0),
        (Part.STATES, "first states: 0 of 8", 2.0),
        (Part.STATES, "first states: 0 of 8", 2.0),  # nobody needs to hear that again
        (Part.STATES, "first states: 6 of 8", 1.0),
    ):
        way.tell(part, words, 6 / 8 if "6 of" in words else None)
        clock.time += seconds
    assert [time for time, *_ in told] == [10.0, 30.0, 33.0, 37.0]
    assert way.seconds_in_part() == 5.0
    assert way.spent() == (
        Spent("preparing the run", 0.0),  # what is compiled once on a machine is not counted
        Spent("starting the workers", 3.0),
        Spent("finding first states", 5.0, 6 / 8, "first states: 6 of 8"),
    )
    way.moves_are = Part.WARMUP
    way.over()
    clock.time += 7.0
    assert way.spent()[-2:] == (
        Spent("finding first states", 5.0),
        Spent("warming up", 7.0, None),
    )


# --- first states in this process -----------------------------------------------------------------


@pytest.mark.parametrize("ends", ["by the clock", "on request"])
def test_a_search_for_first_states_in_this_process_looks_up(ends: str) -> None:
    clock = SetClock()
    control = Control(clock)

    def log_likelihood(theta):
        clock.time += 1.0
        if ends == "on request" and clock.time == 3.0:
            control.stop()
        return 0.0

    prior = aptmc.Prior(x=stats.gumbel_r(0, 1))  # which is not compiled
    problem = aptmc.Tempered(log_likelihood, prior)
    session, _ = make_session(aptmc.Anytime(every=3.0), problem=problem, processors=1)
    session.progress.has_states = False
    clock.time, control.stopped = 0.0, None
    with pytest.raises(StoppedEarly):
        find_states_here(session, control, until=3.0)
    assert clock.time == 3.0
    (*_, last) = control.start_up.spent()
    assert last == Spent("finding first states", 3.0, 3 / 4, "first states: 3 of 4")
    control.stopped = None
    find_states_here(session, control, until=100.0)
    assert not np.isnan(session.machine.states).any()


# --- sittings -------------------------------------------------------------------------------------


def left_in_its_warm_up(path, after: int) -> None:
    """A run that is killed in its warm-up; `after` so many evaluations."""
    calls = []

    def log_likelihood(theta):
        calls.append(theta)
        if len(calls) == after:
            raise KeyboardInterrupt
        return seen.log_likelihood(theta)

    problem = aptmc.Tempered(log_likelihood, seen.problem().prior)
    run = seen.sample(problem, budget=4000.0, store=path, **AUTO)
    assert run.stopped is StopReason.INTERRUPTED


@pytest.mark.parametrize("after", [20, 300], ids=["among first moves", "in a later round"])
def test_a_warm_up_goes_on_in_sittings_of_any_size_and_is_as_long_as_planned(
    after: int, tmp_path
) -> None:
    path = tmp_path / "run.zarr"
    left_in_its_warm_up(path, after)
    sittings, rounds = 0, 0
    while True:
        run = aptmc.resume(path, seen.problem(), budget=90.0, on=ON, progress=False, force=True)
        sittings += 1
        assert len(run.warmup_rounds) > rounds or run.elapsed > 0.0  # each one comes further
        rounds = len(run.warmup_rounds)
        if run.stopped is not StopReason.TOO_SHORT:
            break
        # In the last of these the run begins, and settles, before any draw counts.
        assert (run.elapsed > 0.0) == (run.completions > 0)
        assert sittings < 40
    warmup = sum(part.elapsed for part in run.warmup_rounds)
    assert warmup == pytest.approx((1.0 - SETTLING) * SHARE * 4000.0, rel=0.02)
    assert rounds > ROUNDS
    assert run.stopped is StopReason.BUDGET_SPENT
    assert sum(draws.time.size for draws in run.chains()) > 0
    # Draws of all parts of the warm-up are kept.
    times = np.concatenate([draws.time for draws in run.chains(warmup=True)])
    assert (np.histogram(times, np.linspace(0.0, warmup, 11))[0] > 0).all()
    assert times.max() <= warmup


def tuner(length: float | None = None) -> Tuner:
    settings = seen.sample(budget=100.0).settings
    return Tuner(settings.found(to_find=ToFind(deadlines=aptmc.Anytime(), length=length)))


def test_a_plan_for_seconds_is_no_plan_for_an_hour() -> None:
    plan = tuner().plan
    assert plan.lengths(0.0) == (0.0, 0.0)
    assert plan.memory()["plan"] is None  # nobody knows what the next sitting brings
    assert plan.lengths(4.0) == (1.0, 3.0)
    assert plan.lengths(3600.0) == (900.0, 2700.0)
    assert plan.lengths(8.0) == (900.0, 2700.0)
    assert tuner(length=5.0).plan.lengths(3600.0) == (5.0, 3595.0)


def test_first_states_are_kept_if_there_was_no_time_for_more() -> None:
    """Each move takes longer than the rest of the sitting."""
    found = tuner()
    session = found.session()
    session.begin()
    left = iter([10.0, 10.0, 0.0, 0.0])
    engine = SimpleNamespace(
        unit="",
        left=lambda: next(left, 0.0),
        run=lambda session, budget: Usage(StopReason.BUDGET_SPENT, 0.0, np.zeros(2)),
    )
    warmup = found.run(engine, session, lambda draws: False)
    assert warmup.stopped is StopReason.BUDGET_SPENT
    assert (found.epoch, found.number, found.in_round) == (0, 0, 0.0)
    again = found.session()
    assert again.progress.has_states
    rows = {tuple(row) for row in session.machine.states}
    assert {tuple(row) for row in again.machine.states} <= rows


# --- first states, in sittings --------------------------------------------------------------------


def simulated_distance(theta, rng, tolerance):
    return abs(theta[0] + rng.standard_normal())


SCOUTED = aptmc.Abc.early(simulated_distance, aptmc.Prior(x=stats.norm(0, 30)))
TOLERANCES = aptmc.Ladder.tolerances([0.5, 3.0, 20.0])
KERNEL = aptmc.OneHit(5.0)


DENSITY = aptmc.Tempered(lambda theta: -(theta[0] ** 2), SCOUTED.prior)
POWERS, WALK = aptmc.Ladder.powers([1.0, 0.5, 0.0]), aptmc.RandomWalk(1.0)


def started(early: EarlyOutcomes, most: int | None = None) -> tuple[np.ndarray | None, int]:
    """First states, and how many of them were found here; None if `most` were not enough."""
    mover, count = Mover(DENSITY, WALK, 1), 0

    def compute_all(orders):
        nonlocal count
        outcomes = []
        for order in orders:
            if count == most:
                raise StoppedEarly(list(zip(orders, outcomes, strict=False)))
            count += 1
            outcomes.append(mover.compute(order))
        return outcomes

    layout = aptmc.Shared(10).layout(POWERS, 1)
    try:
        compute = early.remembering(compute_all)
        return first_states(DENSITY, POWERS, WALK, layout, 1, compute), count
    except StoppedEarly:
        return None, count


def test_first_states_are_not_computed_again_by_a_later_sitting() -> None:
    expected, moves = started(EarlyOutcomes())
    early, counted, sittings = EarlyOutcomes(), 0, 0
    states = None
    while states is None:
        states, count = started(early, most=7)
        counted, sittings = counted + count, sittings + 1
        arrays, early = early.arrays(), EarlyOutcomes()
        early.recall(arrays, seed=1)
    assert (states == expected).all()
    assert counted == moves  # none of them twice
    assert sittings > 3


def test_what_was_found_for_other_settings_is_not_taken() -> None:
    early = EarlyOutcomes()
    started(early, most=20)
    other = EarlyOutcomes()
    other.recall(early.arrays(), seed=2)
    _, moves = started(other)
    assert moves == started(EarlyOutcomes())[1]
    arrays = early.arrays()
    arrays["early/tuning"] = arrays["early/tuning"] + 1.0
    other = EarlyOutcomes()
    other.recall(arrays, seed=1)
    assert started(other)[1] == moves


def descended(memory, most: int | None = None) -> tuple[Descent, int]:
    """A descent that goes on with what another knew, and how many moves it made here."""
    mover, count = Mover(SCOUTED, KERNEL, 1), 0

    def compute(order):
        nonlocal count
        if count == most:
            raise StoppedEarly
        count += 1
        return mover.compute(order)

    goal = DownTo(TOLERANCES.levels, SCOUTED.start_simulations)
    descent = descent_for(SCOUTED, TOLERANCES, KERNEL, 1, goal)
    if memory:
        descent.recall(memory)
    with suppress(StoppedEarly):
        carry_out(descent, compute)
    return descent, count


def test_a_descent_goes_on_from_where_an_earlier_sitting_left_it() -> None:
    _, moves = descended({})
    memory, counted, sittings = {}, 0, 0
    while True:
        descent, count = descended(memory, most=20)
        counted, sittings = counted + count, sittings + 1
        if descent.is_over:
            break
        memory = descent.memory()
        assert sittings < 100
    assert sittings > 3
    # Moves in flight are made again, and random numbers differ, but nothing is begun anew.
    assert moves / 2 < counted < 2 * moves
    assert descent.simulations >= counted
    keys = [stage.level for stage in descent.stages]
    assert keys == sorted(keys, reverse=True)
    assert descent.has_reached == TOLERANCES.levels[0]


@pytest.mark.parametrize("kernel", ["auto", KERNEL], ids=["warm-up", "all given"])
def test_a_stored_run_keeps_what_its_scouts_have_found(kernel, tmp_path, monkeypatch) -> None:
    """By the clock, in this process; each sitting has time for so many simulations."""
    path, calls = tmp_path / "run.zarr", []
    controls = []

    def simulate(theta, rng, tolerance):
        calls.append(theta[0])
        if len(calls) % 50 == 0:
            controls[-1].stop(StopReason.BUDGET_SPENT)
        return simulated_distance(theta, rng, tolerance)

    make = announced.Control

    def noted():
        controls.append(make())
        return controls[-1]

    monkeypatch.setattr(announced, "Control", noted)
    problem = aptmc.Abc.early(simulate, SCOUTED.prior)
    settings = {
        "ladder": TOLERANCES,
        "kernel": kernel,
        "schedule": aptmc.Anytime(every=1.0),
        "on": aptmc.InProcess(),
        "seed": 1,
        "progress": False,
    }
    run = aptmc.sample(problem, budget="1 h", store=path, **settings)
    assert run.stopped is StopReason.TOO_SHORT
    assert "first states: " not in str(run.summary())
    assert "of 64 within" in str(run.summary())
    # How many simulations a search takes that nobody stops.
    before = len(calls)
    kernel = run.settings.kernel
    goal = DownTo(TOLERANCES.levels, problem.start_simulations)
    descent = descent_for(problem, TOLERANCES, kernel, 1, goal)
    carry_out(descent, Mover(problem, kernel, 1).compute)
    whole = len(calls) - before
    del calls[before:]
    sittings = 1
    while controls[-1].start_up.words != "":
        aptmc.resume(path, problem, budget="1 h", on=settings["on"], progress=False, force=True)
        sittings += 1
        assert sittings < 60
    assert sittings > 2
    assert len(calls) <= 2 * whole + 50  # and moves of the last sitting


# --- where time goes into other things ------------------------------------------------------------


def distance_to_nine(theta, rng, tolerance):
    return abs(theta[0] ** 2 + 0.5 * rng.standard_normal() - 9.0)


NINE = aptmc.Prior(x=stats.uniform(-10, 20))
SQUARE = aptmc.Abc.early(distance_to_nine, NINE)


def starved(monkeypatch, takes: float, distance=distance_to_nine, **settings) -> aptmc.Run:
    """A run of 10 s in this process, on a machine on which a simulation takes so long."""
    clock = SetClock()

    def simulated_distance(theta, rng, tolerance):
        clock.time += takes
        return distance(theta, rng, tolerance)

    monkeypatch.setattr(announced, "Control", lambda: Control(clock))
    problem = aptmc.Abc.early(simulated_distance, NINE, on_error="reject")
    return aptmc.sample(
        problem, budget="10 s", on=aptmc.InProcess(), seed=1, progress=False, **settings
    )


GIVEN = {"ladder": TOLERANCES, "kernel": KERNEL, "schedule": aptmc.Anytime(every=1.0)}


@pytest.mark.parametrize("settings", [{}, GIVEN, {"ladder": TOLERANCES}], ids=["auto", "all", "1"])
@pytest.mark.parametrize("takes", [6.0, 20.0])
def test_a_starved_start_is_a_result_and_says_what_took_the_time(
    settings, takes: float, monkeypatch
) -> None:
    """The plan leaves 4 s for the way to first states; there is one by then, too few to begin."""
    run = starved(monkeypatch, takes, **settings)
    assert run.stopped is StopReason.TOO_SHORT
    (advice,) = run.advice
    assert "finding first states" in advice.problem
    assert f"{1 if takes > 10 else 2} of " in advice.problem or "0 of 64" in advice.problem
    assert "A budget of about" in advice.remedy
    # How far it got is said first, though that is nowhere yet.
    assert not run.reached.is_over
    first, second, *_ = str(run.summary()).splitlines()
    assert first == str(run.reached)
    assert first.startswith("tolerance ∞, the prior itself, on the way down")
    assert ("asked for 0.5, reached by 0 of 3 rungs" in first) is ("ladder" in settings)
    assert second == str(advice)


@pytest.mark.parametrize("settings", [{}, GIVEN, {"ladder": TOLERANCES}], ids=["auto", "all", "1"])
def test_a_budget_that_ends_on_the_way_down_says_how_far_it_came(
    settings, monkeypatch, tmp_path
) -> None:
    """A simulation takes a twentieth of a second: 200 of them are a population, and some stages."""
    path = tmp_path / "run.zarr"

    def far_away(theta, rng, tolerance):
        return abs(theta[0] - 9.9) + 0.45 * rng.random()

    if not settings:  # where only the budget ends it: somebody stops the run
        settings = {"ladder": aptmc.Ladder.auto(coldest=1e-9)}
        calls = iter(range(10**6))

        def until_stopped(theta, rng, tolerance):
            if next(calls) == 70:
                raise KeyboardInterrupt
            return far_away(theta, rng, tolerance)

        run = starved(monkeypatch, 0.05, until_stopped, store=path, **settings)
        assert run.stopped is StopReason.INTERRUPTED
    else:
        run = starved(monkeypatch, 0.05, far_away, store=path, **settings)
        assert run.stopped is StopReason.TOO_SHORT
        reached = run.reached
        assert (reached.rungs, reached.is_ladder_given) == (3, True)
        assert (
            0 < reached.rungs_reached == sum(level >= reached.level for level in TOLERANCES.levels)
        )
        assert f"asked for 0.5, reached by {reached.rungs_reached} of 3 rungs" in str(reached)
    reached = run.reached
    assert not reached.is_over
    assert reached.simulations > 0
    assert str(run.summary()).startswith(f"{reached}\n")
    assert aptmc.open(path).reached == reached
    assert str(aptmc.open(path).summary()).startswith(f"{reached}\n")


def test_simulations_that_all_fail_are_named_where_time_is_short(monkeypatch) -> None:
    run = starved(monkeypatch, 0.5, lambda *_: 1.0 / 0.0)
    assert run.stopped is StopReason.TOO_SHORT
    (advice,) = run.advice
    assert "20 simulations without a finite distance" in advice.problem
    # Of very many, nobody waits for more.
    with pytest.raises(aptmc.InputError, match=r"all of the first \d+ simulations failed"):
        starved(monkeypatch, 0.01, lambda *_: 1.0 / 0.0)


def test_a_hottest_tolerance_that_the_prior_hardly_reaches_is_named(monkeypatch) -> None:
    ladder = aptmc.Ladder.auto(coldest=1e-9, hottest=1e-7)
    run = starved(monkeypatch, 0.5, ladder=ladder)
    assert run.stopped is StopReason.TOO_SHORT
    assert "within 1e-07, the nearest at " in run.advice[0].problem
    with pytest.raises(aptmc.InputError, match=r"no state within tolerance 1e-07.*use larger"):
        starved(monkeypatch, 0.001, ladder=ladder)


@pytest.mark.parametrize("settings", [{}, GIVEN, {"ladder": TOLERANCES}], ids=["auto", "all", "1"])
def test_a_budget_may_end_anywhere_on_the_way(settings) -> None:
    """With one worker, in virtual time; a simulation takes from a fifth to twice the mean."""
    on = aptmc.VirtualTime(1, hold=lambda theta, rung, rng: rng.uniform(0.2, 2.0))
    stops = []
    for budget in np.geomspace(0.1, 400.0, 30):
        run = aptmc.sample(
            SQUARE, budget=float(budget), on=on, seed=int(10 * budget), progress=False, **settings
        )
        assert str(run.summary())
        stops.append(run.stopped)
    assert stops[0] is StopReason.TOO_SHORT
    assert set(stops) <= {StopReason.TOO_SHORT, StopReason.BUDGET_SPENT}


def test_a_tolerance_is_not_blamed_for_too_few_simulations() -> None:
    problem = aptmc.Abc.early(distance_to_nine, NINE, start_simulations=1)
    with pytest.raises(aptmc.InputError, match=r"^start_simulations=1 are too few"):
        aptmc.sample(problem, budget=1e4, on=aptmc.VirtualTime(2), seed=1, progress=False)
