"""`aptmc replay`: compute a stored run again, and compare."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

import aptmc
from aptmc.cli.command import DIFFERENT, GOOD, Command
from aptmc.cli.options import add_json, add_problem, add_store

WORDS = """\
Computes every move of a stored run again, on one processor or many, and compares all draws bit for
bit. Exit code 3 says that they differ.

examples:
  aptmc replay run.zarr model.py:problem
  aptmc replay run.zarr model.py:problem --workers 8
"""


def add_options(parser: ArgumentParser) -> None:
    """Which run, of which problem, and how many compute it again."""
    add_store(parser)
    add_problem(parser)
    parser.add_argument("--workers", type=int, help="processes (default: this one alone)")
    add_json(parser)


def replay(options: Namespace) -> int:
    """Print whether all draws are the same; a difference has an exit code of its own."""
    from aptmc.cli.named_problem import find_problem

    on = None if options.workers is None else aptmc.Processes(options.workers)
    outcome = aptmc.replay(options.store, find_problem(options.problem), on=on)
    print(json.dumps(outcome._asdict()) if options.json else outcome)
    return GOOD if outcome.is_same else DIFFERENT


COMMAND = Command("replay", "compute a stored run again and compare", WORDS, add_options, replay)
