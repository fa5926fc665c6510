"""Where chains went, and how fast they forget where they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.checks import whole_number
from aptmc.diagnostics import autocorrelation as estimate
from aptmc.plots.chosen import chosen, slowest
from aptmc.plots.style import (
    BLUE,
    CYCLE,
    DARK,
    LIGHT,
    WIDTH,
    checked_width,
    columns_in,
    figure,
    label_time,
    of_runs,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

MOST_TRACES = 4  # parameters, unless more are named
MOST_CURVES = 6
MOST_POINTS = 3000  # of a trace
FEWEST_LAGS, MOST_LAGS = 10, 5000
GONE = 0.05  # an autocorrelation below which nothing is left to see
LONGEST_SHARE = 0.5  # of a chain: at longer lags there is nothing but noise


@of_runs
def traces(run: Run, *, names: Sequence[str] | None = None, width: float | None = None) -> Figure:
    """The draws of the coldest rung as they came, all chains together, and their mean so far.

    :param names: of the parameters that are wanted; by default the slowest four
    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    shown = slowest(run, MOST_TRACES) if names is None else chosen(run, names)
    broad = checked_width(width, WIDTH)
    each = 1.05 if len(shown) > 2 else 1.25
    with figure(max(each * len(shown) + 0.5, 2.4), broad) as new:
        axes = new.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        time = np.concatenate([draws.time for draws in run.chains()])
        order = np.argsort(time, kind="stable")
        time = time[order]
        for panel, name in zip(axes, shown, strict=True):
            values = np.concatenate(run.series(name))[order]
            there = np.isfinite(values)
            _trace(panel, time[there], values[there])
            panel.set_ylabel(name)
        if time.size > 0:
            axes[-1].set_xlim(time[0], max(time[-1], time[0] + 1e-9))
        label_time(axes[-1], run, run.elapsed)
        new.align_ylabels()
    return new


def _trace(panel: Any, time: Any, values: Any) -> None:
    if values.size == 0:
        return
    step = max(values.size // MOST_POINTS, 1)
    panel.plot(
        time[::step], values[::step], ".", color=BLUE, alpha=0.45, markersize=2.5,
        markeredgewidth=0, rasterized=True,
    )  # fmt: skip
    ends = np.unique(np.linspace(min(20, values.size), values.size, 60).astype(int))
    panel.plot(time[ends - 1], np.cumsum(values)[ends - 1] / ends, color=DARK, linewidth=0.9)
    low, high = np.quantile(values, [0.001, 0.999])
    if high > low:
        panel.set_ylim(low - 0.08 * (high - low), high + 0.08 * (high - low))
    panel.locator_params(axis="y", nbins=4)


@of_runs
def autocorrelation(
    runs: Run | Mapping[str, Run],
    lags: int | None = None,
    *,
    names: Sequence[str] | None = None,
    width: float | None = None,
) -> Figure:
    """How the draws of a chain on the coldest rung resemble those some draws later.

    Of one run the parameters share a panel; several, by name, are compared in a panel for each.

    :param lags: how far; by default until nothing is left to see, or half of the chains' length
    :param names: of the parameters that are wanted; by default the slowest ones
    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    most = None if lags is None else whole_number("lags", lags, least=1)
    if isinstance(runs, Mapping):
        return _compared(runs, most, names, width)
    run = runs
    shown = slowest(run, MOST_CURVES) if names is None else chosen(run, names)
    curves = {name: curve for name in shown if (curve := _curve(run, name, most)) is not None}
    longest = _seen(list(curves.values()), most)
    with figure(2.4, checked_width(width, 3.4)) as new:
        panel = new.subplots()
        for number, (name, curve) in enumerate(curves.items()):
            colour = CYCLE[number % len(CYCLE)]
            panel.plot(curve[: longest + 1], color=colour, label=name)
        panel.axhline(0.0, color=LIGHT, linewidth=0.6)
        panel.set_xlabel("lag, in draws")
        panel.set_ylabel("autocorrelation")
        panel.set_xlim(0, longest)
        if 1 < len(curves) <= len(CYCLE):
            panel.legend(loc="upper right")
        elif len(curves) == 1:
            panel.set_title(next(iter(curves)))
    return new


def _compared(
    named: Mapping[str, Run], lags: int | None, names: Sequence[str] | None, width: float | None
) -> Figure:
    first = next(iter(named.values()))
    shown = slowest(first, 2 * MOST_CURVES) if names is None else chosen(first, names)
    broad = checked_width(width, min(WIDTH, max(2.4 * len(shown), 3.4)))
    columns = columns_in(broad, len(shown))
    rows = -(-len(shown) // columns)
    with figure(1.9 * rows + 0.2, broad) as new:
        axes = new.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        longest = 1
        for panel, name in zip(axes, shown, strict=False):
            curves = {label: _curve(run, name, lags) for label, run in named.items()}
            known = {label: curve for label, curve in curves.items() if curve is not None}
            longest = max(longest, _seen(list(known.values()), lags))
            for (label, curve), colour in zip(known.items(), CYCLE, strict=False):
                panel.plot(curve, color=colour, label=label)
            panel.axhline(0.0, color=LIGHT, linewidth=0.6)
            panel.set_title(name)
            panel.set_xlabel("lag, in draws")
        for panel in axes[: len(shown)]:
            panel.set_xlim(0, longest)
        axes[0].set_ylabel("autocorrelation")
        for panel in axes[len(shown) :]:
            panel.set_visible(False)
        if len(named) > 1:
            handles, labels = axes[0].get_legend_handles_labels()
            new.legend(handles, labels, loc="outside lower center", ncols=min(len(named), 4))
    return new


def _curve(run: Run, name: str, lags: int | None) -> Any:
    """The mean over chains, as far as the shortest of them tells; None, if none does."""
    series = [values[np.isfinite(values)] for values in run.series(name)]
    series = [values for values in series if values.size > 2]
    if not series:
        return None
    shortest = min(values.size for values in series)
    far = min(shortest - 1, lags if lags is not None else MOST_LAGS)
    if lags is None:
        far = max(min(far, int(LONGEST_SHARE * shortest)), 1)
    return np.mean([estimate(values, far) for values in series], axis=0)


def _seen(curves: list[Any], lags: int | None) -> int:
    """Up to which lag there is something to see, and as much again."""
    if not curves:
        return 1
    longest: int = max(curve.size - 1 for curve in curves)
    if lags is not None:
        return longest
    gone = 0
    for curve in curves:
        below = np.flatnonzero(np.abs(curve) < GONE)
        gone = max(gone, int(below[0]) if below.size else curve.size - 1)
    return min(longest, max(2 * gone, FEWEST_LAGS))
