"""`aptmc reproduce`: the paper's experiments."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from argparse import ArgumentParser, Namespace

import aptmc
from aptmc.cli.command import GOOD, Command

EXPERIMENTS = {
    "gamma": ("gamma_mixture", ["bias"], ["efficiency"]),
    "normal": ("normal", []),
    "lotka-volterra": ("lotka_volterra", ["one"], ["several"]),
}
WORDS = """\
Runs an experiment of the paper in virtual time, and prints its tables beside ours. Figures go to
results/. Needs a clone of the repository.

example:
  aptmc reproduce gamma --scale 1
"""


def add_options(parser: ArgumentParser) -> None:
    """Which experiment, and how much of it."""
    parser.add_argument(
        "experiment", choices=list(EXPERIMENTS), help="sections 5.1, 5.2 and 5.3 of the paper"
    )
    parser.add_argument("--scale", default="0.1", help="share of the full length (default: 0.1)")


def reproduce(options: Namespace) -> int:
    """Run an experiment of the repository; the first part that fails gives the exit code."""
    if importlib.util.find_spec("experiments") is None:
        raise aptmc.InputError(
            "the experiments are in aptmc's repository, not in the package: clone it, and call "
            "aptmc reproduce from there"
        )
    module, *parts = EXPERIMENTS[options.experiment]
    for part in parts:
        command = [sys.executable, "-m", f"experiments.{module}", *part, "--scale", options.scale]
        code = subprocess.run(command, check=False).returncode
        if code != 0:
            return code
    return GOOD


COMMAND = Command(
    "reproduce", "the paper's figures and tables, and ours", WORDS, add_options, reproduce
)
