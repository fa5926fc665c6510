"""The posterior after regression adjustment, beside what it was before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.diagnostics import weighted_quantiles
from aptmc.plots.marginals import LEAST_SPREAD
from aptmc.plots.style import BLUE, LIGHT, VERMILLION, WIDTH, columns_in, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.adjusted import Adjusted

BINS = 40


def adjusted_marginals(adjusted: Adjusted) -> Figure:
    """Each parameter's posterior: grey as it was, blue as adjusted, with 90 % intervals."""
    names = adjusted.settings.problem.labels
    columns = columns_in(WIDTH, len(names))
    rows = -(-len(names) // columns)
    weights = np.concatenate(adjusted.weights)
    with figure(1.9 * rows + 0.3, max(min(WIDTH, 2.4 * columns), 3.2)) as new:
        axes = new.subplots(rows, columns, squeeze=False).ravel()
        for panel, name in zip(axes, names, strict=False):
            before = np.concatenate(adjusted.run.series(name))
            after = np.concatenate(adjusted.series(name))
            _compare(panel, before, after, weights)
            panel.set_xlabel(name)
            panel.set_yticks([])
            panel.spines["left"].set_visible(False)
        for panel in axes[len(names) :]:
            panel.set_visible(False)
        lines, words = axes[0].get_legend_handles_labels()
        new.legend(lines, words, loc="outside upper left", ncols=len(words))
    return new


def _compare(panel: Any, before: Any, after: Any, weights: Any) -> None:
    even = np.ones_like(before)
    ends = np.array(
        [
            weighted_quantiles(values, shares, [0.001, 0.999])
            for values, shares in ((before, even), (after, weights))
        ]
    )
    low, high = ends.min(), ends.max()
    if high - low <= LEAST_SPREAD * max(abs(low), 1.0):
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(2.0 * before.size ** (1.0 / 3.0), 12, BINS))
    edges = np.linspace(low, high, bins + 1)
    highest = 0.0
    for values, shares, colour, word, fills in (
        (before, even, LIGHT, "as sampled", True),
        (after, weights, BLUE, "adjusted", False),
    ):
        counts, _ = np.histogram(values, edges, weights=shares)
        heights = counts / (shares.sum() * np.diff(edges))
        panel.stairs(heights, edges, color=colour, fill=fills, linewidth=1.4, label=word)
        highest = max(highest, float(heights.max()))
    for place, values, shares, colour in (
        (-0.04, before, even, LIGHT),
        (-0.09, after, weights, BLUE),
    ):
        q5, q95 = weighted_quantiles(values, shares, [0.05, 0.95])
        centre = np.average(values, weights=shares)
        panel.plot([q5, q95], [place * highest] * 2, color=colour, linewidth=3)
        panel.plot([centre], [place * highest], "o", color=VERMILLION, markersize=2.5)
    panel.set_title(f"{centre:.3g}  [{q5:.3g}, {q95:.3g}]", color=BLUE)
    panel.set_ylim(-0.13 * highest, 1.05 * highest)
