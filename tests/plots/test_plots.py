"""Every plot, of a run in memory and of the same run in a store: its labels and its data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from scipy import stats

import aptmc
from aptmc import plots
from aptmc.diagnostics import autocorrelation as estimate
from tests.support import seen

TIME = "time, units of virtual time"


@pytest.fixture(scope="module")
def run() -> aptmc.Run:
    return seen.sample()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> aptmc.Run:
    return aptmc.open(seen.stored(tmp_path_factory.mktemp("plots")))


@pytest.fixture(scope="module")
def bare() -> aptmc.Run:
    """A run that kept neither a log nor the draws of warmer rungs."""
    return seen.sample(keep="coldest", log_events=False)


@pytest.fixture(params=["run", "stored"])
def either(request: pytest.FixtureRequest) -> aptmc.Run:
    found: aptmc.Run = request.getfixturevalue(request.param)
    return found


def labels(figure: Figure) -> set[str]:
    """All words on the axes."""
    axes = [panel for panel in figure.axes if panel.get_visible()]
    return {panel.get_xlabel() for panel in axes} | {panel.get_ylabel() for panel in axes}


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (plots.marginals, {"a", "b"}),
        (plots.pairs, {"a", "b"}),
        (plots.timeline, {"processor", TIME, "rung"}),
        (plots.hold_times, {"rung", "time of a move, units"}),
        (plots.utilisation, {"share inside moves", TIME}),
        (plots.swap_rates, {"swap rate", "power of the rung, coldest first"}),
        (plots.index_process, {"rung", TIME}),
        (plots.levels, {"rung", "log likelihood"}),
        (plots.autocorrelation, {"autocorrelation", "lag, in draws"}),
        (plots.traces, {"a", "b", TIME}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_plot_is_a_figure_that_says_what_it_shows(
    either: aptmc.Run, draw: Callable[[aptmc.Run], Figure], expected: set[str], tmp_path: Path
) -> None:
    figure = draw(either)
    assert isinstance(figure, Figure)
    assert expected <= labels(figure)
    figure.savefig(tmp_path / "figure.png", dpi=50)  # nothing is left to fail while it is drawn


# --- the posterior ------------------------------------------------------------------------------


def test_marginals_are_densities_with_mean_and_interval(either: aptmc.Run) -> None:
    for panel, name in zip(plots.marginals(either).axes, "ab", strict=True):
        values = either.series(name)[0]
        # Draws beyond the range that is shown are left out, so the area is one.
        area = sum(bar.get_width() * bar.get_height() for bar in panel.patches)
        assert area == pytest.approx(1.0)
        interval, mean = panel.lines
        assert interval.get_xdata() == pytest.approx(np.quantile(values, [0.05, 0.95]))
        assert mean.get_xdata() == pytest.approx([values.mean()])


def test_a_reference_density_is_drawn_as_it_is(run: aptmc.Run) -> None:
    figure = plots.marginals(run, reference={"b": lambda x: 0.1 * x * x})
    first, second = figure.axes
    assert first.get_legend() is None
    assert [text.get_text() for text in second.get_legend().get_texts()] == ["reference"]
    line = second.lines[-1]
    assert line.get_ydata() == pytest.approx(0.1 * np.asarray(line.get_xdata()) ** 2)


def test_reference_draws_are_an_outline_over_the_same_bins(either: aptmc.Run) -> None:
    draws = np.random.default_rng(1).normal(1.0, 1.0, 5000)
    panel = plots.marginals(either, reference={"a": np.append(draws, [1e6] * 5000)}).axes[0]
    (outline,) = (patch for patch in panel.patches if isinstance(patch, StepPatch))
    heights, edges, _ = outline.get_data()
    bars = [bar for bar in panel.patches if not isinstance(bar, StepPatch)]
    assert edges[:-1] == pytest.approx([bar.get_x() for bar in bars])
    # Half of them are elsewhere, and show as missing.
    assert 0.4 < (heights * np.diff(edges)).sum() <= 0.5


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"c": [1.0]}, "there is no parameter 'c': there are a, b"),
        ({"a": []}, "the reference of a must be a density or an array of finite draws, got"),
        ({"a": "text"}, "must be a density or an array of finite draws, got 'text'"),
    ],
)
def test_a_reference_that_is_none_is_refused(run: aptmc.Run, reference, message: str) -> None:
    with pytest.raises(aptmc.InputError, match=message):
        plots.marginals(run, reference=reference)


def test_one_draw_far_out_leaves_room_for_the_others(run: aptmc.Run) -> None:
    _, _, cloud, _ = plots.pairs(run).axes
    for limits, name in ((cloud.get_xlim(), "a"), (cloud.get_ylim(), "b")):
        low, high = np.quantile(run.series(name)[0], [0.001, 0.999])
        assert limits == pytest.approx((low - 0.05 * (high - low), high + 0.05 * (high - low)))


def test_pairs_show_clouds_and_correlations(either: aptmc.Run) -> None:
    a, b = (either.series(name)[0] for name in "ab")
    panels = np.reshape(np.array(plots.pairs(either).axes, dtype=object), (2, 2))
    (cloud,) = panels[1, 0].lines
    assert (np.asarray(cloud.get_xdata()) == a).all()
    assert (np.asarray(cloud.get_ydata()) == b).all()
    (text,) = panels[0, 1].texts
    assert text.get_text() == f"{np.corrcoef(a, b)[0, 1]:+.2f}"


# --- the ladder ---------------------------------------------------------------------------------


def test_swap_rates_are_the_runs(either: aptmc.Run) -> None:
    (panel,) = plots.swap_rates(either).axes
    bars = [bar for bar in panel.patches if bar.get_width() == pytest.approx(0.7)]
    assert [bar.get_height() for bar in bars] == pytest.approx(either.swap_rates.neighbours)
    assert [text.get_text() for text in panel.get_xticklabels()] == ["1", "0.3", "0.1", "0"]
    assert panel.get_title(loc="left") == f"{either.round_trips} round trips"


def test_the_index_process_follows_each_state_through_the_draws(either: aptmc.Run) -> None:
    panels = plots.index_process(either).axes
    assert [panel.get_title(loc="left") for panel in panels] == [f"state {i}" for i in range(4)]
    for state, panel in enumerate(panels):
        (line,) = panel.lines
        visits = np.asarray(line.get_ydata())
        for rung in range(seen.RUNGS):
            draws = either.chains(rung)[0]
            assert (visits == rung).sum() == (draws.replica == state).sum()


def test_levels_mark_the_median_of_each_rung(either: aptmc.Run) -> None:
    (panel,) = plots.levels(either).axes
    medians = [line.get_ydata()[0] for line in panel.lines if line.get_marker() == "o"]
    expected = [np.median(either.chains(rung)[0].state[:, 2]) for rung in range(seen.RUNGS)]
    assert medians == pytest.approx(expected)


def test_distances_are_on_a_logarithmic_scale_and_times_are_counted_in_millions() -> None:
    def simulated_distance(theta, rng, tolerance):
        return abs(theta[0]) + rng.standard_exponential()

    problem = aptmc.Abc.early(simulated_distance, aptmc.Prior(x=stats.norm(0, 3)))
    run = seen.sample(
        problem,
        ladder=aptmc.Ladder.tolerances([2.0, 4.0, 8.0, np.inf]),
        kernel=aptmc.OneHit(1.0),
        budget=3e8,
        schedule=aptmc.Anytime(every=5e6),
        on=aptmc.VirtualTime(2, hold=lambda theta, rung, rng: rng.exponential(2e6)),
    )
    (panel,) = plots.levels(run).axes
    assert panel.get_yscale() == "log"
    panel = plots.timeline(run).axes[0]
    assert panel.get_xlabel() == "time, million units of virtual time"
    panel.figure.draw_without_rendering()
    shown = [float(text.get_text()) for text in panel.get_xticklabels()]
    assert 50 < min(shown) < max(shown) < 300


# --- mixing -------------------------------------------------------------------------------------


def test_autocorrelations_of_several_runs_are_told_apart(run: aptmc.Run, stored: aptmc.Run) -> None:
    figure = plots.autocorrelation({"here": run, "there": stored}, lags=20)
    for panel, name in zip(figure.axes, "ab", strict=True):
        expected = estimate(run.series(name)[0], 20)
        assert panel.lines[0].get_ydata() == pytest.approx(expected)
        assert panel.lines[1].get_ydata() == pytest.approx(expected)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["here", "there"]


# --- what is missing ----------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [plots.timeline, plots.hold_times, plots.utilisation])
def test_without_a_log_the_error_says_how_to_keep_one(
    bare: aptmc.Run, draw: Callable[[aptmc.Run], Figure]
) -> None:
    with pytest.raises(aptmc.InputError, match=r"no log of events was kept.*use log_events=True"):
        draw(bare)


@pytest.mark.parametrize("draw", [plots.index_process, plots.levels])
def test_without_other_rungs_the_error_says_how_to_keep_them(
    bare: aptmc.Run, draw: Callable[[aptmc.Run], Figure]
) -> None:
    with pytest.raises(aptmc.InputError, match='draws of rung 1 were not kept: use keep="all"'):
        draw(bare)


def test_other_plots_need_neither(bare: aptmc.Run) -> None:
    for draw in (
        plots.marginals, plots.pairs, plots.swap_rates, plots.autocorrelation, plots.traces
    ):  # fmt: skip
        assert isinstance(draw(bare), Figure)


@pytest.mark.parametrize("draw", [plots.timeline, plots.utilisation])
def test_no_run_is_no_plot(draw: Callable[..., Figure]) -> None:
    with pytest.raises(aptmc.InputError, match="give at least one run"):
        draw()


def test_without_matplotlib_the_error_names_the_extra(
    run: aptmc.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (plots.marginals, plots.timeline, plots.levels):
        with pytest.raises(aptmc.InputError, match=r"pip install 'aptmc\[plots\]'"):
            draw(run)
