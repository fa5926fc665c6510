"""Figures of more parameters than a page has room for, of vectors, and of whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc import plots
from aptmc.plots.chosen import slowest, strongest_pairs
from aptmc.result import report_figures
from aptmc.result.report import report
from aptmc.result.report_figures import Plot, plots_of, side_by_side
from tests.support import seen

PLACES = 24
STRONG = (3, 17)  # places of the vector that go together


def log_likelihood(theta):
    beta = theta[1:]
    together = beta[STRONG[0]] - beta[STRONG[1]]
    return -0.5 * (beta @ beta) - 200.0 * together**2


@pytest.fixture(scope="module")
def run() -> aptmc.Run:
    prior = aptmc.Prior(count=stats.poisson(3), beta=stats.norm(np.zeros(PLACES), 1))
    return seen.sample(aptmc.Tempered(log_likelihood, prior), kernel=aptmc.RandomWalk(0.3))


def test_pairs_are_those_with_the_strongest_correlations(run: aptmc.Run) -> None:
    strong = {f"beta[{place}]" for place in STRONG}
    names, rest = strongest_pairs(run, 4)
    assert strong < set(names)
    assert len(names) == 4
    assert 0.0 < rest < 1.0
    figure = plots.pairs(run)
    assert len(figure.axes) == 6 * 6
    assert strong < {panel.get_ylabel() for panel in figure.axes}
    assert len(plots.pairs(run, width=3.4).axes) == 4 * 4
    assert len(plots.pairs(run, names=["beta[0]", "count"]).axes) == 2 * 2


def test_traces_are_of_the_parameters_that_mix_worst(run: aptmc.Run) -> None:
    worst = slowest(run, 4)
    summary = run.summary()
    others = set(summary) - set(worst)
    assert max(summary[one].ess for one in worst) <= min(summary[one].ess for one in others)
    assert tuple(panel.get_ylabel() for panel in plots.traces(run).axes) == worst


def test_intervals_are_quantiles(run: aptmc.Run) -> None:
    (panel,) = plots.intervals(run).axes
    thin, thick, dot = panel.lines[3 * STRONG[0] : 3 * STRONG[0] + 3]
    values = run.series(f"beta[{STRONG[0]}]")[0]
    assert thin.get_ydata() == pytest.approx(np.quantile(values, [0.05, 0.95]))
    assert thick.get_ydata() == pytest.approx(np.quantile(values, [0.25, 0.75]))
    assert dot.get_ydata() == pytest.approx([np.median(values)])
    assert len(panel.lines) == 3 * PLACES


def test_a_whole_number_has_a_bar_for_each_value(run: aptmc.Run) -> None:
    (panel,) = plots.marginals(run, names=["count"]).axes
    bars = [bar for bar in panel.patches if hasattr(bar, "get_width")]
    assert {bar.get_width() for bar in bars} == {1.0}
    centres = [bar.get_x() + 0.5 for bar in bars]
    assert centres == [round(centre) for centre in centres]


def test_a_report_of_many_says_what_it_leaves_out(run: aptmc.Run) -> None:
    shown = {plot.title: plot for plot in plots_of(run, None)}
    assert "beta: see the intervals" in shown["Marginals"].caption
    pairs = shown["Pairs"]
    assert "The 6 of 25 parameters with the strongest ones; no other pair" in pairs.caption
    assert "The 4 of 25 parameters" in pairs.narrow_caption  # on a phone
    assert "The slowest 4 of 25" in shown["Traces"].caption


def test_a_long_table_begins_with_what_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_figures, "plots_of", lambda run, beside: [])
    prior = aptmc.Prior(beta=stats.norm(np.zeros(40), 1))
    html = report(seen.sample(aptmc.Tempered(lambda theta: -0.5 * theta @ theta, prior)))
    assert "The 12 of 40 parameters with the fewest effective draws" in html
    assert html.count("<th>beta[") == 12 + 40


def test_small_figures_stand_side_by_side() -> None:
    def plot(is_small: bool) -> Plot:
        return Plot("", "", lambda width: None, is_small)  # type: ignore[arg-type,return-value]

    given = [plot(one) for one in (True, True, True, False, True)]
    assert [one.is_small for one in side_by_side(given)] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("draw", "options", "message"),
    [
        (plots.marginals, {"names": ["gamma"]}, "there is no parameter 'gamma': there are count"),
        (plots.marginals, {"names": []}, "name at least one"),
        (plots.intervals, {"names": ["count"]}, "no vector 'count': there are beta"),
        (plots.pairs, {"width": 0.1}, "width is in inches, from 1 to 100, got 0.1"),
        (plots.autocorrelation, {"lags": 0}, "lags"),
    ],
)
def test_what_cannot_be_drawn_is_refused(run: aptmc.Run, draw, options, message: str) -> None:
    with pytest.raises(aptmc.InputError, match=message):
        draw(run, **options)


def test_without_a_vector_there_are_no_intervals() -> None:
    with pytest.raises(aptmc.InputError, match="no parameter is a vector: use marginals"):
        plots.intervals(seen.sample())


def test_a_curve_goes_as_far_as_there_is_something_to_see(run: aptmc.Run) -> None:
    (panel,) = plots.autocorrelation(run).axes
    longest = max(np.asarray(line.get_xdata()).max() for line in panel.lines[:-1])
    assert 10 <= longest <= run.series("count")[0].size // 2
    assert panel.get_xlim()[1] == longest
