"""Boxes: the middle half and nine tenths of many numbers, one box for each rung."""

from __future__ import annotations

from typing import Any

import numpy as np

from aptmc.plots.style import DARK, WIDTH

THICKEST = 6.0
LEAST_WRITTEN, MOST_WRITTEN = 1e-4, 1e5  # beyond, powers of ten are shorter
FEW_DECADES = 30.0  # a factor below which an axis of factors has more than powers of ten


def thickness(rungs: int, width: float) -> float:
    """Of boxes, in a figure so many inches wide."""
    return min(THICKEST, 80.0 * width / (WIDTH * rungs) + 1.5)


def draw_box(panel: Any, place: float, values: Any, colour: Any, thick: float) -> None:
    """Half of the values lie inside the box, nine tenths inside the line; the dot is the median."""
    low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    panel.plot([place] * 2, [low, high], color=DARK, linewidth=0.8)
    panel.plot([place] * 2, [first, third], color=colour, linewidth=thick, solid_capstyle="butt")
    panel.plot(
        [place], [middle], "o", color="white", markersize=min(3.0, 0.6 * thick),
        markeredgecolor=DARK, markeredgewidth=0.5,
    )  # fmt: skip


def factors(panel: Any) -> None:
    """A logarithmic axis, with some room, whose numbers are written as people write them."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    panel.set_yscale("log")
    low, high = panel.dataLim.intervaly
    if not 0.0 < low <= high:
        return
    is_short = high < low * FEW_DECADES
    if is_short:
        panel.set_ylim(low / 1.4, high * 1.4)
        panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        panel.yaxis.set_minor_formatter(NullFormatter())
    if low > LEAST_WRITTEN and high < MOST_WRITTEN:
        panel.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
