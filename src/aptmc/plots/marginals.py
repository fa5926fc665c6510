"""The posterior, one parameter at a time, beside its prior.

Drawn here, and not by arviz-plots, for two reasons. Its version 0.8 cannot be imported with
matplotlib 3.11, so that a dependency on it would break every plot and report. And it wants chains
of one length, where anytime chains have each their own: theirs would lose draws. Where it works,
`arviz_plots.plot_dist(run.draws)` takes the draws as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from aptmc.checks import numbers
from aptmc.errors import InputError
from aptmc.plots.chosen import chosen, pooled
from aptmc.plots.style import (
    BLUE,
    DARK,
    LIGHT,
    SKY,
    VERMILLION,
    WIDTH,
    checked_width,
    columns_in,
    figure,
    of_runs,
)
from aptmc.problem.prior_shape import PriorShape, prior_shapes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

LEAST_SPREAD = 1e-12
HEIGHT = 1.75  # inches of a row of panels
ALONE = 3.2  # inches: of a figure with a single panel
MOST_WHOLE = 40  # whole numbers that have a bar each
POINTS = 300  # of a prior's density
ROOM = 1.6  # how much higher than the posterior the prior may reach into a panel


Reference = Callable[[Any], Any] | npt.ArrayLike


@of_runs
def marginals(
    run: Run,
    reference: Mapping[str, Reference] | None = None,
    *,
    names: Sequence[str] | None = None,
    prior: bool = True,
    width: float | None = None,
) -> Figure:
    """Each parameter's posterior, with its mean and 90 % interval, and its prior in grey.

    :param reference: by name, what to compare with: a density, a function of one number, is drawn
        as a line; draws of another sampler, an array, as the outline of their histogram
    :param names: of the parameters that are wanted; by default all
    :param prior: whether to draw the prior, if it is known
    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    shown = chosen(run, names)
    for name in reference or {}:
        if name not in shown:
            raise InputError(f"there is no parameter {name!r}: there are {', '.join(shown)}")
    shapes = prior_shapes(run.settings.problem) if prior else {}
    whole = {
        label
        for one in run.settings.problem.variables
        if one.kind == "whole"
        for label in one.labels
    }
    broad = checked_width(width, WIDTH if len(shown) > 1 else ALONE)
    columns = columns_in(broad, len(shown))
    rows = -(-len(shown) // columns)
    height = HEIGHT * rows + 0.25 if len(shown) > 1 else 2.4
    with figure(height, broad) as new:
        axes = new.subplots(rows, columns, squeeze=False).ravel()
        for panel, name in zip(axes, shown, strict=False):
            values = pooled(run, name)
            panel.set_xlabel(name)
            panel.set_yticks([])
            panel.spines["left"].set_visible(False)
            if values.size == 0:
                continue
            edges = _histogram(panel, values, is_whole=name in whole)
            if name in shapes:
                _draw_prior(panel, shapes[name], edges)
            if reference is not None and name in reference:
                _draw_reference(panel, name, reference[name], edges)
        for panel in axes[len(shown) :]:
            panel.set_visible(False)
        if any(name in shapes for name in shown):
            _explain(new)
    return new


def _explain(new: Any) -> None:
    from matplotlib.patches import Patch

    posterior = Patch(color=SKY, linewidth=0, label="posterior")
    prior = Patch(facecolor=LIGHT, alpha=0.45, edgecolor=DARK, linewidth=0.5, label="prior")
    new.legend(handles=[posterior, prior], loc="outside upper right", ncols=2)


def _draw_prior(panel: Any, shape: PriorShape, edges: Any) -> None:
    """In front of the posterior, but pale: it is seen where it is higher, too."""
    bottom, top = panel.get_ylim()
    if shape.is_whole and np.allclose(np.diff(edges), 1.0):
        heights = shape.density(edges[:-1] + 0.5)
        panel.stairs(heights, edges, color=LIGHT, alpha=0.45, fill=True, zorder=2, label="prior")
        panel.patches[-1].set_edgecolor(DARK)
    else:
        grid = np.linspace(edges[0], edges[-1], POINTS)
        heights = shape.density(grid)
        panel.fill_between(
            grid, heights, color=LIGHT, alpha=0.45, linewidth=0, zorder=2, label="prior"
        )
        panel.add_collection(_outline(grid, heights), autolim=False)
    highest = float(heights.max(initial=0.0))
    panel.set_ylim(bottom, min(max(top, 1.05 * highest), ROOM * top))


def _outline(grid: Any, heights: Any) -> Any:
    from matplotlib.collections import LineCollection

    return LineCollection([np.column_stack([grid, heights])], colors=DARK, linewidths=0.5)


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
    line = panel.lines[-1] if callable(reference) else panel.patches[-1]
    panel.legend(handles=[line], loc="upper right")


def _histogram(panel: Any, values: Any, *, is_whole: bool) -> Any:
    edges = _edges(values, is_whole=is_whole)
    panel.hist(values, bins=edges, density=True, color=SKY, linewidth=0)
    q5, q95 = np.quantile(values, [0.05, 0.95])
    height = panel.get_ylim()[1]
    panel.plot([q5, q95], [-0.03 * height] * 2, color=BLUE, linewidth=3, solid_capstyle="butt")
    panel.plot([values.mean()], [-0.03 * height], "o", color=DARK, markersize=3.5)
    panel.set_ylim(-0.07 * height, None)
    panel.set_title(f"{values.mean():.3g}  [{q5:.3g}, {q95:.3g}]")
    return edges


def _edges(values: Any, *, is_whole: bool) -> Any:
    """Of the bars: one for each whole number, if they are not too many."""
    low, high = np.quantile(values, [0.001, 0.999])
    if is_whole and high - low < MOST_WHOLE:
        return np.arange(np.floor(low), np.floor(high) + 2.0) - 0.5
    if high - low <= LEAST_SPREAD * max(abs(low), 1.0):
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(2.0 * values.size ** (1.0 / 3.0), 12, 40))
    return np.linspace(low, high, bins + 1)
