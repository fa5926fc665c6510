"""How the experiments' figures look: Okabe and Ito's colours, legible in one column of a paper."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

BLUE = "#0072B2"
VERMILLION = "#D55E00"
GREEN = "#009E73"
DARK = "#333333"
LIGHT = "#AAAAAA"

STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.3,
    "figure.dpi": 100,
    "savefig.dpi": 200,
}


@contextmanager
def style() -> Iterator[Any]:
    """Draw in this style, without a screen; gives pyplot."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):
        yield pyplot
