"""What the command line understands. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from aptmc.__about__ import __version__

# Exit codes that scripts can use.
GOOD, FAILED, MISUSED, DIFFERENT, INTERRUPTED = 0, 1, 2, 3, 130

EXAMPLES = """\
examples:
  aptmc demo                                    see it at work, in two minutes
  aptmc run model.py:problem --budget 10min --store run.zarr
  aptmc watch run.zarr                          from another terminal
  aptmc summary run.zarr --json
  aptmc report run.zarr                         one HTML file that opens anywhere
  aptmc resume run.zarr model.py:problem --budget 1h
  aptmc replay run.zarr model.py:problem        the same draws again, bit for bit?
  aptmc plan run.zarr --workers 4,64,1024       what would more processors bring?

exit codes: 0 all is well, 1 the run failed, 2 the command was not understood, 3 a replay differs,
130 interrupted from the keyboard
"""
PLAN_HELP = """\
Predict, from a run that has been made (a pilot), what runs on other numbers of processors would be
like: how busy processors are, how many moves and effective draws an hour brings, how many chains
and which deadlines serve best, and from where on one coordinator is not enough. Nothing of the
problem is computed: the coordinator runs in virtual time, with the moves and hold times of the
pilot.

examples:
  aptmc run model.py:problem --budget 5min --keep all --store pilot.zarr
  aptmc plan pilot.zarr --workers 4,64,1024
  aptmc plan pilot.zarr --workers 256 --latency 7ms           on a cluster with slow messages
  aptmc plan pilot.zarr --workers 64 --chains-per-rung 11 --every 20ms   exactly this

A pilot of a minute will do if each rung makes some hundreds of moves. --keep all lets exchanges be
simulated, too; otherwise effective draws are a rough guess.
"""
PROBLEM_HELP = "where the problem is: file.py:name or package.module:name, a problem or a function"


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

    demo = commands.add_parser("demo", help="predators and prey on all processors, and a report")
    demo.add_argument("--budget", default="60 s", help="for the anytime run (default: 60 s)")
    demo.add_argument("--report", default="aptmc-demo.html", help="where the report goes")
    demo.add_argument("--workers", type=int, help="processes (default: all processors)")
    demo.set_defaults(module="demo")

    run = commands.add_parser("run", help="sample a problem")
    run.add_argument("problem", help=PROBLEM_HELP)
    _add_running(run)
    run.add_argument("--store", help="a folder to keep the run in, run.zarr say")
    run.add_argument("--seed", type=int)
    run.add_argument("--keep", choices=["coldest", "all"], default="coldest")
    run.add_argument("--coldest", type=float, help="the smallest tolerance, for simulators")
    run.add_argument("--report", help="write a report there at the end")
    run.set_defaults(module="running")

    resume = commands.add_parser("resume", help="go on with a stored run")
    resume.add_argument("store")
    resume.add_argument("problem", help=PROBLEM_HELP)
    _add_running(resume)
    resume.add_argument("--force", action="store_true", help="although the problem has changed")
    resume.add_argument("--report", help="write a report there at the end")
    resume.set_defaults(module="running")

    replay = commands.add_parser("replay", help="compute a stored run again and compare")
    replay.add_argument("store")
    replay.add_argument("problem", help=PROBLEM_HELP)
    _add_json(replay)
    replay.set_defaults(module="looking")

    summary = commands.add_parser("summary", help="the posterior of a stored run, in numbers")
    summary.add_argument("store")
    _add_json(summary)
    summary.set_defaults(module="looking")

    report = commands.add_parser("report", help="a stored run as one HTML file")
    report.add_argument("store")
    report.add_argument("--output", default="report.html")
    report.set_defaults(module="looking")

    watch = commands.add_parser("watch", help="look at a run in another terminal")
    watch.add_argument("store")
    watch.add_argument("--once", action="store_true", help="one look, then leave")
    watch.set_defaults(module="looking")

    plan = commands.add_parser(
        "plan",
        help="what would a run be like on more processors?",
        description=PLAN_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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

    reproduce = commands.add_parser("reproduce", help="the paper's figures and tables, and ours")
    reproduce.add_argument("experiment", choices=["gamma", "normal", "lotka-volterra"])
    reproduce.add_argument("--scale", default="0.1", help="share of the full length (default: 0.1)")
    reproduce.set_defaults(module="reproducing")

    doctor = commands.add_parser("doctor", help="is everything in order on this machine?")
    doctor.add_argument("--seconds", type=float, default=10.0, help="for the test (default: 10)")
    _add_json(doctor)
    doctor.set_defaults(module="doctor")
    return parser


def _add_running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--budget", required=True, help='"10 min", 30s, 2h, or seconds')
    parser.add_argument("--workers", type=int, help="processes (default: all processors)")
    parser.add_argument("--quiet", action="store_true", help="no view of the run")
    _add_json(parser)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs to read")


if __name__ == "__main__":
    sys.exit(main())
