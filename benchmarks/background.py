"""Runs of a given length, however long their start-up takes."""

from __future__ import annotations

import time
from typing import Any

import aptmc
from aptmc import start
from aptmc.problem import Problem

# Far away; but trial moves before the run are given up after a hundredth of it.
LONGEST = "5 min"


def start_sampling(problem: Problem, *, longest: str = LONGEST, **options: Any) -> aptmc.RunHandle:
    """A run in the background whose moves count from now on."""
    handle = start(problem, budget=longest, **options)
    while handle.inspect().run.elapsed == 0.0:
        time.sleep(0.02)
    return handle


def sample_for(seconds: float, problem: Problem, **options: Any) -> aptmc.Run:
    """Sample for so long, start-up not counted."""
    with start_sampling(problem, **options) as handle:
        time.sleep(seconds)
        return handle.stop()


def waiting_ahead(run: aptmc.Run) -> int:
    """How many moves waited at each worker behind the one that it computed."""
    return len(run.in_flight) // run.settings.on.processors - 1
