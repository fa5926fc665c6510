"""The soak, for a minute: a run that everything happens to, and of which nothing comes."""

from __future__ import annotations

import math
from contextlib import nullcontext

import pytest

from experiments import killed_workers, soak


@pytest.mark.validation
def test_nothing_comes_of_it(tmp_path, validation_scale):
    seconds = max(600.0 * validation_scale, 30.0)
    assert soak.soak(tmp_path / "run.zarr", seconds, every=4.0, suspended=2.0, seed=1)


def test_a_call_that_returns_late_is_noticed(tmp_path):
    store = tmp_path / "run.zarr"
    assert soak.lateness(store, math.inf) == -math.inf  # nobody has noted anything
    with soak.timed(store, -5.0):  # a budget that was over five seconds ago
        pass
    late = soak.lateness(store, math.inf)
    assert late > 5.0 > soak.LATEST
    assert soak.lateness(store, 0.25) == 0.25  # it went on after a suspension then
    with soak.timed(store, 1000.0):
        pass
    assert soak.lateness(store, math.inf) < 0.0


@pytest.mark.validation
@pytest.mark.parametrize("planted", [False, True], ids=["same keys", "fresh keys"])
def test_workers_are_killed(planted, monkeypatch):
    """The experiment works, in its short form: until a few were killed, however long that takes."""
    monkeypatch.setattr(killed_workers.local_workforce, "MOST_DEATHS", 1_000_000)
    with killed_workers.fresh_keys() if planted else nullcontext():
        found = killed_workers.killed_run(1, 600.0, per_second=4.0, most_kills=4)
    assert found.kills == 4
    assert found.moves > 0
    assert 0.0 <= found.weight <= 1.0


@pytest.mark.validation(shortest=0.1)
def test_killed_workers_do_not_bias(validation_scale):
    """A few short runs, to see that the experiment works; it says something at full length."""
    runs = max(int(40 * validation_scale), 3)
    weight, moves, kills, _ = killed_workers.killed_runs(runs, 20.0, at_once=3, per_second=1.0)
    assert moves > 50
    assert kills > 3
    assert abs(weight.value - killed_workers.TRUTH) < 6.0 * max(weight.error, 0.03)
