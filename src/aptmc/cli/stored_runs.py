"""Commands that look at stored runs."""

from __future__ import annotations

import json
from argparse import Namespace

import aptmc
from aptmc.cli.main import DIFFERENT, GOOD
from aptmc.cli.named_problem import find_problem
from aptmc.cli.running import as_json


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
