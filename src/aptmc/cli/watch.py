"""`aptmc watch`: a live view of a run that another process computes."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from aptmc.cli.command import GOOD, Command
from aptmc.cli.options import add_store

BETWEEN_LOOKS = 1.0  # seconds
WORDS = """\
A live view of a run that another process computes: what each of its processors is doing and for how
long, so that a stuck simulation is plain to see. Leaving it, by Ctrl-C, does nothing to the run.

examples:
  aptmc watch run.zarr
  aptmc watch run.zarr --json | jq '.workers[] | select(.seconds > 60)'
"""


def add_options(parser: ArgumentParser) -> None:
    """Which run, and whether one look is enough."""
    add_store(parser)
    parser.add_argument("--once", action="store_true", help="one look, then leave")
    parser.add_argument("--json", action="store_true", help="one look, for programs to read")


def watch(options: Namespace) -> int:
    """Look again and again, until the run has ended."""
    from aptmc import clock
    from aptmc.cli.look import Look, look_as_json
    from aptmc.progress import choose_view

    store = Path(options.store)
    look = Look(store)
    if options.json:
        print(json.dumps(look_as_json(look)))
        return GOOD
    view = choose_view(wanted=True, stream=sys.stdout)
    assert view is not None
    last_words = "not watched any longer; the run goes on"
    try:
        while True:
            view.show(look.live)
            if look.has_ended:
                last_words = look.last_words
                break
            if options.once:
                break
            clock.pause(BETWEEN_LOOKS)
            look = Look(store, look)
    finally:
        view.close(last_words)
    return GOOD


COMMAND = Command("watch", "look at a run in another terminal", WORDS, add_options, watch)
