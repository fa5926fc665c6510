"""Where chains begin, by what the last round of a warm-up has seen."""

from __future__ import annotations

import numpy as np

from aptmc.compiled import FloatTable, Generator
from aptmc.session.session import empty_states
from aptmc.settings import Settings
from aptmc.warmup.approach import Approach

MOST_STARTS = 200  # from which chains of a rung start anew while a run settles
Remembered = list[tuple[float, FloatTable]]  # by level: draws of the last round


def states_of_chains(
    settings: Settings, approach: Approach, remembered: Remembered, rng: Generator
) -> FloatTable:
    """A state for each chain of some settings; NaN if nothing is known of them."""
    layout = settings.layout()
    states = empty_states(layout.rung.size, settings.problem.width)
    if not remembered:  # stopped before the first round was complete
        return states
    if settings.on.descends and settings.problem.needs_search:  # that is better than to remember
        return states
    for rung, rows in enumerate(_seen(settings, approach, remembered)):
        mine = np.flatnonzero(layout.rung == rung)
        states[mine] = rows[rng.integers(len(rows), size=mine.size)]
    return states


def starts_of_rungs(
    settings: Settings, approach: Approach, remembered: Remembered, rng: Generator
) -> list[FloatTable] | None:
    """By rung, states from which the chains of some settings start anew while they settle."""
    if not remembered:
        return None
    seen = _seen(settings, approach, remembered)
    return [rng.permutation(rows)[:MOST_STARTS] for rows in seen]


def _seen(settings: Settings, approach: Approach, remembered: Remembered) -> list[FloatTable]:
    return [approach.states_for(level, remembered) for level in settings.ladder.levels]
