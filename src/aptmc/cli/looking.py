"""Commands that look at stored runs."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

import numpy as np

import aptmc
from aptmc.cli.finding import find_problem
from aptmc.cli.main import DIFFERENT, GOOD
from aptmc.cli.running import as_json
from aptmc.clock import pause
from aptmc.errors import StopReason
from aptmc.progress import Glance, choose_view
from aptmc.result import Run

BETWEEN_LOOKS = 1.0  # seconds


def summary(options: Namespace) -> int:
    """The posterior in numbers."""
    run = aptmc.open(options.store)
    print(json.dumps(as_json(run)) if options.json else run.summary())
    return GOOD


def report(options: Namespace) -> int:
    """One HTML file."""
    print(aptmc.open(options.store).report(options.output))
    return GOOD


def replay(options: Namespace) -> int:
    """The same draws again?"""
    on = None if options.workers is None else aptmc.Processes(options.workers)
    outcome = aptmc.replay(options.store, find_problem(options.problem), on=on)
    print(json.dumps(outcome._asdict()) if options.json else outcome)
    return GOOD if outcome.is_same else DIFFERENT


def watch(options: Namespace) -> int:
    """A live view of a run that another process computes."""
    view = choose_view(wanted=True, stream=sys.stdout)
    assert view is not None
    while True:
        run = aptmc.open(options.store)
        view.show(glance_at(run))
        if options.once or run.stopped is not StopReason.STILL_RUNNING:
            break
        pause(BETWEEN_LOOKS)
    view.close(str(run.stopped))
    return GOOD


def glance_at(run: Run) -> Glance:
    """What a stored run shows."""
    rounds = run.warmup_rounds
    is_warming_up = run.completions == 0 and bool(rounds)
    effective = [row.ess for row in run.summary().values()]
    warmup = sum(part.elapsed for part in rounds)
    return Glance(
        elapsed=run.elapsed + warmup,
        budget=run.settings.budget,
        unit=run.settings.on.time_unit,
        draws=sum(draws.time.size for draws in run.chains()),
        effective=float(np.nanmin(effective)) if np.isfinite(effective).any() else float("nan"),
        moves=run.completions,
        utilisation=run.utilisation,
        levels=run.settings.ladder.levels,
        swap_rates=run.swap_rates.neighbours,
        workers=[],
        round=len(rounds) + 1 if is_warming_up else None,
        rounds=10,
    )
