"""Timelines: boxes are moves, gaps are idle time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes

import aptmc
from aptmc import plots
from aptmc.plots.timelines import busy_share
from tests.support import seen


@pytest.fixture(scope="module")
def anytime() -> aptmc.Run:
    return seen.sample()


@pytest.fixture(scope="module")
def synchronous() -> aptmc.Run:
    return seen.sample(schedule=aptmc.Synchronous())


def boxes(panel: Axes) -> list[tuple[int, float, float]]:
    """Row, left and right of each box that is drawn."""
    (collection,) = panel.collections
    corners = [path.vertices for path in collection.get_paths()]
    return [
        (round(box[:, 1].mean()), box[:, 0].min(), box[:, 0].max())
        for box in (corner[:4] for corner in corners)
    ]


def idle_share(panel: Axes) -> float:
    """The part of the drawn window in which nothing is drawn."""
    left, right = panel.get_xlim()
    rows = len(panel.get_yticks())
    covered = sum(end - begin for _, begin, end in boxes(panel))
    return float(1.0 - covered / ((right - left) * rows))


def test_a_timeline_shows_that_the_synchronous_schedule_waits(
    anytime: aptmc.Run, synchronous: aptmc.Run
) -> None:
    figure = plots.timeline(anytime, synchronous, start=20.0, length=300.0)
    above, below = figure.axes[:2]
    assert above.get_xlim() == below.get_xlim() == (20.0, 320.0)
    assert idle_share(above) < 0.001
    # About a quarter of the whole run, which the title says too.
    assert idle_share(below) > 0.15
    assert above.get_title(loc="left") == "Anytime: 100% of the time inside moves"
    assert below.get_title(loc="left").startswith(f"Synchronous: {synchronous.utilisation:.0%}")


def test_boxes_of_a_processor_do_not_overlap(anytime: aptmc.Run) -> None:
    panel = plots.timeline(anytime).axes[0]
    drawn = boxes(panel)
    assert {row for row, _, _ in drawn} == set(range(seen.WORKERS))
    for processor in range(seen.WORKERS):
        mine = sorted((begin, end) for row, begin, end in drawn if row == processor)
        # Some thirty moves of each are shown.
        assert 15 <= len(mine) <= 60
        assert all(end <= begin + 1e-9 for (_, end), (begin, _) in pairwise(mine))


def test_exchanges_are_drawn_where_they_happened(anytime: aptmc.Run) -> None:
    panel = plots.timeline(anytime, start=100.0, length=150.0).axes[0]
    draws = anytime.chains()[0]
    times = np.unique(draws.time[draws.exchanged])
    times = times[(times > 100.0) & (times < 250.0)]
    assert times.size > 3
    assert [line.get_xdata()[0] for line in panel.lines] == pytest.approx(times)


def test_hold_times_are_the_quantiles_of_each_rung(anytime: aptmc.Run) -> None:
    (panel,) = plots.hold_times(anytime).axes
    moves = anytime.events.completions
    rung = anytime.rung_of_chain[moves.chain]
    expected = [np.median((moves.ended - moves.began)[rung == i]) for i in range(seen.RUNGS)]
    medians = [line.get_ydata()[0] for line in panel.lines if line.get_marker() == "o"]
    assert medians == pytest.approx(expected)


def test_utilisation_over_time_averages_to_that_of_the_run(
    anytime: aptmc.Run, synchronous: aptmc.Run
) -> None:
    (panel,) = plots.utilisation(anytime, synchronous).axes
    names = [text.get_text() for text in panel.get_legend().get_texts()]
    assert names == ["Anytime", "Synchronous"]
    for line, run in zip(panel.lines, (anytime, synchronous), strict=True):
        # Moves under way at the end count up to there.
        assert np.mean(line.get_ydata()) == pytest.approx(run.utilisation, abs=1e-9)


@given(
    moves=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), min_size=1, max_size=12),
    bins=st.integers(1, 7),
)
def test_the_busy_share_is_what_one_counts_by_hand(moves: list[tuple[int, int]], bins: int) -> None:
    """Whole numbers: so a grid of moments between them counts exactly."""
    began = np.array([start for start, _ in moves], dtype=float)
    ended = began + [length for _, length in moves]
    edges = 8.0 * np.arange(bins + 1)
    moments = np.arange(8 * bins) + 0.5
    under_way = (began <= moments[:, None]) & (moments[:, None] < ended)
    by_hand = under_way.sum(axis=1).reshape(bins, 8).mean(axis=1)
    assert busy_share(began, ended, edges) == pytest.approx(by_hand)
