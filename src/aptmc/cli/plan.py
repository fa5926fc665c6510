"""`aptmc plan`: what would a run be like on more processors?"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

import aptmc
from aptmc.cli.command import GOOD, Command
from aptmc.cli.options import add_json

WORDS = """\
Predict, from a run that has been made (a pilot), what runs on other numbers of processors would be
like: how busy processors are, how many moves and effective draws an hour brings, how many chains
and which deadlines serve best, and from where on one coordinator is not enough. Nothing of the
problem is computed: the coordinator runs in virtual time, with the moves and hold times of the
pilot.

examples:
  aptmc plan pilot.zarr --workers 4,64,1024
  aptmc plan pilot.zarr --workers 256 --latency 7ms           on a cluster with slow messages
  aptmc plan pilot.zarr --workers 64 --chains-per-rung 11 --every 20ms   exactly this

where the pilot was made by
  aptmc run model.py:problem --budget 5min --keep all --store pilot.zarr
A minute will do if each rung makes some hundreds of moves. --keep all lets exchanges be simulated,
too; otherwise effective draws are a rough guess.
"""


def add_options(parser: ArgumentParser) -> None:
    """The pilot, the processors to look at, and what is fixed of the run to come."""
    parser.add_argument("store", help="the pilot: a stored run")
    parser.add_argument("--workers", required=True, help="numbers of processors: 4,64,1024")
    parser.add_argument(
        "--latency", help="time of messages for each move, 1ms say (default: what the pilot had)"
    )
    parser.add_argument(
        "--cost", help="the coordinator's time for each move (default: what the pilot measured)"
    )
    parser.add_argument("--chains-per-rung", type=int, help="default: the best that is found")
    parser.add_argument("--every", help="time between deadlines (default: the best that is found)")
    parser.add_argument(
        "--ahead", type=int, help="moves that wait at each processor (default: auto)"
    )
    parser.add_argument(
        "--no-group", action="store_true", help="short moves are not made longer for more workers"
    )
    parser.add_argument(
        "--effort", type=int, default=50_000, help="moves of one simulation (default: 50000)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the simulations (default: 0)")
    add_json(parser)


def plan(options: Namespace) -> int:
    """Print a prediction for each number of processors."""
    predictions = aptmc.plan(
        options.store,
        _workers(options.workers),
        latency=_time(options.latency),
        cost=_time(options.cost),
        chains_per_rung=options.chains_per_rung,
        every=_time(options.every),
        ahead=options.ahead,
        group=not options.no_group,
        effort=options.effort,
        seed=options.seed,
    )
    print(json.dumps(predictions.to_dict()) if options.json else predictions)
    return GOOD


def _workers(words: str) -> list[int]:
    try:
        return [int(word) for word in words.split(",")]
    except ValueError:
        raise aptmc.InputError(
            f"--workers must be whole numbers with commas between, got {words!r}: 4,64,1024, say"
        ) from None


def _time(words: str | None) -> float | str | None:
    """A number of seconds, or words such as 1ms for whoever understands them."""
    if words is None:
        return None
    try:
        return float(words)
    except ValueError:
        return words


COMMAND = Command("plan", "what would a run be like on more processors?", WORDS, add_options, plan)
