"""What a run on worker processes tells those who look at its store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import aptmc
from aptmc.cli.look import Look
from aptmc.sampling import phases
from aptmc.sampling.status import STATUS, read_status
from aptmc.store import being_written
from tests.backends.contract import eventually
from tests.support import seen

PATIENCE = 120.0  # seconds, on a machine that is busy with something else: usually three


def test_a_run_tells_what_its_workers_do_and_takes_the_note_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phases, "EVERY", 0.02)

    store = tmp_path / "run.zarr"
    settings = {
        "ladder": aptmc.Ladder.powers([1, 0.3, 0.1, 0]),
        "kernel": aptmc.RandomWalk(1.5),
        "schedule": aptmc.Anytime(every="50 ms"),
        "on": aptmc.Processes(1, group=1),
        "seed": 1,
    }

    def tells_all() -> bool:
        told = read_status(store)
        return told is not None and bool(told.workers) and None not in told.workers[0]

    problem = seen.problem()
    with aptmc.start(problem, budget=PATIENCE, store=store, progress=False, **settings):
        eventually(tells_all)
        status = read_status(store)
        look = Look(store)
        assert not look.has_ended
        assert being_written(store)
    (worker,) = status.workers
    assert worker.process not in (None, os.getpid())
    assert worker.rung in range(4)
    assert (status.round, status.budget) == (None, PATIENCE)
    assert 0.0 < status.elapsed < PATIENCE
    assert look.live.elapsed > 0.0
    assert look.live.workers[0].process == worker.process
    assert not (store / STATUS).exists()
    assert not being_written(store)
    assert Look(store).last_words == "stopped on request"
