"""How fast chains forget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from aptmc.diagnostics import autocorrelation as estimate
from aptmc.plots.style import CYCLE, LIGHT, WIDTH, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

PANELS_PER_ROW = 4


def autocorrelation(runs: Run | Mapping[str, Run], lags: int = 200) -> Figure:
    """The coldest rung's autocorrelation for each parameter, of one run or of several by name."""
    named = runs if isinstance(runs, Mapping) else {"": runs}
    names = next(iter(named.values())).settings.problem.labels
    columns = min(len(names), PANELS_PER_ROW)
    rows = -(-len(names) // columns)
    with figure(1.9 * rows + 0.2, min(WIDTH, 2.4 * columns)) as new:
        axes = new.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        shown = 1
        for panel, name in zip(axes, names, strict=False):
            for (label, run), colour in zip(named.items(), CYCLE, strict=False):
                series = [values for values in run.series(name) if values.size > 2]
                if series:
                    longest = min(lags, min(values.size for values in series) - 1)
                    shown = max(shown, longest)
                    curves = [estimate(values, longest) for values in series]
                    panel.plot(np.mean(curves, axis=0), color=colour, label=label)
            panel.axhline(0.0, color=LIGHT, linewidth=0.6)
            panel.set_title(name)
            panel.set_xlabel("lag, in draws")
            panel.set_xlim(0, shown)
        axes[0].set_ylabel("autocorrelation")
        for panel in axes[len(names) :]:
            panel.set_visible(False)
        if len(named) > 1:
            handles, labels = axes[0].get_legend_handles_labels()
            new.legend(handles, labels, loc="outside lower center", ncols=min(len(named), 4))
    return new
