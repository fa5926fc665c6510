"""A simulator that never ends for a part of the prior, on worker processes, by the clock."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import StopReason

PRIOR = aptmc.Prior(x=stats.uniform(-10, 20))
LADDER = aptmc.Ladder.auto(coldest=0.3)
STUCK = (8.5, 9.5)  # a twentieth of it, and none of the posterior


def normal_or_never(folder: Path, ends: bool):
    """A simulator of 5 ms, which leaves a note of each process that has computed it."""

    def simulate(theta, rng):
        (folder / str(os.getpid())).touch()
        while not ends and STUCK[0] < theta[0] < STUCK[1]:
            time.sleep(1000.0)
        time.sleep(0.005)
        return np.array([theta[0] + 0.2 * rng.standard_normal()])

    return simulate


def is_there(process: str) -> bool:
    return Path("/proc", process).exists()


def sampled(folder: Path, ends: bool) -> aptmc.Run:
    folder.mkdir()
    problem = aptmc.Abc(
        normal_or_never(folder, ends), PRIOR, [0.0], lambda mine, yours: abs(mine[0] - yours[0])
    )
    run = aptmc.sample(
        problem, budget="15 s", ladder=LADDER, on=aptmc.Processes(2), seed=1, progress=False
    )
    assert run.stopped is StopReason.BUDGET_SPENT
    return run


@pytest.mark.validation(shortest=0.1)
def test_it_costs_the_processors_that_are_stuck_some_time_and_nothing_else(tmp_path) -> None:
    usual = sampled(tmp_path / "ends", ends=True)
    run = sampled(tmp_path / "never", ends=False)
    assert usual.reached.given_up == 0
    assert run.reached.given_up > 0
    assert "on the way took far too long and w" in str(run.summary())
    assert 1 / 1.5 < run.reached.level / usual.reached.level < 1.5
    assert run.reached.simulations < 1.5 * usual.reached.simulations
    assert run.completions > usual.completions / 2.0
    # Both processors have moved until the end.
    later = np.concatenate(
        [
            draws.processor[(draws.time > 0.75 * run.elapsed) & ~draws.exchanged]
            for draws in run.chains()
        ]
    )
    shares = np.bincount(later, minlength=2) / later.size
    assert shares.min() > 0.25
    # Those that were given up are gone, and all the others.
    computed = [path.name for path in (tmp_path / "never").iterdir()]
    assert len(computed) >= 2 + run.reached.given_up
    assert not any(map(is_there, computed))
