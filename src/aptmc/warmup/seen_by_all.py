"""What all rungs of the last rounds have seen, chosen for each rung by weights.

A rung that has seen two thousand states has learnt of all modes; one that has seen two hundred has
not, and while it does not know them its steps are expensive, so that it sees few. But neighbours
have been in the same modes, the warmer ones more often, and so has the round before. Draws of
different powers differ by a known factor: together they are draws of a mixture of all powers, in
which each counts for every rung by its share of that (the estimate of many states, MBAR: Shirts and
Chodera 2008, as bridge sampling of several densities).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats, FloatTable
from aptmc.kernels.seen import FEWEST_DRAWS

# Of the warm-up, seven eighths, since each round is as long as all before it.
ROUNDS = 3
# A rung that has seen so many knows eighteen modes by itself: docs/tuning.md.
ENOUGH = 600
MOST_OF_A_RUNG = 300  # rows of a round: what is stored with a run, too
ITERATIONS = 50

SeenByAll = list[list[tuple[float, FloatTable]]]  # by round, by rung: its level and some rows


def with_round(before: SeenByAll, levels: Sequence[float], rows: Sequence[FloatTable]) -> SeenByAll:
    """The last rounds, this one among them."""
    some = [mine[:: math.ceil(len(mine) / MOST_OF_A_RUNG)].copy() for mine in rows]
    return [*before[1 - ROUNDS :], list(zip(levels, some, strict=True))]


def is_wanted(rows: Sequence[FloatTable]) -> bool:
    """Whether rungs have seen something, and not each of them enough by itself."""
    counts = [len(mine) for mine in rows]
    return len(counts) > 1 and min(counts) >= FEWEST_DRAWS and min(counts) < ENOUGH


def chosen_for_each(
    seen: SeenByAll, levels: Sequence[float], column: int, rng: np.random.Generator
) -> list[FloatTable]:
    """For each level, rows of all rounds and rungs: as many as they are worth there, each once.

    :param levels: powers, those of the last round
    :param column: where a row has its log likelihood
    """
    powers = np.array([level for one in seen for level, _ in one])
    tables = [rows for one in seen for _, rows in one]
    counts = np.array([len(rows) for rows in tables])
    # Rungs beside each other as they were in time: what follows each other is alike.
    times = [
        number + np.arange(len(rows)) / len(rows)
        for number, one in enumerate(seen)
        for _, rows in one
    ]
    together = np.concatenate(tables)[np.argsort(np.concatenate(times), kind="stable")]
    values = together[:, column]
    log_total = _log_total(powers, counts, values, _first_guess(seen, column))
    return [together[_chosen(_times(level, values) - log_total, rng)] for level in levels]


def _times(power: float, values: Floats) -> Floats:
    """The log of a likelihood to a power; in the prior one of zero counts as all others do."""
    return np.asarray(power * values if power != 0.0 else np.zeros_like(values))


def _first_guess(seen: SeenByAll, column: int) -> Floats:
    """The log of what each density integrates to, rung by rung from the hottest."""
    guessed: list[float] = []
    for one in seen:
        logs = [0.0]
        for (colder, _), (warmer, rows) in zip(one[-2::-1], one[:0:-1], strict=True):
            step = (colder - warmer) * rows[:, column]
            logs.append(logs[-1] + float(np.logaddexp.reduce(step)) - math.log(len(rows)))
        guessed += logs[::-1]
    return np.asarray(np.nan_to_num(np.array(guessed), nan=0.0, posinf=0.0, neginf=0.0))


def _log_total(powers: Floats, counts: Floats, values: Floats, logs: Floats) -> Floats:
    """The log density of all draws together, at each of them, less what all have in common."""
    heights = np.array([_times(power, values) for power in powers])
    log_counts = np.log(counts)
    total = np.empty(values.size)
    for _ in range(ITERATIONS):
        total = np.logaddexp.reduce(heights + (log_counts - logs)[:, None], axis=0)
        logs = np.logaddexp.reduce(heights - total, axis=1)
        logs = logs - logs[0]
    return total


def _chosen(log_weights: Floats, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """As many as they are worth, none of them twice: copies would look like modes.

    What counts for more than one is there once all the same, so that these draws are a little wider
    than those of the rung; so is a reference on purpose.
    """
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    worth = 1.0 / float((weights**2).sum())
    times = worth
    for _ in range(ITERATIONS):
        times *= worth / float(np.minimum(times * weights, 1.0).sum())
    return np.flatnonzero(rng.random(weights.size) < times * weights)
