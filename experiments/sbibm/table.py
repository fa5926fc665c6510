"""The table: what was measured, beside what was published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.sbibm.cells import Cell
from experiments.sbibm.environment import CACHE
from experiments.sbibm.published import BEST

WAYS = ("draws", "draws, smoothed", "adjusted", "adjusted, smoothed")


def table(cells: Sequence[Cell], kept: Path = CACHE) -> str:
    """In Markdown: a row for each task and number of simulations, means over observations."""
    head = ["task", "simulations", "observations", "tolerance", "effective draws", *WAYS]
    head += ["published", "published, regression"]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for task, simulations in dict.fromkeys((cell.task, cell.simulations) for cell in cells):
        mine = [cell for cell in cells if (cell.task, cell.simulations) == (task, simulations)]
        found = {
            cell.observation: result for cell in mine if (result := cell.result(kept)) is not None
        }
        if not found:
            continue
        results = list(found.values())
        row = [task, f"{simulations:,}", ", ".join(map(str, sorted(found)))]
        row.append(_several([f"{result['tolerance']:.2g}" for result in results]))
        row.append(_several([f"{result['effective']:.0f}" for result in results]))
        for way in WAYS:
            row.append(f"{np.mean([result['accuracy'][way] for result in results]):.3f}")
        row += [f"{number:.3f}" for number in BEST.get((task, simulations), ())]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _several(numbers: list[str]) -> str:
    return ", ".join(numbers)
