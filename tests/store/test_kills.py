"""Everything is killed at any moment: the store opens, and the run goes on as if nothing had been.

Moments are counted, not timed, and drawn with a fixed seed (`tests.support.killed`).
"""

from __future__ import annotations

import signal

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import StopReason
from tests.support import simulators
from tests.support.killed import Killer, opened, scenario
from tests.support.statistical import FALSE_ALARM

KILLED = -signal.SIGKILL
BUDGETS = {"virtual": 125_000.0, "warm-up": 40_000.7}  # which end at no completion
# Far enough for several checkpoints and for chunks between them, and not for the whole run.
LAST_MOMENT = 250
MOMENTS_AT_FIRST = 200  # until the files of a new store are there


@pytest.fixture(scope="module")
def killer():
    helper = Killer("virtual")
    yield helper
    helper.close()


@pytest.fixture
def killer_in_warm_up():
    """Another, since it takes long to find out what a warm-up needs."""
    helper = Killer("warm-up")
    yield helper
    helper.close()


def everything(run):
    """All draws of all rungs, and all events, as bytes."""
    rungs = run.settings.ladder.rungs if run._record.wanted.all() else 1
    draws = [draws for rung in range(rungs) for draws in run.chains(rung)]
    return [[column.tobytes() for column in table] for table in [*draws, run.events]]


def uninterrupted(name):
    problem, on, settings = scenario(name)
    return aptmc.sample(problem, budget=BUDGETS[name], on=on, log_events=True, **settings)


def spent(run):
    """Of the budget, warm-up included."""
    return run.elapsed + sum(part.elapsed for part in run.warmup_rounds)


def is_prefix(part, whole):
    return all(
        other.startswith(one)
        for mine, theirs in zip(part, whole, strict=True)
        for one, other in zip(mine, theirs, strict=True)
    )


def killed_and_resumed(killer, name, path, kills, seed):
    """A run that is killed so often, and at last left to end; and what it had come to each time."""
    rng = np.random.default_rng(seed)
    run, came_to = None, []
    for _ in range(kills):
        left, last = BUDGETS[name], MOMENTS_AT_FIRST + LAST_MOMENT
        if run is not None:
            left, last = left - spent(run), LAST_MOMENT
        assert killer.run(name, path, left, int(rng.integers(1, last))) == KILLED
        run = opened(path)
        came_to.append(run)
    assert run is not None
    assert killer.run(name, path, BUDGETS[name] - spent(run)) == 0
    return came_to, aptmc.open(path)


def check_kills(killer, path, kills, seed):
    whole = everything(uninterrupted("virtual"))
    came_to, run = killed_and_resumed(killer, "virtual", path, kills, seed)
    assert run.stopped is StopReason.BUDGET_SPENT
    assert everything(run) == whole
    completions = [0 if before is None else before.completions for before in came_to]
    assert completions == sorted(completions)  # nothing that was there once is ever lost
    assert completions[-1] < run.completions
    assert completions[-1] > 0
    for before in came_to:
        assert before is None or is_prefix(everything(before), whole)


def test_a_run_that_is_killed_six_times_ends_with_the_same_draws(killer, tmp_path):
    check_kills(killer, tmp_path / "run.zarr", kills=6, seed=1)


@pytest.mark.validation
def test_kills_at_three_hundred_moments(killer, tmp_path, validation_scale):
    kills = 30 if validation_scale >= 0.1 else 6
    for seed in range(2, 2 + max(int(10 * validation_scale), 1)):
        check_kills(killer, tmp_path / f"{seed}.zarr", kills=kills, seed=seed)


def test_every_moment_of_a_checkpoint_is_survived(killer, tmp_path):
    """From the first file of a store to its second checkpoint, one moment after the other."""
    path, found = tmp_path / "run.zarr", []
    assert killer.run("virtual", path, 1_000.0) == 0
    before = everything(aptmc.open(path))
    for moment in range(1, 16):
        assert killer.run("virtual", path, 1_000.0, moment) == KILLED
        found.append(everything(aptmc.open(path)))
        assert is_prefix(before, found[-1])
    assert killer.run("virtual", path, 1_000.0) == 0
    assert len(everything(aptmc.open(path))[0][1]) > len(before[0][1])


@pytest.mark.validation(shortest=0.1)
def test_a_kill_in_the_warm_up_changes_nothing_either(killer_in_warm_up, tmp_path):
    whole, path = uninterrupted("warm-up"), tmp_path / "run.zarr"
    came_to, run = killed_and_resumed(killer_in_warm_up, "warm-up", path, 6, seed=1)
    rounds = [0 if before is None else len(before.warmup_rounds) for before in came_to]
    assert rounds == sorted(rounds)
    assert any(0 < count < 10 for count in rounds)
    assert everything(run) == everything(whole)
    assert run.settings.ladder == whole.settings.ladder
    warmed = [mine.chains(warmup=True)[0] for mine in (run, whole)]
    assert [column.tobytes() for column in warmed[0]] == [column.tobytes() for column in warmed[1]]


@pytest.mark.validation
def test_checkpoints_that_are_written_in_place_would_not_survive(killer, tmp_path):
    """The planted error: half of a file stands where the whole one stood."""
    path, outcomes = tmp_path / "run.zarr", []
    assert killer.run("virtual", path, 1_000.0) == 0
    for moment in range(1, 5):
        assert killer.run("virtual", path, 1_000.0, moment, careless=True) == KILLED
        try:
            aptmc.open(path)
        except aptmc.StoreDamaged as error:
            outcomes.append(error.path.name)
            break
    assert len(outcomes) == 1
    assert outcomes[0].startswith("checkpoint")


# --- in real time --------------------------------------------------------------------------------


def check_processes(killer, path, kills, draws):
    rng = np.random.default_rng(1)
    for _ in range(kills):
        assert killer.run("processes", path, 3600.0, int(rng.integers(20, 300))) == KILLED
        opened(path)
    ended = []
    while not ended or sum(draws.time.size for draws in ended[-1].chains()) < draws:
        assert killer.run("processes", path, 3600.0, 1000, signal.SIGTERM) == 0
        ended.append(aptmc.open(path))
    run = ended[-1]
    assert run.stopped is StopReason.TERMINATED
    x = run.summary()["x"]
    # By their effective number, draws are normal with mean 0 and variance 1.
    limit = stats.norm.isf(FALSE_ALARM / 2)
    assert abs(x.mean) < limit / np.sqrt(x.ess)
    values = run.series("x")[0]
    squares = aptmc.diagnostics.effective_sample_size([values**2])
    assert abs(np.mean(values**2) - 1.0) < limit * np.sqrt(2.0 / squares)
    assert aptmc.replay(path, simulators.problem()).is_same


@pytest.mark.validation(shortest=0.1)
def test_a_run_on_two_processors_is_killed_thirty_times(tmp_path, validation_scale):
    helper = Killer()
    kills, draws = max(int(30 * validation_scale), 2), max(int(4_000 * validation_scale), 1_000)
    check_processes(helper, tmp_path / "run.zarr", kills=kills, draws=draws)
    helper.close()
