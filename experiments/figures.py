"""The experiments' figures look like those of the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aptmc.plots.style import BLUE, DARK, GREEN, LIGHT, ORANGE, STYLE, VERMILLION

__all__ = ["BLUE", "DARK", "GREEN", "LIGHT", "ORANGE", "VERMILLION", "style"]


@contextmanager
def style() -> Iterator[Any]:
    """Draw in this style, without a screen; gives pyplot."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):
        yield pyplot
