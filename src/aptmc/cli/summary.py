"""`aptmc summary`: the posterior of a stored run, in numbers."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

import aptmc
from aptmc.cli.command import GOOD, Command
from aptmc.cli.options import add_json, add_store
from aptmc.cli.run_as_json import run_as_json

WORDS = """\
Means, intervals, effective draws and advice, also while the run goes on.

examples:
  aptmc summary run.zarr
  aptmc summary run.zarr --json | jq .posterior.x.mean
"""


def add_options(parser: ArgumentParser) -> None:
    """Which run, and who reads it."""
    add_store(parser)
    add_json(parser)


def summary(options: Namespace) -> int:
    """Print the table of a stored run."""
    run = aptmc.open(options.store)
    print(json.dumps(run_as_json(run)) if options.json else run.summary())
    return GOOD


COMMAND = Command(
    "summary", "the posterior of a stored run, in numbers", WORDS, add_options, summary
)
