"""What a stored run refuses: other problems, other settings, two writers."""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc import start
from tests.backends.contract import eventually
from tests.support import targets
from tests.support.stores import (
    BUDGET,
    LADDER,
    ON,
    PROBLEM,
    SETTINGS,
    everything,
    in_memory,
    sampled,
)

LATER = 60.0


# --- refusals ------------------------------------------------------------------------------------


def test_an_existing_path_is_refused_before_any_work(path):
    path.mkdir()
    calls = []

    def counted(theta):
        calls.append(theta)
        return 0.0

    with pytest.raises(aptmc.InputError, match=r"is there already.*aptmc\.resume"):
        aptmc.sample(aptmc.Power(counted, {"x": 0.0}), budget=1.0, store=path, **SETTINGS)
    assert len(calls) <= 1  # a problem tries its start
    assert not any(path.iterdir())


def test_a_second_writer_is_refused(path):
    settings = SETTINGS | {"on": aptmc.VirtualTime(1, targets.hold)}
    with start(PROBLEM, budget=1e12, store=path, save_every=0.05, **settings) as handle:
        eventually(path.joinpath("checkpoint-1").exists)
        with pytest.raises(aptmc.InputError, match="being written by another run"):
            aptmc.resume(path, PROBLEM, budget=1.0, on=ON)
        handle.stop()
    aptmc.resume(path, PROBLEM, budget=1.0, on=aptmc.VirtualTime(1, targets.hold))


def test_a_changed_problem_is_refused_with_what_differs(path, monkeypatch):
    def simulated(theta, rng):
        return theta + rng.standard_normal(1)

    def changed(theta, rng):
        return theta + 2.0 * rng.standard_normal(1)

    def problem(simulate=simulated, observed=0.0, keep_simulated=False):
        return aptmc.Abc(
            simulate, aptmc.Prior(x=_normal()), observed=[observed], distance=_distance,
            keep_simulated=keep_simulated,
        )  # fmt: skip

    settings = {
        "ladder": aptmc.Ladder.tolerances([0.5, 1.0, 2.0, np.inf]), "kernel": aptmc.OneHit(1.0),
        "schedule": aptmc.Anytime(every=5.0), "on": aptmc.VirtualTime(1), "seed": 1,
    }  # fmt: skip
    aptmc.sample(problem(), budget=50.0, store=path, **settings)
    with pytest.raises(aptmc.InputError, match="simulate has changed") as caught:
        aptmc.resume(path, problem(changed), budget=1.0, on=settings["on"])
    assert "observed" not in str(caught.value)
    with pytest.raises(aptmc.InputError, match="observed has changed"):
        aptmc.open(path, problem(observed=1.0))
    with pytest.raises(aptmc.InputError, match="simulate has changed"):
        aptmc.replay(path, problem(changed))
    with pytest.raises(aptmc.InputError, match="kind is 'Power', was 'Abc'"):
        aptmc.resume(path, PROBLEM, budget=1.0, on=settings["on"])
    with pytest.raises(aptmc.InputError, match=r"had 3 without simulations \(keep_simulated=False"):
        aptmc.resume(path, problem(keep_simulated=True), budget=1.0, on=settings["on"])
    before = aptmc.open(path).completions
    run = aptmc.resume(path, problem(changed), budget=20.0, on=settings["on"], force=True)
    assert run.completions > before
    with pytest.raises(aptmc.InputError, match="numbers"):  # whatever is forced
        aptmc.resume(
            path, aptmc.Power(targets.log_density, [0.0, 0.0]), budget=1.0, force=True,
            on=settings["on"],
        )  # fmt: skip


def _normal():
    from scipy import stats

    return stats.norm(0, 3)


def _distance(simulated, observed):
    return abs(simulated[0] - observed[0])


def test_virtual_time_has_to_be_given_again(stored):
    with pytest.raises(aptmc.InputError, match=r"VirtualTime\(workers=2\).*on=\.\.\."):
        aptmc.resume(stored, PROBLEM, budget=1.0)


def test_a_problem_has_to_be_given(stored):
    with pytest.raises(aptmc.InputError, match="holds no functions"):
        aptmc.resume(stored, None, budget=1.0, on=ON)


def test_processors_are_as_many_as_before_if_nothing_is_said(path):
    settings = SETTINGS | {"on": aptmc.InProcess()}
    aptmc.sample(PROBLEM, budget="0.1 s", store=path, **settings)
    assert isinstance(aptmc.resume(path, PROBLEM, budget="0.1 s").settings.on, aptmc.InProcess)


def test_more_processors_than_chains_are_refused(stored):
    with pytest.raises(aptmc.InputError, match="processors"):
        aptmc.resume(stored, PROBLEM, budget=1.0, on=aptmc.VirtualTime(4, targets.hold))
    aptmc.resume(stored, PROBLEM, budget=1.0, on=ON)  # nothing is locked any longer


def test_a_store_without_a_log_cannot_be_replayed(path, monkeypatch):
    sampled(path, monkeypatch, log_events=False)
    with pytest.raises(aptmc.InputError, match="no log of events"):
        aptmc.replay(path, PROBLEM)
    whole = in_memory(BUDGET + LATER)
    run = aptmc.resume(path, PROBLEM, budget=LATER, on=ON)
    assert everything(run)[:-1] == everything(whole)[:-1]


# --- rules and kernels of one's own --------------------------------------------------------------


class ColdestTwo(aptmc.Rule):
    """Only ever the first two that wait."""

    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        if waiting.rung.size < 2:
            return 0
        pairs[0, 0], pairs[0, 1] = 0, 1
        return 1


@pytest.mark.parametrize(
    "schedule",
    [aptmc.Anytime(every=4.1, exchange=ColdestTwo()), aptmc.Synchronous(exchange=ColdestTwo())],
    ids=["anytime", "synchronous"],
)
def test_a_rule_of_ones_own_has_to_be_given_again(path, monkeypatch, schedule):
    sampled(path, monkeypatch, schedule=schedule)
    opened = aptmc.open(path)
    assert opened.summary()["x"].ess > 0.0
    with pytest.raises(aptmc.InputError, match=r"of your own.*ColdestTwo.*schedule=\.\.\."):
        aptmc.resume(path, PROBLEM, budget=LATER, on=ON)
    run = aptmc.resume(path, PROBLEM, budget=LATER, on=ON, schedule=schedule)
    assert everything(run) == everything(in_memory(BUDGET + LATER, schedule=schedule))
    assert aptmc.replay(path, PROBLEM, schedule=schedule).is_same


def test_of_a_schedule_only_the_rule_is_taken(path, monkeypatch):
    """What was found in the warm-up, the time between deadlines, stays as it is."""
    schedule = aptmc.Anytime(exchange=ColdestTwo())
    settings = {"ladder": LADDER, "kernel": aptmc.RandomWalk(1.0), "on": ON, "seed": 1}
    aptmc.sample(PROBLEM, budget=3_000.0, schedule=schedule, store=path, **settings)
    found = aptmc.open(path).settings.schedule.every
    run = aptmc.resume(path, PROBLEM, budget=LATER, on=ON, schedule=schedule)
    assert run.settings.schedule.every == found
    assert isinstance(run.settings.schedule.exchange, ColdestTwo)


def test_other_settings_than_the_runs_own_are_refused(stored):
    with pytest.raises(aptmc.InputError, match=r"RandomWalk\(scale=1\.0\), got RandomWalk"):
        aptmc.resume(stored, PROBLEM, budget=1.0, on=ON, kernel=aptmc.RandomWalk(2.0))
    with pytest.raises(aptmc.InputError, match="leave out schedule"):
        aptmc.resume(stored, PROBLEM, budget=1.0, on=ON, schedule=aptmc.Synchronous())
