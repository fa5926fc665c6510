"""A run in numbers, for programs that read what a command prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aptmc.result.run import Run


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
        "posterior": {
            name: {column: known(value) for column, value in row.items()}
            for name, row in result.summary().to_dict().items()
        },
        "advice": [
            {"problem": one.problem, "remedy": one.remedy, "serious": one.serious}
            for one in result.advice
        ],
    }


def known(value: Any) -> Any:
    """None for what is infinite or no number: JSON has no word for it."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
