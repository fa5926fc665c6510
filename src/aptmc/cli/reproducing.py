"""The paper's experiments."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from argparse import Namespace

from aptmc.errors import InputError

COMMANDS = {
    "gamma": ("gamma_mixture", ["bias"], ["efficiency"]),
    "normal": ("normal", []),
    "lotka-volterra": ("lotka_volterra", ["one"], ["several"]),
}


def reproduce(options: Namespace) -> int:
    """Run an experiment of the repository."""
    if importlib.util.find_spec("experiments") is None:
        raise InputError(
            "the experiments are in aptmc's repository, not in the package: clone it, and call "
            "aptmc reproduce from there"
        )
    module, *parts = COMMANDS[options.experiment]
    for part in parts:
        command = [sys.executable, "-m", f"experiments.{module}", *part, "--scale", options.scale]
        code = subprocess.run(command, check=False).returncode
        if code != 0:
            return code
    return 0
