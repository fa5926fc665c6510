"""The posterior, two parameters at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.plots.chosen import chosen, strongest_pairs
from aptmc.plots.style import BLUE, DARK, SKY, WIDTH, checked_width, figure, of_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

MOST_POINTS = 4000
FEW_POINTS = 800  # are drawn larger
MOST_PAIRS = 6  # parameters on two columns of a paper; more would not be legible
NARROW_PAIRS = 4  # on one
SIDE = 1.5  # inches of a panel
LETTER = 0.6  # its width, in sizes of the font
USUAL, SMALLEST = 8.0, 5.0  # of labels
FLATTER = 0.64  # a square as wide as a page would fill a screen


@of_runs
def pairs(run: Run, *, names: Sequence[str] | None = None, width: float | None = None) -> Figure:
    """All pairs of parameters: clouds below the diagonal, correlations above it.

    :param names: of the parameters that are wanted; by default all, and of many those with the
        strongest correlations
    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    size = len(chosen(run, names))
    broad = checked_width(width, max(min(WIDTH, SIDE * size), 2.6))
    shown = most_in(broad) if names is None else size
    labels = chosen(run, names) if size <= shown else strongest_pairs(run, shown)[0]
    values = np.column_stack([np.concatenate(run.series(name)) for name in labels])
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) > 0:
        # Of models with different parameters these are the draws that have them all, of one model.
        varies = np.ptp(values, axis=0) > 0.0
        if names is None and varies.any():
            values = values[:, varies]
            labels = tuple(label for label, one in zip(labels, varies, strict=True) if one)
    points = values[:: max(len(values) // MOST_POINTS, 1)]
    size = len(labels)
    small = _label_size(labels, broad * (FLATTER if width is not None else 1.0) / size)
    ticks = 4 if broad / size > 1.3 else 2
    with figure(broad * (FLATTER if width is not None and size > 2 else 1.0), broad) as new:
        from matplotlib.ticker import MaxNLocator

        axes = new.subplots(size, size, squeeze=False)
        ranges = _ranges(values)
        with np.errstate(all="ignore"):  # a constant has no correlation
            correlations = np.atleast_2d(np.corrcoef(values.T)) if len(values) > 1 else None
        for row in range(size):
            for column in range(size):
                panel = axes[row, column]
                _pair(panel, points, row, column, correlations, ranges)
                for axis in (panel.xaxis, panel.yaxis):
                    if panel.axison and (axis is panel.xaxis or row != column):
                        axis.set_major_locator(MaxNLocator(ticks, prune="both"))
                panel.set_xlabel(labels[column] if row == size - 1 else "")
                panel.set_ylabel(labels[row] if column == 0 else "", fontsize=small)
                panel.tick_params(labelbottom=row == size - 1, labelleft=column == 0 and row > 0)
        new.align_labels()
    return new


def most_in(width: float) -> int:
    """How many parameters a figure of some width has room for."""
    return MOST_PAIRS if width > 0.75 * WIDTH else NARROW_PAIRS


def _label_size(labels: Sequence[str], height: float) -> float | None:
    """The size at which labels on their side fit into a panel; None if the usual one does."""
    longest = max(map(len, labels), default=1)
    fits = 72.0 * 0.8 * height / (LETTER * max(longest, 1))
    return None if fits >= USUAL else max(fits, SMALLEST)


def _signed(correlation: float) -> str:
    """With two decimals; nothing has no sign."""
    text = f"{correlation:+.2f}"
    return "0.00" if float(text) == 0.0 else text


def _ranges(values: Any) -> list[tuple[float, float]]:
    """By parameter, what is shown: one draw far out would leave the rest no room."""
    if len(values) == 0:
        return [(0.0, 1.0)] * values.shape[1]
    low, high = np.quantile(values, [0.001, 0.999], axis=0)
    margin = np.where(high > low, 0.05 * (high - low), 0.5)
    return list(zip((low - margin).tolist(), (high + margin).tolist(), strict=True))


def _pair(panel: Any, shown: Any, row: int, column: int, correlations: Any, ranges: Any) -> None:
    if row == column:
        if len(shown) > 0:
            panel.hist(shown[:, row], bins=30, range=ranges[row], color=SKY, linewidth=0)
        panel.set_xlim(ranges[column])
        panel.set_yticks([])
        panel.spines["left"].set_visible(False)
    elif row > column:
        is_sparse = len(shown) < FEW_POINTS
        panel.plot(
            shown[:, column], shown[:, row], ".", color=BLUE, markersize=3.0 if is_sparse else 1.5,
            alpha=0.6 if is_sparse else 0.25, markeredgewidth=0, rasterized=True,
        )  # fmt: skip
        panel.set_xlim(ranges[column])
        panel.set_ylim(ranges[row])
    else:
        panel.axis("off")
        if correlations is not None and np.isfinite(correlations[row, column]):
            strength = correlations[row, column]
            panel.text(
                0.5, 0.5, _signed(strength), ha="center", va="center", transform=panel.transAxes,
                fontsize=7.5 + 5.0 * abs(strength), color=BLUE if abs(strength) > 0.3 else DARK,
            )  # fmt: skip
