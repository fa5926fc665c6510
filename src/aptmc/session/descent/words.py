"""What a descent says: how far down it is, and that it did not get far enough."""

from __future__ import annotations

import math
from collections.abc import Sequence


def share_of_way(first: float, level: float, last: float) -> float:
    """How far down it is, by the logarithm of the tolerance, if it is known where to."""
    if not 0.0 < last < first or level <= 0.0:
        return 0.5
    return 0.1 + 0.9 * min(math.log(first / level) / math.log(first / last), 1.0)


def out_of_reach(
    levels: Sequence[float],
    smallest: Sequence[float],
    *,
    reached: float,
    simulations: float,
    most_simulations: float,
) -> str:
    """The message for a user of whose tolerances one was not reached.

    :param levels: that were asked for, as far as they are looked at
    :param smallest: distances, increasing
    :param reached: the smallest tolerance that a population stands on
    """
    if not smallest:
        return (
            f"all of the first {simulations:.0f} simulations failed, and count as misses: "
            'use on_error="raise" to see how one of them fails'
        )
    missed = [level for level in levels if smallest[0] > level]
    level = max(missed, default=min(levels))
    seen = ", ".join(f"{distance:.4g}" for distance in smallest)
    if math.isinf(level):  # within which everything is, and so no tolerance is to blame
        return (
            f"start_simulations={most_simulations:.0f} are too few to begin with; "
            f"the smallest distances seen were {seen}: use more"
        )
    far = ""
    if math.isfinite(reached):  # where it would go on
        within = sum(one >= reached for one in levels)
        far = f", which came down to {reached:.4g}, {within} of {len(levels)} rungs"
    return (
        f"no state within tolerance {level:g} was found in {simulations:.0f} "
        f"simulations{far}; the smallest distances seen were {seen}: use larger tolerances, or "
        "a larger start_simulations"
    )
