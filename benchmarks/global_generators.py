"""What it costs that moves of plain Python functions seed generators which nobody gave them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from aptmc.global_generators import Seeding, left_alone
from aptmc.keys import open_streams, rewind_plainly

CALLS, TURNS = 20_000, 5
SEED = 1


def from_what_is_given(rng: Any) -> float:
    """As one should."""
    return float(rng.standard_normal())


def from_numpy(rng: Any) -> float:
    """As functions that were written for other libraries do."""
    return float(np.random.standard_normal())  # noqa: NPY002 (that is what is measured)


def from_python(rng: Any) -> float:
    """Likewise."""
    return random.gauss(0.0, 1.0)


def microseconds(call: Callable[[Any], float], calls: int) -> float:
    """Of one call, with a stream of its own: in the quickest of some turns."""
    streams, taken = open_streams(SEED), []
    for _ in range(TURNS):
        began = time.perf_counter()
        for number in range(calls):
            rewind_plainly(streams.dial, 0, 0, number)
            call(streams.generator)
        taken.append((time.perf_counter() - began) / calls)
    return 1e6 * min(taken)


def main(*, quick: bool) -> None:
    """Print a table."""
    calls = 200 if quick else CALLS
    print("## Global generators: microseconds that a move takes longer\n")
    print("| the function draws from | |\n| --- | --- |")
    for words, function in (
        ("the generator that it is given", from_what_is_given),
        ("`np.random`", from_numpy),
        ("`random`", from_python),
    ):
        with left_alone():
            seeded = Seeding(SEED).around(function, 0)
            more = microseconds(seeded, calls) - microseconds(function, calls)
        print(f"| {words} | {more:.1f} |")
    print()
