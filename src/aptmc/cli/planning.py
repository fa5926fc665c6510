"""The command that looks ahead."""

from __future__ import annotations

import json
from argparse import Namespace

import aptmc
from aptmc.cli.main import GOOD
from aptmc.errors import InputError


def plan(options: Namespace) -> int:
    """What would a run be like on other processors?"""
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
    """Whole numbers with commas between."""
    try:
        return [int(word) for word in words.split(",")]
    except ValueError:
        raise InputError(
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
