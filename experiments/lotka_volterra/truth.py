"""The posterior's means and spreads, against which runs are measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

import aptmc
from experiments.lotka_volterra.gain import Setting, default_sampler
from experiments.lotka_volterra.measures import measure
from experiments.lotka_volterra.samplers import PARAMETERS, problem

# At this tolerance one prior draw in 16,000 hits: independent draws can be afforded.
REJECTION_FROM = 1.0
SIMULATIONS = 400_000_000
LONG_RUNS = 20
WARMUP_SHARE = 0.25  # whose draws are thrown away: chains begin far out
LONG_BUDGET = 1e9  # events on each of four processors: ten times a run that is measured


class Truth(NamedTuple):
    """Of each parameter."""

    mean: dict[str, float]
    sd: dict[str, float]
    error: dict[str, float]  # of the mean, in posterior standard deviations


def truth(setting: Setting, path: Path, *, scale: float = 1.0) -> Truth:
    """From the file if it is there; else by rejection, or by long runs where that is hopeless."""
    if path.exists():
        return Truth(**json.loads(path.read_text(encoding="utf-8")))
    found = _by_rejection if setting.tolerance >= REJECTION_FROM else _by_long_runs
    result = found(setting, scale)
    path.write_text(json.dumps(result._asdict(), indent=1) + "\n", encoding="utf-8")
    return result


def _by_rejection(setting: Setting, scale: float) -> Truth:
    simulations = max(round(scale * SIMULATIONS), 1_000_000)
    accepted = aptmc.rejection(
        problem("uniform"), setting.tolerance, simulations=simulations, seed=1
    )
    draws = {name: accepted.series(name) for name in PARAMETERS}
    return Truth(
        {name: float(series.mean()) for name, series in draws.items()},
        {name: float(series.std()) for name, series in draws.items()},
        {name: float(series.size**-0.5) for name, series in draws.items()},
    )


def _by_long_runs(setting: Setting, scale: float) -> Truth:
    measured = measure(
        default_sampler(setting),
        budget=scale * LONG_BUDGET,
        runs=LONG_RUNS,
        seed=1001,
        warmup_share=WARMUP_SHARE,
    )
    pooled = {
        name: np.concatenate([np.concatenate(run.series[name]) for run in measured.runs])
        for name in PARAMETERS
    }
    sd = {name: float(series.std()) for name, series in pooled.items()}
    return Truth(
        {name: float(series.mean()) for name, series in pooled.items()},
        sd,
        {name: measured.mean(name).error / sd[name] for name in PARAMETERS},
    )
