"""What the processors did: moves, exchanges, idle time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.errors import InputError
from aptmc.plots.boxes import draw_box, factors, thickness
from aptmc.plots.style import (
    BLUE,
    DARK,
    VERMILLION,
    WIDTH,
    checked_width,
    figure,
    label_time,
    name_rungs,
    of_runs,
    rung_colours,
)
from aptmc.record.event_log import TAKEN, Events, joined_events

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

MOVES_SHOWN = 30  # of each processor, about
MOST_PROCESSORS = 32
MOST_NAMED = 16
BINS = 60


class Window(NamedTuple):
    """The part of a run that a timeline shows."""

    start: float
    end: float


@of_runs
def timeline(
    *runs: Run,
    start: float | None = None,
    length: float | None = None,
    width: float | None = None,
) -> Figure:
    """Who computed what when: one row for each processor, coloured by rung; white is idle.

    Lines mark exchanges. Several runs, an anytime and a synchronous one say, are drawn one below
    the other, over windows of the same length.

    :param start: where to begin; by default in the middle
    :param length: by default so long that some thirty moves of each processor are seen
    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    _check_any(runs)
    broad = checked_width(width, WIDTH)
    moves = [_moves_and_unfinished(run) for run in runs]
    length = max(map(_usual_length, moves)) * min(broad / WIDTH, 1.0) if length is None else length
    rows = [min(_processors(run), MOST_PROCESSORS) for run in runs]
    heights = [0.5 + 0.22 * count for count in rows]
    rungs = max(run.settings.ladder.rungs for run in runs)
    with figure(sum(heights) + 0.6, broad) as new:
        colours = np.array(rung_colours(rungs))
        axes = new.subplots(len(runs), 1, squeeze=False, height_ratios=heights)[:, 0]
        for panel, run, done, count in zip(axes, runs, moves, rows, strict=True):
            first = max(run.elapsed - length, 0.0) / 2.0 if start is None else start
            window = Window(first, min(first + length, run.elapsed))
            _draw_moves(panel, run, done, window, colours)
            _draw_exchanges(panel, run, window)
            panel.set_ylim(count - 0.5, -0.5)
            step = 1 if count <= MOST_NAMED else 4
            panel.set_yticks(range(0, count, step), [f"{row + 1}" for row in range(0, count, step)])
            panel.set_ylabel("processor")
            panel.set_xlim(window)
            label_time(panel, run, max(other.elapsed for other in runs))
            if panel is not axes[-1]:
                panel.set_xlabel("")
            kind = type(run.settings.schedule).__name__
            panel.set_title(f"{kind}: {run.utilisation:.0%} of the time inside moves")
        _add_key(new, axes, rungs)
    return new


def _add_key(new: Any, axes: Any, rungs: int) -> None:
    import matplotlib as mpl
    import matplotlib.ticker

    if rungs > 1:
        scale = mpl.cm.ScalarMappable(mpl.colors.Normalize(0, rungs - 1), "cividis")
        bar = new.colorbar(scale, ax=list(axes), aspect=30, pad=0.01)
        bar.set_label("rung")
        bar.locator = mpl.ticker.MaxNLocator(nbins=5, integer=True)
        bar.update_ticks()
        bar.outline.set_visible(False)


def _check_any(runs: tuple[Run, ...]) -> None:
    if not runs:
        raise InputError("there is no run to draw: give at least one run")


def _moves(run: Run) -> Events:
    moves = run.events.completions
    if moves.time.size == 0 and run.completions == 0:
        raise InputError("no move was completed, so there is nothing to draw: use a longer budget")
    if moves.time.size == 0:
        raise InputError(
            "no log of events was kept, so nobody knows who computed what when: use log_events=True"
        )
    return moves


def _moves_and_unfinished(run: Run) -> Events:
    """Also what each processor was at when the run ended, up to then."""
    done, events = _moves(run), run.events
    _, last = np.unique(events.chain[::-1], return_index=True)
    last = np.sort(events.kind.size - 1 - last)  # of each chain, the last event
    taken = last[events.kind[last] == TAKEN]
    # Of moves that wait at one processor, the first is under way.
    processors, first = np.unique(events.processor[taken], return_index=True)
    under_way = Events(*(column[taken[first]].copy() for column in events))
    free = np.array([np.max(done.ended[done.processor == p], initial=0.0) for p in processors])
    under_way.began[:] = np.fmax(under_way.time, free)
    under_way.ended[:] = np.maximum(under_way.began, run.elapsed)
    return joined_events([done, under_way])


def _usual_length(moves: Events) -> float:
    """The time that so many moves take as one can see."""
    processors = np.unique(moves.processor).size
    total = float(moves.ended.max() - np.nanmin(moves.began))
    return total * min(MOVES_SHOWN * processors / moves.time.size, 1.0)


def _processors(run: Run) -> int:
    return int(run.events.processor.max()) + 1


def _draw_moves(panel: Any, run: Run, moves: Events, window: Window, colours: Any) -> None:
    from matplotlib.collections import PolyCollection

    seen = (moves.ended > window.start) & (moves.began < window.end)
    seen &= moves.processor < MOST_PROCESSORS
    left = np.maximum(moves.began[seen], window.start)
    right = np.minimum(moves.ended[seen], window.end)
    row = moves.processor[seen]
    corners = np.stack(
        [
            np.column_stack([left, row - 0.4]),
            np.column_stack([right, row - 0.4]),
            np.column_stack([right, row + 0.4]),
            np.column_stack([left, row + 0.4]),
        ],
        axis=1,
    )
    boxes = PolyCollection(
        list(corners),
        facecolors=colours[run.rung_of_chain[moves.chain[seen]]],
        edgecolors="white",
        linewidths=0.4,
    )
    panel.add_collection(boxes)


def _draw_exchanges(panel: Any, run: Run, window: Window) -> None:
    times = np.unique(np.concatenate([draws.time[draws.exchanged] for draws in run.chains()]))
    times = times[(times > window.start) & (times < window.end)]
    if times.size <= 4 * MOVES_SHOWN:
        for time in times:
            panel.axvline(time, color=VERMILLION, linewidth=0.5, alpha=0.7, zorder=0)


@of_runs
def hold_times(run: Run, *, width: float | None = None) -> Figure:
    """How long moves took on each rung: half lie inside the box, nine tenths inside the line.

    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    moves = _moves(run)
    taken, rung = moves.ended - moves.began, run.rung_of_chain[moves.chain]
    rungs = run.settings.ladder.rungs
    broad = checked_width(width, min(WIDTH, 2.0 + 0.35 * rungs))
    with figure(2.4, broad) as new:
        panel = new.subplots()
        for number, colour in enumerate(rung_colours(rungs)):
            mine = taken[(rung == number) & (taken > 0.0)]
            if mine.size > 0:
                draw_box(panel, number, mine, colour, thickness(rungs, broad))
        factors(panel)
        name_rungs(panel, [str(rung) for rung in range(rungs)], broad)
        panel.set_xlabel("rung")
        unit = run.settings.on.time_unit
        panel.set_ylabel(f"time of a move, {unit if unit == 's' else 'units'}")
    return new


@of_runs
def utilisation(*runs: Run, width: float | None = None) -> Figure:
    """The share of processor time inside moves, over the run.

    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    _check_any(runs)
    with figure(2.4, checked_width(width, 4.5)) as new:
        panel = new.subplots()
        for run, colour in zip(runs, (BLUE, VERMILLION, DARK), strict=False):
            moves = _moves_and_unfinished(run)
            edges = np.linspace(0.0, run.elapsed, BINS + 1)
            busy = busy_share(moves.began, moves.ended, edges) / _processors(run)
            middle = 0.5 * (edges[1:] + edges[:-1])
            panel.plot(middle, busy, color=colour, label=type(run.settings.schedule).__name__)
        panel.set_ylim(0.0, 1.05)
        panel.set_ylabel("share inside moves")
        label_time(panel, runs[0], max(run.elapsed for run in runs))
        if len(runs) > 1:
            panel.legend(loc="lower left")
    return new


def busy_share(
    began: npt.NDArray[np.float64], ended: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """In each bin, how many moves were under way on average."""

    def work_until(time: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """All time spent inside moves up to each of some moments."""
        starts, ends = np.sort(began), np.sort(ended)
        before = np.concatenate([[0.0], np.cumsum(starts)])
        after = np.concatenate([[0.0], np.cumsum(ends)])
        begun, done = np.searchsorted(starts, time), np.searchsorted(ends, time)
        total: npt.NDArray[np.float64] = begun * time - before[begun] - (done * time - after[done])
        return total

    share: npt.NDArray[np.float64] = np.diff(work_until(edges)) / np.diff(edges)
    return share
