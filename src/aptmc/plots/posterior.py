"""The posterior: one parameter at a time, and two.

Drawn here, and not by arviz-plots, for two reasons. Its version 0.8 cannot be imported with
matplotlib 3.11, so that a dependency on it would break every plot and report. And it wants chains
of one length, where anytime chains have each their own: theirs would lose draws. Where it works,
`arviz_plots.plot_dist(run.draws)` takes the draws as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from aptmc.checks import numbers
from aptmc.errors import InputError
from aptmc.plots.style import BLUE, DARK, SKY, VERMILLION, WIDTH, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

PANELS_PER_ROW = 4
MOST_POINTS = 4000
FEW_POINTS = 800  # are drawn larger
MOST_PAIRS = 8  # parameters; more would not be legible
LEAST_SPREAD = 1e-12


Reference = Callable[[Any], Any] | npt.ArrayLike


def marginals(run: Run, reference: Mapping[str, Reference] | None = None) -> Figure:
    """Each parameter's posterior, with its mean and 90 % interval.

    :param reference: by name, what to compare with: a density, a function of one number, is drawn
        as a line; draws of another sampler, an array, as the outline of their histogram
    """
    names = run.settings.problem.labels
    for name in reference or {}:
        if name not in names:
            raise InputError(f"there is no parameter {name!r}: there are {', '.join(names)}")
    columns = min(len(names), PANELS_PER_ROW)
    rows = -(-len(names) // columns)
    with figure(1.9 * rows, min(WIDTH, 2.4 * columns)) as new:
        axes = new.subplots(rows, columns, squeeze=False).ravel()
        for panel, name in zip(axes, names, strict=False):
            values = np.concatenate(run.series(name))
            panel.set_xlabel(name)
            panel.set_yticks([])
            panel.spines["left"].set_visible(False)
            if values.size == 0:
                continue
            edges = _histogram(panel, values)
            if reference is not None and name in reference:
                _draw_reference(panel, name, reference[name], edges)
        for panel in axes[len(names) :]:
            panel.set_visible(False)
    return new


def _draw_reference(panel: Any, name: str, reference: Reference, edges: Any) -> None:
    if callable(reference):
        grid = np.linspace(edges[0], edges[-1], 400)
        density = np.array([float(reference(x)) for x in grid])
        panel.plot(grid, density, color=VERMILLION, label="reference")
    else:
        draws = numbers(reference)
        if draws is None or draws.size == 0:
            raise InputError(
                f"the reference of {name} must be a density or an array of finite draws, got "
                f"{reference!r}"
            )
        # By the number of all draws, also of those outside: else a reference that lies elsewhere
        # would look like one that agrees.
        counts, _ = np.histogram(draws, edges)
        heights = counts / (draws.size * np.diff(edges))
        panel.stairs(heights, edges, color=VERMILLION, linewidth=1.2, label="reference")
    bottom, top = panel.get_ylim()
    panel.set_ylim(bottom, 1.2 * top)  # room for the legend
    panel.legend(loc="upper right")


def _histogram(panel: Any, values: Any) -> Any:
    low, high = np.quantile(values, [0.001, 0.999])
    if high - low <= LEAST_SPREAD * max(abs(low), 1.0):
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(2.0 * values.size ** (1.0 / 3.0), 12, 40))
    _, edges, _ = panel.hist(
        values, bins=bins, range=(low, high), density=True, color=SKY, linewidth=0
    )
    q5, q95 = np.quantile(values, [0.05, 0.95])
    height = panel.get_ylim()[1]
    panel.plot([q5, q95], [-0.03 * height] * 2, color=BLUE, linewidth=3, solid_capstyle="butt")
    panel.plot([values.mean()], [-0.03 * height], "o", color=DARK, markersize=3.5)
    panel.set_ylim(-0.07 * height, None)
    panel.set_title(f"{values.mean():.3g}  [{q5:.3g}, {q95:.3g}]")
    return edges


def pairs(run: Run) -> Figure:
    """All pairs of parameters: clouds below the diagonal, correlations above it."""
    names = run.settings.problem.labels[:MOST_PAIRS]
    values = np.column_stack([np.concatenate(run.series(name)) for name in names])
    shown = values[:: max(len(values) // MOST_POINTS, 1)]
    size = len(names)
    side = max(min(WIDTH, 1.5 * size), 2.6)
    with figure(side, side) as new:
        axes = new.subplots(size, size, squeeze=False)
        ranges = _ranges(values)
        correlations = np.atleast_2d(np.corrcoef(values.T)) if len(values) > 1 else None
        for row in range(size):
            for column in range(size):
                panel = axes[row, column]
                _pair(panel, shown, row, column, correlations, ranges)
                panel.set_xlabel(names[column] if row == size - 1 else "")
                panel.set_ylabel(names[row] if column == 0 else "")
                panel.tick_params(labelbottom=row == size - 1, labelleft=column == 0 and row > 0)
    return new


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
            text = f"{correlations[row, column]:+.2f}"
            panel.text(0.5, 0.5, text, ha="center", va="center", transform=panel.transAxes)
