"""A command of `aptmc`: its name and help, its options, and what it does.

`aptmc --help` asks all commands for their words and options, so what is heavy to import is imported
inside the functions that carry them out.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import Any, NamedTuple

# Exit codes that scripts can use.
GOOD, FAILED, MISUSED, DIFFERENT, INTERRUPTED = 0, 1, 2, 3, 130


class Command(NamedTuple):
    """What the command line has to know of one of its commands."""

    name: str
    line: str  # in the list of all commands
    words: str  # what it is for, an empty line, and examples
    add_options: Callable[[ArgumentParser], None]
    carry_out: Callable[[Namespace], int]  # gives the exit code

    def add_to(self, commands: Any) -> None:
        """Have a parser understand this command."""
        description, _, examples = self.words.partition("\n\n")
        parser: ArgumentParser = commands.add_parser(
            self.name,
            help=self.line,
            description=description,
            epilog=examples,
            formatter_class=RawDescriptionHelpFormatter,
        )
        self.add_options(parser)
        parser.set_defaults(carry_out=self.carry_out)
