"""One cell of the table: a task, an observation and a number of simulations."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aptmc
from experiments.sbibm.data import Table, observed, reference_draws
from experiments.sbibm.environment import CACHE, Place
from experiments.sbibm.tasks import TASKS

TEST = Path(__file__).with_name("two_sample_test.py")


class Cell(NamedTuple):
    """What is to be measured."""

    task: str
    simulations: int
    observation: int
    draws: int = 10_000
    seed: int = 1

    @property
    def name(self) -> str:
        """Of its files."""
        return "-".join(map(str, self))

    def path(self, kept: Path = CACHE) -> Path:
        """Where the result is kept."""
        return kept / "cells" / f"{self.name}.json"

    def draws_path(self, kept: Path = CACHE) -> Path:
        """Where draws are kept for a classifier that is elsewhere."""
        return kept / "draws" / f"{self.name}.npz"

    def result(self, kept: Path = CACHE) -> dict[str, Any] | None:
        """What was measured before, if it was."""
        path = self.path(kept)
        if not path.exists():
            return None
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


def measure(cell: Cell, place: Place) -> dict[str, Any]:
    """Sample and compare, and keep what came of it."""
    drawn, found = draws_of(cell, place)
    found = {"accuracy": compared(place.python, drawn)} | found
    path = cell.path(place.kept)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found), encoding="utf-8")
    return found


def keep_draws(cell: Cell, place: Place) -> None:
    """Sample, and keep draws for `many_tests.py`, which writes the result."""
    path = cell.draws_path(place.kept)
    if path.exists():
        return
    try:
        drawn, found = draws_of(cell, place)
    except aptmc.errors.InputError as error:  # of a run that ended before its first draws
        print(cell, error, flush=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Files are to travel, and networks compute with such numbers.
    small: dict[str, Any] = {name: table.astype(np.float32) for name, table in drawn.items()}
    np.savez_compressed(path, found=np.array(json.dumps(found)), **small)


def draws_of(cell: Cell, place: Place) -> tuple[dict[str, Table], dict[str, Any]]:
    """The reference, the support and sets of draws; and what is to be said of the run."""
    folder = place.tasks
    began = time.process_time()
    problem = TASKS[cell.task].problem(observed(folder, cell.task, cell.observation))
    run = sampled(problem, cell)
    took = time.process_time() - began
    reference = reference_draws(folder, cell.task, cell.observation)[: cell.draws]
    sets = sets_of_draws(run, cell.draws, np.random.default_rng(cell.seed))
    found: dict[str, Any] = {
        "tolerance": run.settings.ladder.levels[0],
        "rungs": run.settings.ladder.rungs,
        "effective": float(min(row.ess for row in run.summary().values())),
        "seconds": took,
    }
    return {"reference": reference, "support": np.array(problem.support), **sets}, found


def sampled(problem: aptmc.Abc, cell: Cell) -> aptmc.Run:
    """A run with all defaults. Time is work, and work is simulations: the descent's, too."""
    return aptmc.sample(
        problem,
        budget=cell.simulations,
        on=aptmc.VirtualTime(1),
        seed=cell.seed,
        progress=False,
    )


def sets_of_draws(run: aptmc.Run, count: int, rng: np.random.Generator) -> dict[str, Table]:
    """So many draws as they are, and adjusted, by name."""
    chains, adjusted = run.chains(), run.adjusted()
    plain = np.concatenate([parameters(run, draws.state) for draws in chains])
    moved = np.concatenate([parameters(run, draws.state) for draws in adjusted.chains])
    weights = np.concatenate(adjusted.weights)
    evenly = np.linspace(0, len(plain) - 1, count).astype(int)
    by_weight = rng.choice(len(moved), count, p=weights / weights.sum())
    return {"draws": plain[evenly], "adjusted": moved[by_weight]}


def parameters(run: aptmc.Run, states: Table) -> Table:
    """The parameters of states, as the prior has them."""
    problem = run.settings.problem
    return np.asarray(problem.constrain(states[:, : problem.dimension]))


def compared(python: Path, drawn: dict[str, Table]) -> dict[str, float]:
    """How well a classifier tells each set of draws from the reference."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draws.npz"
        everything: dict[str, Any] = dict(drawn)
        np.savez(path, **everything)
        # One thread: small networks are not faster with several.
        alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        said = subprocess.run(
            [str(python), str(TEST), str(path)], check=True, capture_output=True, env=alone
        )
    found: dict[str, float] = json.loads(said.stdout)
    return found
