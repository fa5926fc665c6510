"""The ladder: how states travel on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.plots.boxes import bend_far_down, draw_box, factors, thickness
from aptmc.plots.style import (
    BLUE,
    CYCLE,
    LIGHT,
    VERMILLION,
    WIDTH,
    checked_width,
    figure,
    label_time,
    name_rungs,
    of_runs,
    rung_colours,
)
from aptmc.problem.chain_state import value_column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

REPLICAS_SHOWN = 4
MOST_STEPS = 4000
GOOD_RATES = (0.2, 0.6)


@of_runs
def swap_rates(run: Run, *, width: float | None = None) -> Figure:
    """How often neighbouring rungs swap when both wait; the shaded range is a good one.

    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    rates = run.swap_rates.neighbours
    levels = run.settings.ladder.levels
    broad = checked_width(width, min(WIDTH, 2.2 + 0.35 * len(levels)))
    with figure(2.4, broad) as new:
        panel = new.subplots()
        panel.axhspan(*GOOD_RATES, color=LIGHT, alpha=0.25, linewidth=0)
        panel.bar(np.arange(rates.size) + 0.5, rates, width=0.7, color=BLUE)
        panel.set_ylim(0.0, 1.0)
        panel.set_ylabel("swap rate")
        name_rungs(panel, [_level(level) for level in levels], broad)
        kind = "tolerance" if run.settings.ladder.kind == "tolerances" else "power"
        panel.set_xlabel(f"{kind} of the rung, coldest first")
        trips = "round trip" if run.round_trips == 1 else "round trips"
        panel.set_title(f"{run.round_trips:,} {trips}")
    return new


def _level(level: float) -> str:
    return "∞" if np.isinf(level) else f"{level:.3g}"


@of_runs
def index_process(run: Run, *, width: float | None = None) -> Figure:
    """On which rung some of the states were, over time. Needs the draws of all rungs.

    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    rungs = run.settings.ladder.rungs
    times, replicas, places = [], [], []
    for rung in range(rungs):
        for draws in run.chains(rung):
            times.append(draws.time)
            replicas.append(draws.replica)
            places.append(np.full(draws.time.size, rung))
    time = np.concatenate(times)
    order = np.argsort(time, kind="stable")
    time, replica = time[order], np.concatenate(replicas)[order]
    place = np.concatenate(places)[order]
    shown = np.unique(replica)[:REPLICAS_SHOWN]
    with figure(0.8 + 0.9 * max(shown.size, 1), checked_width(width, WIDTH)) as new:
        axes = new.subplots(max(shown.size, 1), 1, sharex=True, squeeze=False)[:, 0]
        for panel, number, colour in zip(axes, shown, CYCLE, strict=False):
            mine = np.flatnonzero(replica == number)
            mine = mine[:: max(mine.size // MOST_STEPS, 1)]
            panel.step(time[mine], place[mine], where="post", color=colour, linewidth=0.6)
            panel.set_ylim(rungs - 0.5, -0.5)
            panel.set_yticks(sorted({0, rungs - 1}))
            panel.set_ylabel("rung")
            panel.set_title(f"state {number}")
        label_time(axes[-1], run, run.elapsed)
    return new


@of_runs
def levels(run: Run, *, width: float | None = None) -> Figure:
    """The value that exchanges look at (a distance, a log likelihood), on each rung.

    Needs the draws of all rungs. On a ladder of tolerances, a mark shows each rung's tolerance.

    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    settings = run.settings
    rungs, column = settings.ladder.rungs, value_column(settings.problem.dimension)
    lowest, at_coldest = np.inf, (0.0, 0.0)
    broad = checked_width(width, min(WIDTH, 2.2 + 0.35 * rungs))
    with figure(2.4, broad) as new:
        panel = new.subplots()
        for rung, colour in enumerate(rung_colours(rungs)):
            values: Any = np.concatenate([draws.state[:, column] for draws in run.chains(rung)])
            values = values[np.isfinite(values)]
            if values.size == 0:
                continue
            lowest = min(lowest, float(np.quantile(values, 0.05)))
            if rung == 0:
                at_coldest = tuple(np.quantile(values, [0.05, 0.95]).tolist())
            draw_box(panel, rung, values, colour, thickness(rungs, broad))
        if settings.ladder.kind == "tolerances":
            panel.plot(
                range(rungs), settings.ladder.levels, "_", color=VERMILLION, markersize=9,
                label="tolerance",
            )  # fmt: skip
            panel.legend(loc="upper left")
            if lowest > 0.0:  # from the coldest rung to the prior it may be a factor of thousands
                factors(panel)
        else:
            bend_far_down(panel, at_coldest)
        name_rungs(panel, [str(rung) for rung in range(rungs)], broad)
        panel.set_xlabel("rung")
        over = " times prior / reference" if settings.problem.reference_is_fitted else ""
        panel.set_ylabel(settings.problem.value_name.replace("_", " ") + over)
    return new
