"""Regression adjustment of a run: nearer to the exact posterior, and inside the prior's support."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

import aptmc
from aptmc.diagnostics import adjust
from aptmc.problem.chain_state import state_width
from tests.support.normal_data import OBSERVED, PRIOR, sample, simulated_distance, with_data

WIDE = aptmc.Ladder.tolerances([2.5, 5.0, math.inf])
# Three observations of N(theta, 1), theta ~ N(0, 5).
EXACT_MEAN, EXACT_SD = 5.0 * OBSERVED.sum() / 16.0, math.sqrt(5.0 / 16.0)
MOST_ERRORS = 5.0  # standard errors: a false alarm in a million


@pytest.fixture(scope="module")
def run() -> aptmc.Run:
    return sample(with_data(plain=True), ladder=WIDE, budget=30_000)


def errors_off(row) -> float:
    return abs(row.mean - EXACT_MEAN) / row.mcse


def test_adjusted_draws_at_a_wide_tolerance_follow_the_exact_posterior(run: aptmc.Run) -> None:
    before, after = run.summary()["theta"], run.adjusted().summary()["theta"]
    assert errors_off(before) > 2.0 * MOST_ERRORS
    assert before.sd > 1.3 * EXACT_SD
    assert errors_off(after) < MOST_ERRORS
    assert after.sd == pytest.approx(EXACT_SD, rel=0.08)


def test_a_regression_with_the_wrong_sign_would_be_seen(run: aptmc.Run) -> None:
    adjusted = run.adjusted()
    sampled = np.concatenate(run.series("theta"))
    wrong = 2.0 * sampled - np.concatenate(adjusted.series("theta"))
    mean = np.average(wrong, weights=np.concatenate(adjusted.weights))
    assert abs(mean - EXACT_MEAN) / adjusted.summary()["theta"].mcse > 2.0 * MOST_ERRORS
    assert wrong.std() > 1.3 * EXACT_SD


def test_the_result_looks_like_that_of_a_run(run: aptmc.Run) -> None:
    adjusted = run.adjusted()
    tree = adjusted.draws
    assert set(tree["posterior"].data_vars) == {"theta"}
    length = tree["posterior"].sizes["draw"]  # chains are cut to the shortest's
    for chain in (0, 1):
        shown, weights = tree["posterior"]["theta"][chain], tree["sample_stats"]["weight"][chain]
        np.testing.assert_array_equal(shown, adjusted.series("theta")[chain][:length])
        np.testing.assert_array_equal(weights, adjusted.weights[chain][:length])
    assert set(tree["sample_stats"].data_vars) > {"weight", "distance", "time"}
    distance = np.concatenate([draws.state[:, 1] for draws in run.chains()])
    np.testing.assert_allclose(np.concatenate(adjusted.weights), 1.0 - (distance / 2.5) ** 2)
    words = str(adjusted.summary())
    assert "adjusted by linear regression on 3 numbers at tolerance 2.5" in words
    assert "draws are few" not in words
    assert "ridge 0.1" in repr(run.adjusted(ridge=0.1))
    assert "heteroscedastic" in repr(run.adjusted(heteroscedastic=True))


def test_the_run_itself_is_left_as_it_was(run: aptmc.Run) -> None:
    before = np.concatenate(run.series("theta"))
    run.adjusted()
    np.testing.assert_array_equal(np.concatenate(run.series("theta")), before)


def test_the_picture_shows_both(run: aptmc.Run) -> None:
    picture = run.adjusted().plot()
    (panel,) = picture.axes
    assert panel.get_xlabel() == "theta"
    assert [word.get_text() for word in picture.legends[0].get_texts()] == [
        "as sampled",
        "adjusted",
    ]
    centres = []
    for steps in panel.patches:
        heights, edges, _ = steps.get_data()
        assert (heights * np.diff(edges)).sum() == pytest.approx(1.0, abs=0.01)
        centres.append(np.average((edges[1:] + edges[:-1]) / 2.0, weights=heights))
    rows = run.summary()["theta"], run.adjusted().summary()["theta"]
    assert centres == pytest.approx([row.mean for row in rows], abs=0.1)


def test_a_stored_run_can_be_adjusted_without_its_problem(tmp_path) -> None:
    prior = aptmc.Prior(theta=stats.uniform(0, 4))
    problem = aptmc.Abc(
        lambda theta, rng: theta[0] + rng.standard_normal(3),
        prior,
        observed=OBSERVED,
        distance=lambda simulated, observed: np.abs(simulated - observed).max(),
    )
    run = sample(problem, ladder=WIDE, budget=100, store=tmp_path / "run.zarr")
    opened = aptmc.open(tmp_path / "run.zarr")
    for mine, yours in zip(run.adjusted().chains, opened.adjusted().chains, strict=True):
        np.testing.assert_array_equal(mine.state, yours.state)
    assert "draws are few" in str(opened.adjusted().summary())


def test_adjusted_draws_stay_in_the_support_of_the_prior() -> None:
    """Also whole numbers and shares. Without the transformation some would leave it."""
    prior = aptmc.Prior(
        rate=stats.expon(),
        level=stats.uniform(0, 1),
        count=stats.randint(0, 5),
        share=stats.dirichlet([1.0, 1.0]),
    )

    def simulate(theta, rng):
        rate, level, count, first, _ = theta
        noise = 0.05 * rng.standard_normal(4)
        return np.array([rate, level, count, first]) + noise

    problem = aptmc.Abc(
        simulate,
        prior,
        observed=[0.02, 0.99, 4.0, 0.5],
        distance=lambda simulated, observed: np.abs(simulated - observed).max(),
    )
    run = sample(problem, ladder=aptmc.Ladder.tolerances([1.5, 3.0, math.inf]), budget=4000)
    adjusted = run.adjusted()
    values = {name: np.concatenate(adjusted.series(name)) for name in problem.labels}
    assert (values["rate"] >= 0.0).all()
    assert ((values["level"] >= 0.0) & (values["level"] <= 1.0)).all()
    assert set(values["count"].tolist()) <= {0, 1, 2, 3, 4}
    np.testing.assert_allclose(values["share[0]"] + values["share[1]"], 1.0)
    assert adjusted.draws["posterior"]["count"].dtype == np.int64

    rows = np.concatenate([draws.state for draws in run.chains()])
    kept = rows[:, state_width(problem.dimension) :]
    weights = np.concatenate(adjusted.weights)
    by_hand = expit(adjust(logit(rows[:, 1:2]), kept, problem.kept_data, weights))
    np.testing.assert_allclose(values["level"], by_hand[:, 0])
    plain = adjust(rows[:, :2], kept, problem.kept_data, weights)
    assert (plain[:, 0] < 0.0).any()
    assert (plain[:, 1] > 1.0).any()


@pytest.mark.parametrize(
    "problem",
    [
        with_data(plain=True, keep_simulated=False),
        aptmc.Abc.early(simulated_distance.py_func, PRIOR),
    ],
    ids=["not kept", "early"],
)
def test_without_simulations_the_error_says_how_to_keep_them(problem) -> None:
    run = sample(problem, ladder=WIDE, budget=200)
    with pytest.raises(aptmc.InputError, match="keep_simulated=True"):
        run.adjusted()


def test_a_problem_with_a_likelihood_has_nothing_to_adjust() -> None:
    problem = aptmc.Tempered(
        lambda theta: -0.5 * theta[0] ** 2, aptmc.Prior(theta=stats.norm(0, 1))
    )
    run = sample(problem, ladder=aptmc.Ladder.powers(3), kernel=aptmc.RandomWalk(1.0), budget=100)
    with pytest.raises(aptmc.InputError, match="nothing to adjust"):
        run.adjusted()


@pytest.mark.parametrize("ridge", [-1.0, math.nan, math.inf, "much", None])
def test_a_wrong_ridge_is_refused(run: aptmc.Run, ridge) -> None:
    with pytest.raises(aptmc.InputError, match="ridge must be a number from 0 on"):
        run.adjusted(ridge=ridge)


def test_a_run_that_is_too_short_is_refused() -> None:
    with pytest.raises(aptmc.InputError, match="run for longer"):
        sample(with_data(plain=True), ladder=WIDE, budget=2).adjusted()
