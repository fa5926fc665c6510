"""The figures of a report: which suit a run, and what they look like inside a page."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from aptmc import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

RESOLUTION = 200  # dots per inch
SCREEN = 130  # of a screen's dots for an inch of a figure
BROAD = 4.6  # inches: wider ones do not get narrower than letters can be read


class Plot(NamedTuple):
    """A figure of the report before it is drawn."""

    title: str
    caption: str
    draw: Callable[[], Figure]


class Picture(NamedTuple):
    """A figure of the report inside the page."""

    title: str
    caption: str
    width: int  # on a screen
    is_broad: bool
    data: str  # of a PNG, in base 64


NO_FIGURES = "There are no figures, which need matplotlib: pip install 'aptmc[plots]'"


def can_draw() -> bool:
    """Whether there is anything to draw with."""
    try:
        return find_spec("matplotlib") is not None
    except ValueError:  # somebody has put something else in its place
        return False


def pictures(run: Run, beside: Run | None) -> list[Picture]:
    """Draw all figures that suit a run."""
    return [drawn(plot) for plot in plots_of(run, beside)]


def drawn(plot: Plot) -> Picture:
    """A figure in a page, so that the page needs no other file."""
    buffer = io.BytesIO()
    figure = plot.draw()
    figure.savefig(buffer, format="png", dpi=RESOLUTION)
    inches = figure.get_figwidth()
    return Picture(
        title=plot.title,
        caption=plot.caption,
        width=round(inches * SCREEN),
        is_broad=inches > BROAD,
        data=base64.b64encode(buffer.getvalue()).decode(),
    )


def plots_of(run: Run, beside: Run | None) -> list[Plot]:
    """The figures that suit a run, in the order in which they are shown."""

    both = [run] if beside is None else [run, beside]
    found = [
        Plot(
            "Marginals",
            "Each parameter's posterior; the bar is the 90 % interval, the dot the mean.",
            lambda: plots.marginals(run),
        ),
    ]
    if len(run.settings.problem.labels) > 1:
        found.append(
            Plot(
                "Pairs",
                "Parameters two by two, and their correlations.",
                lambda: plots.pairs(run),
            )
        )
    if run.events.kind.size > 0:
        found += [
            Plot(
                "Processors",
                "What each processor did for a while: a box is a move, coloured by rung; white is "
                "idle time; lines are exchanges.",
                lambda: plots.timeline(*(one for one in both if one.events.kind.size > 0)),
            ),
            Plot(
                "Time of moves",
                "Moves of the same rung differ: half of them lie inside the box, nine tenths "
                "inside the line.",
                lambda: plots.hold_times(run),
            ),
            Plot(
                "Busy",
                "Share of processor time inside moves, over the run.",
                lambda: plots.utilisation(*(one for one in both if one.events.kind.size > 0)),
            ),
        ]
    if run.settings.ladder.rungs > 1:
        found.append(
            Plot(
                "Ladder",
                "How often neighbouring rungs swap when both wait; the shaded range is a good one.",
                lambda: plots.swap_rates(run),
            )
        )
        if run.keeps_all:
            found += [
                Plot(
                    "Journeys",
                    "On which rung some of the states were, over time.",
                    lambda: plots.index_process(run),
                ),
                Plot("Levels", "What exchanges look at, on each rung.", lambda: plots.levels(run)),
            ]
    found.append(
        Plot(
            "Autocorrelation",
            "How fast the coldest rung forgets where it was.",
            lambda: plots.autocorrelation(run),
        )
    )
    return found
