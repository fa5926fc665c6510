"""`aptmc run`: sample a problem of the user."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import aptmc
from aptmc.cli.command import Command
from aptmc.cli.options import add_problem, add_report, add_running, check_report

WORDS = """\
Samples a problem until the budget is spent, and prints the posterior. Ladder, proposals and
deadlines are found in the first quarter of the budget. Ctrl-C ends it early with the result so far.

examples:
  aptmc run model.py:problem --budget 10min
  aptmc run model.py:problem --budget 2h --workers 8 --store run.zarr --report run.html
  aptmc run package.models:make_problem --budget 30s --quiet --json > posterior.json
  aptmc run model.py:problem --budget 1h --until "400 effective draws and r-hat < 1.01"
  aptmc run model.py:problem --budget 2h --on dask:tcp://head:8786 --store run.zarr

where model.py has something like
  problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=scipy.stats.norm(0, 10)))
"""


def add_options(parser: ArgumentParser) -> None:
    """What is sampled, for how long, and what is kept of it."""
    add_problem(parser)
    add_running(parser)
    parser.add_argument(
        "--store", help="a folder to keep the run in while it goes on, run.zarr say"
    )
    parser.add_argument("--seed", type=int, help="a whole number (default: a new one)")
    parser.add_argument(
        "--keep", choices=["coldest", "all"], default="coldest",
        help="the draws of which rungs (default: coldest)",
    )  # fmt: skip
    parser.add_argument(
        "--coldest",
        type=float,
        help="for simulators, the tolerance (default: as the budget allows)",
    )
    add_report(parser)


def run(options: Namespace) -> int:
    """Sample, and print what came of it."""
    from aptmc.cli.named_backend import find_backend
    from aptmc.cli.named_problem import find_problem
    from aptmc.cli.tell_result import tell_result

    check_report(options.report)
    problem = find_problem(options.problem)
    ladder = "auto" if options.coldest is None else aptmc.Ladder.auto(coldest=options.coldest)
    result = aptmc.sample(
        problem,
        budget=options.budget,
        ladder=ladder,  # type: ignore[arg-type]
        on=find_backend(options),
        store=options.store,
        keep=options.keep,
        seed=options.seed,
        until=options.until,
        progress=not options.quiet,
    )
    return tell_result(result, options)


COMMAND = Command("run", "sample a problem", WORDS, add_options, run)
