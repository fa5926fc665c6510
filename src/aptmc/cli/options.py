"""Options that several commands have."""

from __future__ import annotations

import sys
from argparse import ArgumentParser


def add_store(parser: ArgumentParser) -> None:
    """The stored run that a command is about."""
    parser.add_argument("store", help="the folder of the run, run.zarr say")


def add_problem(parser: ArgumentParser) -> None:
    """The problem of the user, which no store holds."""
    parser.add_argument(
        "problem",
        help="where the problem is: file.py:name or package.module:name, a problem or a function",
    )


def add_json(parser: ArgumentParser) -> None:
    """Whether a program reads the answer."""
    parser.add_argument("--json", action="store_true", help="for programs to read")


def add_running(parser: ArgumentParser) -> None:
    """How long to sample, on what, and what to show meanwhile."""
    parser.add_argument(
        "--budget", required=True, help='"10 min", 30s, 2h, seconds, or "10000 simulations"'
    )
    parser.add_argument(
        "--until", help='end before that with "400 effective draws", or "r-hat < 1.01"'
    )
    parser.add_argument("--workers", type=int, help="how many (default: all processors)")
    parser.add_argument(
        "--on", default="processes",
        help="who computes: processes here (default), dask:tcp://host:8786, ray or ray:auto",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no view of the run")
    add_json(parser)


def add_report(parser: ArgumentParser) -> None:
    """Where a report on what was sampled goes."""
    parser.add_argument("--report", help="write a report there at the end")


def check_report(path: str | None) -> None:
    """Refuse, before a run, a report that could not be written after it."""
    if path is None:
        return
    from pathlib import Path

    from aptmc.errors import InputError
    from aptmc.result.report_figures import can_draw

    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        wrong = "is a folder" if target.is_dir() else f"has no folder {target.parent}"
        raise InputError(f"the report {path} {wrong}: name a file, --report run.html")
    if not can_draw():
        print(
            "aptmc: the report will have no figures, which need matplotlib: "
            "pip install 'aptmc[plots]'",
            file=sys.stderr,
        )
