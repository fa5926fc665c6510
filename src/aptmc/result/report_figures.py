"""The figures of a report: which suit a run, and what they look like inside a page.

A figure is as wide as the page, or half as wide, and then two stand side by side. Of a wide one
there is a narrow version, too, with fewer panels beside each other: a phone shows that one, so that
letters are as large there as anywhere.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from aptmc import plots
from aptmc.plots.chosen import slowest, strongest_pairs
from aptmc.plots.intervals import vectors
from aptmc.plots.mixing import MOST_TRACES
from aptmc.plots.pairs import most_in
from aptmc.plots.style import COLUMN, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.problem.variables import Variable
    from aptmc.result.run import Run

RESOLUTION = 200  # dots per inch
SCREEN = 130  # of a screen's dots for an inch of a figure
MOST_MARGINALS = 12
MOST_IN_ROW = 2  # parameters whose figures are half as wide as the page
FEW_PLACES = 4  # of a vector: each has a panel of its own


class Plot(NamedTuple):
    """A figure of the report before it is drawn."""

    title: str
    caption: str
    draw: Callable[[float], Figure]  # so wide
    is_small: bool = False  # half as wide as the page, if another such figure stands beside it
    narrow_caption: str = ""  # of the narrow version, if it is another


class Picture(NamedTuple):
    """A figure of the report inside the page."""

    title: str
    caption: str
    width: int  # on a screen
    is_small: bool
    data: str  # of a PNG, in base 64
    narrow: str | None  # another one for phones, if it is not the same
    narrow_caption: str


NO_FIGURES = "There are no figures, which need matplotlib: pip install 'aptmc[plots]'"


def can_draw() -> bool:
    """Whether there is anything to draw with."""
    try:
        return find_spec("matplotlib") is not None
    except ValueError:  # somebody has put something else in its place
        return False


def pictures(run: Run, beside: Run | None) -> list[Picture]:
    """Draw all figures that suit a run."""
    return [drawn(plot) for plot in side_by_side(plots_of(run, beside))]


def side_by_side(plots: list[Plot]) -> list[Plot]:
    """Small figures stand in pairs; one that is left alone is as wide as the page."""
    found, at = [], 0
    while at < len(plots):
        if plots[at].is_small and at + 1 < len(plots) and plots[at + 1].is_small:
            found += plots[at : at + 2]
            at += 2
        else:
            found.append(plots[at]._replace(is_small=False))
            at += 1
    return found


def drawn(plot: Plot) -> Picture:
    """A figure in a page, so that the page needs no other file."""
    width = COLUMN if plot.is_small else WIDTH
    return Picture(
        title=plot.title,
        caption=plot.caption,
        width=round(width * SCREEN),
        is_small=plot.is_small,
        data=_as_text(plot.draw(width)),
        narrow=None if plot.is_small else _as_text(plot.draw(COLUMN)),
        narrow_caption="" if plot.is_small else plot.narrow_caption,
    )


def _as_text(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=RESOLUTION)
    return base64.b64encode(buffer.getvalue()).decode()


def plots_of(run: Run, beside: Run | None) -> list[Plot]:
    """The figures that suit a run, in the order in which they are shown."""
    return [
        *_of_the_posterior(run),
        *_of_mixing(run),
        *_of_processors(run, beside),
        *([_journeys(run)] if run.settings.ladder.rungs > 1 and run.keeps_all else []),
    ]


def _of_the_posterior(run: Run) -> Iterator[Plot]:
    labels = run.settings.problem.labels
    long = [one for one in vectors(run) if one.size > FEW_PLACES]
    alone = _for_marginals(run, long)
    few = len(labels) <= MOST_IN_ROW
    if alone:
        left_out = len(labels) - len(alone)
        rest = ""
        if long:
            rest = f" {' and '.join(one.name for one in long)}: see the intervals."
        elif left_out:
            rest = f" The {len(alone)} of {len(labels)} parameters with the fewest effective draws."
        yield Plot(
            "Marginals",
            "Each parameter's posterior and, grey, its prior; the bar is the 90 % interval, the "
            f"dot the mean, as above the panel.{rest}",
            lambda width: plots.marginals(run, names=alone, width=width),
            is_small=len(labels) == 1,
        )
    if long:
        yield Plot(
            "Intervals",
            "For each place of a vector: half of the posterior lies inside the thick bar, nine "
            "tenths inside the thin one; the dot is the median; grey is the prior's 90 % interval.",
            lambda width: plots.intervals(run, names=[one.name for one in long], width=width),
        )
    if len(labels) > 1:
        yield Plot(
            "Pairs",
            _about_pairs(run, WIDTH),
            lambda width: plots.pairs(run, width=width),
            is_small=few,
            narrow_caption=_about_pairs(run, COLUMN),
        )
    slow = slowest(run, MOST_TRACES)
    some = "" if len(labels) <= MOST_TRACES else f" The slowest {len(slow)} of {len(labels)}."
    yield Plot(
        "Traces",
        "The draws as they came; the line is their mean up to there. They should look the "
        f"same from the beginning to the end.{some}",
        lambda width: plots.traces(run, width=width),
        is_small=few,
    )


def _for_marginals(run: Run, long: list[Variable]) -> tuple[str, ...]:
    """What has a panel of its own: no places of long vectors, and not too many."""
    in_vectors = {label for one in long for label in one.labels}
    alone = tuple(one for one in run.settings.problem.labels if one not in in_vectors)
    if len(alone) <= MOST_MARGINALS:
        return alone
    slow = set(slowest(run, MOST_MARGINALS))
    return tuple(one for one in alone if one in slow) or alone[:MOST_MARGINALS]


def _about_pairs(run: Run, width: float) -> str:
    """Of many parameters a few are shown: is there anything to see elsewhere?"""
    words = "Parameters two by two, and their correlations."
    labels = run.settings.problem.labels
    names, strongest = strongest_pairs(run, most_in(width))
    if len(names) == len(labels):
        return words
    return (
        f"{words} The {len(names)} of {len(labels)} parameters with the strongest ones; no other "
        f"pair is correlated by more than {strongest:.2f}."
    )


def _of_mixing(run: Run) -> Iterator[Plot]:
    yield Plot(
        "Autocorrelation",
        "How fast a chain on the coldest rung forgets where it was.",
        lambda width: plots.autocorrelation(run, width=width),
        is_small=True,
    )
    if run.settings.ladder.rungs > 1:
        yield Plot(
            "Ladder",
            "How often neighbouring rungs swap when both wait; the shaded range is a good one.",
            lambda width: plots.swap_rates(run, width=width),
            is_small=True,
        )
        if run.keeps_all:
            yield Plot(
                "Levels",
                "What exchanges look at, on each rung.",
                lambda width: plots.levels(run, width=width),
                is_small=True,
            )


def _of_processors(run: Run, beside: Run | None) -> Iterator[Plot]:
    if run.events.kind.size == 0:
        return
    both = [run] if beside is None else [run, beside]
    logged = [one for one in both if one.events.kind.size > 0]
    yield Plot(
        "Time of moves",
        "Moves of the same rung differ: half of them lie inside the box, nine tenths inside the "
        "line.",
        lambda width: plots.hold_times(run, width=width),
        is_small=True,
    )
    yield Plot(
        "Busy",
        "Share of processor time inside moves, over the run.",
        lambda width: plots.utilisation(*logged, width=width),
        is_small=True,
    )
    yield Plot(
        "Processors",
        "What each processor did for a while: a box is a move, coloured by rung; white is idle "
        "time; lines are exchanges.",
        lambda width: plots.timeline(*logged, width=width),
    )


def _journeys(run: Run) -> Plot:
    return Plot(
        "Journeys",
        "On which rung some of the states were, over time.",
        lambda width: plots.index_process(run, width=width),
    )
