"""`aptmc report`: a stored run as one HTML file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import aptmc
from aptmc.cli.command import GOOD, Command
from aptmc.cli.options import add_store

WORDS = """\
Writes the summary, advice, plots, settings and how to reproduce them to one file that opens
offline, also on a phone; also while the run goes on.

example:
  aptmc report run.zarr --output prey.html --title "Predators and prey"
"""


def add_options(parser: ArgumentParser) -> None:
    """Which run, and where the file goes."""
    add_store(parser)
    parser.add_argument(
        "--output", default="report.html", help="where it goes (default: report.html)"
    )
    parser.add_argument("--title", help="its headline (default: made of the names of parameters)")


def report(options: Namespace) -> int:
    """Write the file and print where it is."""
    print(aptmc.open(options.store).report(options.output, title=options.title))
    return GOOD


COMMAND = Command("report", "a stored run as one HTML file", WORDS, add_options, report)
