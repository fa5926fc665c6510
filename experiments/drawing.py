"""The drawing of queue, flight and deadline: a small run by hand.

python -m experiments.drawing [FILE]
"""

from __future__ import annotations

import argparse
from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

from aptmc import plots
from aptmc.plots.style import DARK, LIGHT, VERMILLION

CHAINS, PROCESSORS, END = 6, 2, 11.0
DEADLINES = (2.6, 5.2, 7.8)
# Of each move in the order in which they begin: one is far longer than the others.
HOLD_TIMES = (1.9, 1.3, 5.6, 1.5, 1.0, 1.7, 1.6, 2.3, 1.2, 1.4, 1.8, 1.3)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9")
HALF, SIDE = 0.38, 0.30
FILE = Path("docs/figures/queue.svg")


class Move(NamedTuple):
    """A bar."""

    chain: int
    processor: int
    began: float
    ended: float


def first_in_first_out() -> tuple[list[Move], dict[float, list[int]]]:
    """The moves, and by deadline the chains that wait, head of the queue first."""
    queue, holds = deque(range(CHAINS)), iter(HOLD_TIMES)
    moves: list[Move] = []
    free = [0.0] * PROCESSORS
    under_way: dict[int, int] = {}
    waiting: dict[float, list[int]] = {}
    while min(free) < END:
        processor = free.index(min(free))
        now = free[processor]
        for deadline in DEADLINES:
            if deadline <= now and deadline not in waiting:
                waiting[deadline] = list(queue)
        if processor in under_way:
            queue.append(under_way.pop(processor))
        chain = queue.popleft()
        free[processor] = now + next(holds)
        under_way[processor] = chain
        moves.append(Move(chain, processor, now, free[processor]))
    return moves, waiting


def draw() -> Any:
    """The figure."""
    moves, waiting = first_in_first_out()
    with plots.figure(3.3, 7.0) as new:
        panel = new.subplots()
        for move in moves:
            right, middle = min(move.ended, END), -move.processor
            panel.broken_barh(
                [(move.began, right - move.began)], (middle - HALF, 2 * HALF),
                facecolor=COLOURS[move.chain], edgecolor="white", linewidth=1.5,
            )  # fmt: skip
            text = f"chain {move.chain}" if right - move.began > 1.1 else f"{move.chain}"
            panel.text(
                (move.began + right) / 2, middle, text, color="white", ha="center", va="center",
                fontsize=7, fontweight="bold",
            )  # fmt: skip
        for number, deadline in enumerate(DEADLINES, start=1):
            panel.plot([deadline] * 2, [-3.35, 0.62], color=VERMILLION, linestyle="--", zorder=3)
            panel.text(
                deadline, 0.72, f"deadline {number}", color=VERMILLION, ha="center", fontsize=8
            )
            _draw_queue(panel, deadline, waiting[deadline])
        for row, words in (
            (0, "in flight on\nprocessor 1"),
            (-1, "in flight on\nprocessor 2"),
            (-2.45, "waiting,\nhead of the\nqueue first"),
        ):
            panel.text(-0.15, row, words, ha="right", va="center", fontsize=8, color=DARK)
        panel.annotate(
            "", (END + 0.1, -1.6), (0.0, -1.6), arrowprops={"arrowstyle": "->", "color": LIGHT}
        )
        panel.text(END, -1.72, "time", ha="right", va="top", fontsize=7, color=DARK)
        panel.set_xlim(-1.7, END + 0.2)
        panel.set_ylim(-3.75, 1.1)
        panel.axis("off")
    return new


def _draw_queue(panel: Any, deadline: float, waiting: list[int]) -> None:
    import matplotlib as mpl

    left = deadline - 0.5 * 2 * SIDE * len(waiting)
    for place, chain in enumerate(waiting):
        corner = (left + 2 * SIDE * place + 0.03, -2.45 - SIDE)
        box = mpl.patches.Rectangle(
            corner, 2 * SIDE - 0.06, 2 * SIDE, facecolor=COLOURS[chain], zorder=4, linewidth=0
        )
        panel.add_patch(box)
        panel.text(
            corner[0] + SIDE - 0.03, -2.45, f"{chain}", color="white", ha="center", va="center",
            fontsize=7, fontweight="bold", zorder=5,
        )  # fmt: skip
    panel.text(
        deadline, -3.45, "swapped among these", ha="center", va="top", fontsize=7, color=VERMILLION
    )


def main() -> None:
    """Draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=FILE)
    file: Path = parser.parse_args().file
    # No date, so that the same drawing is the same file.
    draw().savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
