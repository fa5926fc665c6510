"""From plain Python to compiled code in the middle of a run: nobody can tell from the draws."""

from __future__ import annotations

import signal
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.backends import InProcess, VirtualTime
from aptmc.clock import ManualClock
from aptmc.session import standing_by
from aptmc.session.build import goes_ahead
from aptmc.session.compilation import Aside, Compilation
from aptmc.session.control import Control
from aptmc.targets import interpreted
from tests.support import targets
from tests.support.sessions import all_draws, make_session, same
from tests.support.settings import given
from tests.support.stores import rows

NEVER = 10**9
TEMPERED = aptmc.Power(targets.log_density.py_func, start=lambda rng: rng.standard_normal())


def few_distances(theta, rng, tolerance):
    """Of which many are equal."""
    return int(4.0 * abs(theta[0] + rng.standard_normal())) / 4.0


ABC = aptmc.Abc.early(few_distances, aptmc.Prior(x=stats.norm(0, 2)))
POWERS, TOLERANCES = aptmc.Ladder.powers(6), aptmc.Ladder.tolerances([0.5, 1.0, 2.0, 4.0, 8.0])


class Own(aptmc.Rule):
    """A rule of one's own, with a setting, which reaches the coordinator as a pointer."""

    reach: int = 2

    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs, settings):
        if waiting.rung.shape[0] <= settings.reach:
            return 0
        first = int(rng.random() * (waiting.rung.shape[0] - settings.reach))
        pairs[0, 0], pairs[0, 1] = first, first + settings.reach
        return 1


class OwnTimes(aptmc.Schedule):
    """A schedule of one's own."""

    every: float = 2.5

    @staticmethod
    def next_deadline(number, time, sweep_share, rng, settings):
        return time + settings.every * (0.5 + rng.random())


FOLLOWS = aptmc.Anytime(every=3.0, jitter=0.5, follow=True, shortest=0.1)
PARTS = {"within": aptmc.RandomParity(rounds=2)}
SETTINGS = [
    (TEMPERED, POWERS, aptmc.Anytime(every=3.0), aptmc.Shared(2), 4),
    (TEMPERED, POWERS, FOLLOWS, aptmc.Shared(), 3),
    (
        TEMPERED, POWERS, aptmc.Anytime(every=3.0, exchange=aptmc.BetweenPools(), **PARTS),
        aptmc.Partitioned(), 3,
    ),
    (TEMPERED, POWERS, aptmc.Anytime(every=3.0, exchange=aptmc.RungParity()), aptmc.Paired(), 6),
    (TEMPERED, POWERS, aptmc.Anytime(every=3.0, exchange=Own(reach=2)), aptmc.Shared(), 2),
    (TEMPERED, POWERS, OwnTimes(exchange=aptmc.OneRandomPair(rounds=3)), aptmc.Shared(), 2),
    (TEMPERED, POWERS, aptmc.Synchronous(moves=2), aptmc.Shared(), 4),
    (TEMPERED, POWERS, aptmc.Synchronous(within=aptmc.Alternating()), aptmc.Partitioned(), 2),
    (TEMPERED, POWERS, aptmc.Uncorrected(every=3.0), aptmc.Paired(), 6),
    (ABC, TOLERANCES, aptmc.Anytime(every=3.0), aptmc.Shared(4), 3),
    (ABC, TOLERANCES, aptmc.Synchronous(exchange=aptmc.Reassignment()), aptmc.Shared(3), 2),
]  # fmt: skip


class Scripted(Compilation):
    """Done after so many requests."""

    def __init__(self, requests):
        self.left = requests

    def is_done(self):
        self.left -= 1
        return self.left < 0


def played(setting, requests, budget=200.0):
    """All that a run leaves behind, if it changes over after so many requests."""
    problem, ladder, schedule, pools, processors = setting
    kernel = aptmc.OneHit(1.0) if problem is ABC else aptmc.RandomWalk(1.0)
    session, store = make_session(
        schedule, ladder=ladder, pools=pools, processors=processors, problem=problem, kernel=kernel
    )
    script = Scripted(requests)
    session = replace(session, compilation=script)
    VirtualTime(processors, targets.hold.py_func).run(session, budget)
    assert (script.left < 0) == (requests != NEVER)
    counts = [session.record.by_pair, session.record.by_replica, session.machine.chains]
    counts += [session.machine.pools, session.machine.run]
    return (
        all_draws(session, store),
        rows(store.events()),
        [table.tobytes() for table in counts],
        session.record.swaps.sum(),
    )


@pytest.mark.parametrize("setting", SETTINGS)
def test_draws_swaps_and_events_are_the_same_whoever_answers(setting):
    draws, events, counts, swaps = played(setting, 0)
    assert swaps > 10
    for requests in (1, 100, NEVER):
        other_draws, other_events, other_counts, _ = played(setting, requests)
        assert same(draws, other_draws)
        assert events == other_events
        assert counts == other_counts


@pytest.mark.parametrize("setting", [SETTINGS[1], SETTINGS[5], SETTINGS[9]])
def test_an_interpreter_that_draws_once_more_would_be_seen(setting, monkeypatch):
    def wrong(function):
        right = interpreted(function)
        if function.__name__ != "choose_pairs":
            return right

        def draws_once_more(number, waiting, rng, pairs):
            rng.random()
            return right(number, waiting, rng, pairs)

        return draws_once_more

    monkeypatch.setattr(standing_by, "interpreted", wrong)
    expected, _, counts, _ = played(setting, 0)
    found, _, wrong_counts, _ = played(setting, 100)
    assert not same(expected, found)
    assert counts != wrong_counts


def test_a_whole_run_changes_over_across_its_phases(monkeypatch):
    """With a warm-up, whose rounds have coordinators of their own."""

    def sampled(requests):
        """Draws by rung, when each coordinator was made, and how often was asked until the end."""
        script, began = Scripted(requests), []

        def compilation_for(*_):
            began.append(requests - script.left)
            return script

        monkeypatch.setattr("aptmc.session.build.compilation_for", compilation_for)
        run = aptmc.sample(
            TEMPERED, budget=2000.0, on=VirtualTime(2, targets.hold.py_func), keep="all", seed=1
        )
        draws = [run.series("x", rung=rung) for rung in range(run.settings.ladder.rungs)]
        return draws, began, requests - script.left

    expected, began, asked = sampled(NEVER)
    assert len(began) > 3  # rounds of the warm-up, and the sampling
    in_a_round, while_sampling = (began[-2] + began[-1]) // 2, (began[-1] + asked) // 2
    assert began[-2] < in_a_round < began[-1] < while_sampling < asked
    for requests in (0, in_a_round, while_sampling):
        draws, _, asked_now = sampled(requests)
        assert requests < asked_now  # it has changed over
        assert asked_now <= asked  # who has changed over asks no more
        for mine, theirs in zip(draws, expected, strict=True):
            assert same(mine, theirs)


# --- who notices, and what may come between -------------------------------------------------------


def test_one_looks_for_compiled_functions_ten_times_a_second_at_most(monkeypatch):
    clock, asked = ManualClock(step=0.03), []

    class Process:
        def has_ended(self):
            asked.append(clock._time)
            return len(asked) == 3

    monkeypatch.setenv("APTMC_COMPILE", "aside")
    monkeypatch.setattr("aptmc.session.compilation.compiling", lambda functions, **_: Process())
    monkeypatch.setattr("aptmc.session.compilation._is_there", lambda function: False)
    monkeypatch.setattr("aptmc.compiled.AtFirstUse.load", lambda _: len(asked) == 3)
    compilation = Aside([standing_by.stand_by_to_answer], clock=clock)
    answers = [compilation.is_done() for _ in range(20)]
    assert answers.count(True) > 0
    assert answers == sorted(answers)
    assert min(np.diff(asked)) >= 0.1


def test_it_may_begin_later_and_is_not_waited_for_if_it_is_there_by_then(monkeypatch):
    clock, started, is_there = ManualClock(step=0.05), [], []

    class Process:
        def has_ended(self):
            return False

    monkeypatch.setenv("APTMC_COMPILE", "aside")
    monkeypatch.setattr(
        "aptmc.session.compilation.compiling",
        lambda functions, **_: started.append(clock._time) or Process(),
    )
    monkeypatch.setattr("aptmc.session.compilation._is_there", lambda function: False)
    monkeypatch.setattr("aptmc.compiled.AtFirstUse.load", lambda _: bool(is_there))
    begun, compilation = (
        clock._time,
        Aside([standing_by.stand_by_to_answer], clock=clock, after=1.0),
    )
    assert not any(compilation.is_done() for _ in range(40))
    (at,) = started
    assert 1.0 <= at - begun <= 1.3
    # What somebody else has compiled meanwhile is there at once.
    other = Aside([standing_by.stand_by_to_answer], clock=clock, after=1.0)
    assert not other.is_done()
    is_there.append(True)
    assert [other.is_done() for _ in range(4)][-1]


def test_if_compiling_fails_one_does_not_look_again(monkeypatch):
    class Failed:
        def has_ended(self):
            return True

    loads, started = [], []
    monkeypatch.setenv("APTMC_COMPILE", "aside")
    monkeypatch.setattr(
        "aptmc.session.compilation.compiling", lambda names, **_: started.append(names) or Failed()
    )
    monkeypatch.setattr("aptmc.session.compilation._is_there", lambda function: False)
    monkeypatch.setattr("aptmc.compiled.AtFirstUse.load", lambda _: bool(loads.append(1)))
    compilation = Aside([standing_by.stand_by_to_answer], clock=ManualClock(step=1.0))
    assert not any(compilation.is_done() for _ in range(20))
    assert len(started) == 1
    assert len(loads) == 2  # before, and when the process had ended


def test_a_setting_of_never_starts_nothing(monkeypatch):
    monkeypatch.setenv("APTMC_COMPILE", "never")
    monkeypatch.setattr(
        "aptmc.session.compilation.compiling", lambda *_, **__: pytest.fail("started")
    )
    monkeypatch.setattr("aptmc.compiled.AtFirstUse.load", lambda _: False)
    compilation = Aside([standing_by.stand_by_to_answer], clock=ManualClock(step=1.0))
    assert not any(compilation.is_done() for _ in range(5))


@pytest.mark.parametrize("ends", [True, False])
def test_compiled_moves_wait_for_no_process_that_has_failed(monkeypatch, ends):
    """They are too quick for plain Python to keep up with for long."""

    class Failed:
        def has_ended(self):
            return ends

    made = []
    monkeypatch.setenv("APTMC_COMPILE", "aside")
    monkeypatch.setattr("aptmc.session.compilation.compiling", lambda names, **_: Failed())
    monkeypatch.setattr("aptmc.session.compilation._is_there", lambda function: False)
    monkeypatch.setattr("aptmc.compiled.AtFirstUse.load", lambda _: False)
    monkeypatch.setattr("aptmc.compiled.AtFirstUse.make_ready", lambda one: made.append(one))
    function = standing_by.stand_by_to_answer
    compilation = Aside([function], clock=ManualClock(step=1.0), urgent=True)
    answers = [compilation.is_done() for _ in range(5)]
    assert answers == [False] + 4 * [ends]  # while it is at work, plain Python goes on
    assert made == ([function] if ends else [])


def test_only_compiled_moves_on_processes_go_ahead_and_plain_ones_anywhere(monkeypatch):
    powers, kernel = aptmc.Ladder.powers(3), aptmc.RandomWalk(1.0)
    ahead = {
        (when, problem is TEMPERED, type(on).__name__)
        for when in ("aside", "first", "never")
        for problem in (TEMPERED, targets.problem())
        for on in (aptmc.InProcess(), aptmc.Processes(1), aptmc.VirtualTime(1))
        if monkeypatch.setenv("APTMC_COMPILE", when)
        or goes_ahead(given(problem, powers, kernel, aptmc.Anytime(every=1.0), on=on))
    }
    kinds = ("InProcess", "Processes", "VirtualTime")
    assert ahead == {
        ("aside", False, "Processes"),
        *(("aside", True, kind) for kind in kinds),
        *(("never", True, kind) for kind in kinds),
    }


def test_an_interruption_waits_until_an_answer_is_complete():
    """Otherwise a chain could be lost half-way between two states."""
    session, _ = make_session(aptmc.Anytime(every=2.5), problem=TEMPERED)
    log_weight = interpreted(session.functions.log_weight)
    calls = []

    def interrupting(level, value):
        calls.append(1)
        if len(calls) == 98:
            signal.raise_signal(signal.SIGINT)
        return log_weight(level, value)

    functions = session.functions._replace(log_weight=interrupting)
    session = replace(session, compilation=Scripted(NEVER), functions=functions)
    control = Control()
    with control.signals(interrupt=True):
        usage = InProcess(clock=ManualClock(step=1.0)).run(session, 1e6, control)
    assert usage.stopped is aptmc.StopReason.INTERRUPTED
    assert len(calls) > 98
    machine = session.machine
    assert machine.waiting.all()
    assert machine.queued[0] == machine.rung.size
    assert sorted(machine.queue[0].tolist()) == list(range(machine.rung.size))
