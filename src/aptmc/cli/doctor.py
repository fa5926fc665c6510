"""`aptmc doctor`: is everything in order on this machine? It takes ten seconds or so."""

from __future__ import annotations

import json
import platform
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

import aptmc
from aptmc.cli.command import FAILED, GOOD, Command
from aptmc.cli.options import add_json

VIRTUAL_UNITS = 200_000.0
WORKERS = "copies of one that has everything loaded (fork)"
WORDS = """\
Says what this machine is like, and tests on two far modes, in compiled code and on worker
processes, whether the results are right and how fast they come. Exit code 1: a test failed.

examples:
  aptmc doctor
  aptmc doctor --json
"""


def add_options(parser: ArgumentParser) -> None:
    """How long the test takes, and who reads it."""
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="for worker processes (default: 10)"
    )
    add_json(parser)


def doctor(options: Namespace) -> int:
    """Print what is known of this machine, and whether runs on it are right."""
    from aptmc.cli.machine_test import examined
    from aptmc.clock import resolution
    from aptmc.processors import processors_available
    from aptmc.result.archive import versions

    facts: dict[str, Any] = {
        "system": platform.platform(),
        "processors": processors_available(),
        "versions": versions(),
        "worker processes are": WORKERS if sys.platform == "linux" else "started anew",
        "clock ticks, seconds": resolution(),
    }
    workers = aptmc.Processes(processors_available())
    verdicts = [
        examined("compiled code, in virtual time", VIRTUAL_UNITS, 5.0, aptmc.VirtualTime(2)),
        examined("worker processes", options.seconds, "2 ms", workers),
    ]
    good = all(verdict.is_good for verdict in verdicts)
    if options.json:
        tests = {one.name: {"verdict": one.verdict, **one.numbers} for one in verdicts}
        print(json.dumps(facts | {"passed": good, "tests": tests}))
    else:
        for name, value in facts.items():
            print(f"{name}: {_text(value)}")
        for one in verdicts:
            print(f"test of {one.name}: {one.verdict}")
            for name, value in one.numbers.items():
                print(f"    {name}: {value:,}")
    return GOOD if good else FAILED


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return str(value)


COMMAND = Command("doctor", "is everything in order on this machine?", WORDS, add_options, doctor)
