"""Advice about processors that had nothing to do, as far as one can tell why."""

from __future__ import annotations

from collections.abc import Iterator

from aptmc.result.one_advice import Advice

BUSY = 0.8
CROWDED = 0.5  # processes of others for each processor
# In seconds. Shorter moves take less than to hand them out does, whoever else is there.
SHORT_MOVE = 1e-3
# Moves of a processor; and how many times as many after a long start-up. Where a start took most of
# a budget, the machine was busy, and what is left of it says little of what a longer one is like.
FEW_MOVES, AFTER_A_LONG_START = 20, 10


def about_idle_processors(
    utilisation: float,
    *,
    has_barriers: bool,
    others: float,
    moves_each: float,
    move_length: float,
    long_start: bool,
    more_steps: str,
) -> Iterator[Advice]:
    """What to do, where processors were without moves.

    :param others: processes of others that wanted each processor of the machine meanwhile
    :param moves_each: of a processor
    :param move_length: of the mean move, in seconds
    :param more_steps: how to say so to `sample`
    """
    if not utilisation < BUSY:
        return
    problem = f"processors computed moves for only {100.0 * utilisation:.0f} % of the time"
    if has_barriers:
        remedy = "Use schedule=aptmc.Anytime(), in which none waits for another"
    elif others >= CROWDED and move_length >= SHORT_MOVE:
        problem += (
            ", while other programs wanted them, too: the machine had about "
            f"{others:.2g} processes of others for each of its processors"
        )
        remedy = "Let these end first, or use fewer workers"
    elif moves_each < FEW_MOVES * (AFTER_A_LONG_START if long_start else 1):
        return  # too few to tell what processors waited for
    else:
        remedy = f"Use {more_steps}, or fewer workers"
    yield Advice(problem, remedy, serious=False)
