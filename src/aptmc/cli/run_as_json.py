"""A run in numbers, for programs that read what a command prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aptmc.result.run import Run
    from aptmc.session.descent import Reached


def run_as_json(result: Run) -> dict[str, object]:
    """What `--json` prints of a run."""
    return {
        "stopped": result.stopped.name.lower(),
        "elapsed": result.elapsed,
        "completions": result.completions,
        "utilisation": known(result.utilisation),
        "round_trips": result.round_trips,
        "seed": result.settings.seed,
        "levels": [str(level) for level in result.settings.ladder.levels],
        "reached": None if result.reached is None else reached_as_json(result.reached),
        "posterior": {
            name: {column: known(value) for column, value in row.items()}
            for name, row in result.summary().to_dict().items()
        },
        "advice": [
            {"problem": one.problem, "remedy": one.remedy, "serious": one.serious}
            for one in result.advice
        ],
    }


def reached_as_json(reached: Reached) -> dict[str, object]:
    """How far down a likelihood-free run came."""
    return {
        "words": str(reached),
        "tolerance": str(reached.level),
        "asked": known(reached.asked),
        "prior_share": reached.prior_share,
        "simulations": reached.simulations,
        "given_up": reached.given_up,
        "rungs": reached.rungs,
        "rungs_reached": reached.rungs_reached,
        "by_rejection": reached.by_rejection,
    }


def known(value: Any) -> Any:
    """None for what is infinite or no number: JSON has no word for it."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
