"""Observations and reference draws of the benchmark."""

from __future__ import annotations

import bz2
import csv
import io
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.float64]
OBSERVED, REFERENCE = "observation.csv", "reference_posterior_samples.csv.bz2"


def observed(folder: Path, task: str, observation: int) -> Table:
    """What was observed, as one row of numbers."""
    row: Table = read(_files(folder, task, observation) / OBSERVED)[0]
    return row


def reference_draws(folder: Path, task: str, observation: int) -> Table:
    """Draws from the true posterior, one row each."""
    return read(_files(folder, task, observation) / REFERENCE)


def pack(source: Path, target: Path, wanted: Iterable[tuple[str, int]]) -> None:
    """Copy what some tasks and observations need, for a machine that has nothing else."""
    for task, observation in wanted:
        files = _files(target, task, observation)
        files.mkdir(parents=True, exist_ok=True)
        for name in (OBSERVED, REFERENCE):
            shutil.copyfile(_files(source, task, observation) / name, files / name)


def read(path: Path) -> Table:
    """A table of numbers below a line of names, perhaps compressed."""
    raw = path.read_bytes()
    text = (bz2.decompress(raw) if path.suffix == ".bz2" else raw).decode("utf-8")
    lines = list(csv.reader(io.StringIO(text)))[1:]
    return np.array([[float(number) for number in line] for line in lines])


def _files(folder: Path, task: str, observation: int) -> Path:
    return folder / task / "files" / f"num_observation_{observation}"
