"""What the command line understands. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from aptmc.__about__ import __version__
from aptmc.cli import (
    compiling,
    completion,
    demo,
    doctor,
    plan,
    replay,
    report,
    reproduce,
    resume,
    run,
    summary,
    watch,
)
from aptmc.cli.command import FAILED, GOOD, INTERRUPTED, MISUSED

# In the order in which `aptmc --help` lists them.
COMMANDS = [
    module.COMMAND
    for module in (
        demo,
        run,
        resume,
        replay,
        summary,
        report,
        watch,
        plan,
        reproduce,
        doctor,
        compiling,
        completion,
    )
]

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


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command and give its exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return GOOD
    from aptmc.errors import AptmcError, InputError

    try:
        code: int = options.carry_out(options)
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
    """A parser that knows all commands and their options."""
    parser = argparse.ArgumentParser(
        prog="aptmc",
        description="Anytime parallel tempering: hard posteriors inside a wall-clock budget.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"aptmc {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    for command in COMMANDS:
        command.add_to(commands)
    return parser
