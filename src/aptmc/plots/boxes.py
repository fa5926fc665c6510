"""Boxes: the middle half and nine tenths of many numbers, one box for each rung."""

from __future__ import annotations

from typing import Any

import numpy as np

from aptmc.plots.style import DARK, WIDTH

THICKEST = 6.0
LEAST_WRITTEN, MOST_WRITTEN = 1e-4, 1e5  # beyond, powers of ten are shorter
MOST_MARKS = 6
FAR_DOWN = 30.0  # times the width of the coldest rung's box, from where on an axis is bent
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


def bend_far_down(panel: Any, coldest: tuple[float, float]) -> None:
    """A logarithmic axis below the coldest rung's values, if others lie so far down.

    Log likelihoods of the prior may be thousands of times as far away as those of the posterior
    are wide, of which nothing would be seen.

    :param coldest: the values between which nine tenths of the coldest rung's lie
    """
    from matplotlib.ticker import NullLocator

    width, top = coldest[1] - coldest[0], coldest[1]
    lowest = panel.dataLim.intervaly[0]
    if width <= 0.0 or top - lowest < FAR_DOWN * width:
        return
    reach = 1.0 + np.log10((top - lowest) / width)

    def bent(values: Any) -> Any:
        below = (top - values) / width
        return -np.sign(below) * np.where(
            np.abs(below) < 1.0, np.abs(below), 1.0 + np.log10(np.maximum(np.abs(below), 1.0))
        )

    def straight(places: Any) -> Any:
        below = np.where(
            np.abs(places) < 1.0, np.abs(places), 10.0 ** (np.minimum(np.abs(places), 300.0) - 1.0)
        )
        return top + np.sign(places) * width * below

    panel.set_yscale("function", functions=(bent, straight))
    panel.set_ylim(float(straight(np.array(-1.05 * reach))), float(straight(np.array(0.25))))
    decades = 10.0 ** np.arange(np.ceil(np.log10(width)), np.log10(top - lowest) + 0.5)
    decades = decades[:: 1 + decades.size // MOST_MARKS]
    below = [float(np.round((top - decade) / decade) * decade) for decade in decades]
    marks = [_short(top, width), *below]
    panel.set_yticks(marks, [f"{mark:,.7g}" for mark in marks])
    panel.yaxis.set_minor_locator(NullLocator())


def _short(value: float, width: float) -> float:
    """With as many digits as tell values of some width apart."""
    return round(float(value), max(int(np.ceil(1.0 - np.log10(width))), 0))
