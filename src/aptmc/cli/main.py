"""What the command line understands. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from aptmc.__about__ import __version__
from aptmc.cli.words import (
    DEMO,
    DOCTOR,
    EXAMPLES,
    PLAN,
    PROBLEM_HELP,
    REPLAY,
    REPORT,
    REPRODUCE,
    RESUME,
    RUN,
    STORE_HELP,
    SUMMARY,
    WATCH,
)

# Exit codes that scripts can use.
GOOD, FAILED, MISUSED, DIFFERENT, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command and give its exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return GOOD
    from aptmc.errors import AptmcError, InputError

    try:
        command = import_module(f"aptmc.cli.{options.module}")
        code: int = getattr(command, options.command.replace("-", "_"))(options)
    except InputError as error:
        print(f"aptmc: {error}", file=sys.stderr)
        return MISUSED
    except AptmcError as error:
        print(f"aptmc: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def make_parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    parser = argparse.ArgumentParser(
        prog="aptmc",
        description="Anytime parallel tempering: hard posteriors inside a wall-clock budget.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"aptmc {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")

    demo = _command(commands, "demo", "predators and prey on all processors, and a report", DEMO)
    demo.add_argument("--budget", default="60 s", help="for the anytime run (default: 60 s)")
    demo.add_argument(
        "--report", default="aptmc-demo.html", help="where it goes (default: aptmc-demo.html)"
    )
    demo.add_argument("--workers", type=int, help="processes (default: all processors)")
    demo.set_defaults(module="demo")

    run = _command(commands, "run", "sample a problem", RUN)
    run.add_argument("problem", help=PROBLEM_HELP)
    _add_running(run)
    run.add_argument("--store", help="a folder to keep the run in while it goes on, run.zarr say")
    run.add_argument("--seed", type=int, help="a whole number (default: a new one)")
    run.add_argument(
        "--keep", choices=["coldest", "all"], default="coldest",
        help="the draws of which rungs (default: coldest)",
    )  # fmt: skip
    run.add_argument(
        "--coldest",
        type=float,
        help="for simulators, the tolerance (default: as the budget allows)",
    )
    run.add_argument("--report", help="write a report there at the end")
    run.set_defaults(module="running")

    resume = _command(commands, "resume", "go on with a stored run", RESUME)
    resume.add_argument("store", help=STORE_HELP)
    resume.add_argument("problem", help=PROBLEM_HELP)
    _add_running(resume)
    resume.add_argument("--force", action="store_true", help="although the problem has changed")
    resume.add_argument("--report", help="write a report there at the end")
    resume.set_defaults(module="running")

    replay = _command(commands, "replay", "compute a stored run again and compare", REPLAY)
    replay.add_argument("store", help=STORE_HELP)
    replay.add_argument("problem", help=PROBLEM_HELP)
    replay.add_argument("--workers", type=int, help="processes (default: this one alone)")
    _add_json(replay)
    replay.set_defaults(module="stored_runs")

    summary = _command(commands, "summary", "the posterior of a stored run, in numbers", SUMMARY)
    summary.add_argument("store", help=STORE_HELP)
    _add_json(summary)
    summary.set_defaults(module="stored_runs")

    report = _command(commands, "report", "a stored run as one HTML file", REPORT)
    report.add_argument("store", help=STORE_HELP)
    report.add_argument(
        "--output", default="report.html", help="where it goes (default: report.html)"
    )
    report.set_defaults(module="stored_runs")

    watch = _command(commands, "watch", "look at a run in another terminal", WATCH)
    watch.add_argument("store", help=STORE_HELP)
    watch.add_argument("--once", action="store_true", help="one look, then leave")
    watch.add_argument("--json", action="store_true", help="one look, for programs to read")
    watch.set_defaults(module="watching")

    plan = _command(commands, "plan", "what would a run be like on more processors?", PLAN)
    plan.add_argument("store", help="the pilot: a stored run")
    plan.add_argument("--workers", required=True, help="numbers of processors: 4,64,1024")
    plan.add_argument(
        "--latency", help="time of messages for each move, 1ms say (default: what the pilot had)"
    )
    plan.add_argument(
        "--cost", help="the coordinator's time for each move (default: what the pilot measured)"
    )
    plan.add_argument("--chains-per-rung", type=int, help="default: the best that is found")
    plan.add_argument("--every", help="time between deadlines (default: the best that is found)")
    plan.add_argument("--ahead", type=int, help="moves that wait at each processor (default: auto)")
    plan.add_argument(
        "--no-group", action="store_true", help="short moves are not made longer for more workers"
    )
    plan.add_argument(
        "--effort", type=int, default=50_000, help="moves of one simulation (default: 50000)"
    )
    plan.add_argument("--seed", type=int, default=0, help="of the simulations (default: 0)")
    _add_json(plan)
    plan.set_defaults(module="planning")

    reproduce = _command(
        commands, "reproduce", "the paper's figures and tables, and ours", REPRODUCE
    )
    reproduce.add_argument(
        "experiment", choices=["gamma", "normal", "lotka-volterra"],
        help="sections 5.1, 5.2 and 5.3 of the paper",
    )  # fmt: skip
    reproduce.add_argument("--scale", default="0.1", help="share of the full length (default: 0.1)")
    reproduce.set_defaults(module="reproducing")

    doctor = _command(commands, "doctor", "is everything in order on this machine?", DOCTOR)
    doctor.add_argument(
        "--seconds", type=float, default=10.0, help="for worker processes (default: 10)"
    )
    _add_json(doctor)
    doctor.set_defaults(module="doctor")
    return parser


def _command(commands: Any, name: str, line: str, words: str) -> argparse.ArgumentParser:
    """A command whose help says what it is for and shows how it is used."""
    description, _, examples = words.partition("\n\n")
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=line,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def _add_running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--budget", required=True, help='"10 min", 30s, 2h, or seconds')
    parser.add_argument("--workers", type=int, help="how many (default: all processors)")
    parser.add_argument(
        "--on", default="processes",
        help="who computes: processes here (default), dask:tcp://host:8786, ray or ray:auto",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no view of the run")
    _add_json(parser)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs to read")


if __name__ == "__main__":
    sys.exit(main())
