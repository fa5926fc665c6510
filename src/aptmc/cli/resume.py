"""`aptmc resume`: go on with a stored run."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import aptmc
from aptmc.cli.command import Command
from aptmc.cli.options import add_problem, add_report, add_running, add_store, check_report

WORDS = """\
Goes on where a stored run stopped or was killed, also with another number of processors. A store
holds no functions, so the problem is given again; another one is refused.

example:
  aptmc resume run.zarr model.py:problem --budget 1h
"""


def add_options(parser: ArgumentParser) -> None:
    """Which run goes on, with which problem, and for how long."""
    add_store(parser)
    add_problem(parser)
    add_running(parser)
    parser.add_argument("--force", action="store_true", help="although the problem has changed")
    add_report(parser)


def resume(options: Namespace) -> int:
    """Sample on, and print the run as a whole."""
    from aptmc.cli.named_backend import find_backend
    from aptmc.cli.named_problem import find_problem
    from aptmc.cli.tell_result import tell_result

    check_report(options.report)
    result = aptmc.resume(
        options.store,
        find_problem(options.problem),
        budget=options.budget,
        on=find_backend(options),
        force=options.force,
        until=options.until,
        progress=not options.quiet,
    )
    return tell_result(result, options)


COMMAND = Command("resume", "go on with a stored run", WORDS, add_options, resume)
