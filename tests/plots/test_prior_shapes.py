"""What priors look like in pictures: beside their own densities, and from a store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc import plots
from aptmc.problem.prior_shape import PriorShape, prior_shapes
from tests.support import seen


def shapes(prior: aptmc.Prior) -> dict[str, PriorShape]:
    return dict(prior_shapes(aptmc.Tempered(lambda theta: 0.0, prior)))


@pytest.mark.parametrize(
    "frozen", [stats.norm(2, 3), stats.uniform(-1, 3), stats.gamma(2, scale=0.5), stats.t(3)]
)
def test_a_density_is_the_distributions_own(frozen) -> None:
    (shape,) = shapes(aptmc.Prior(x=frozen)).values()
    points = frozen.ppf(np.linspace(0.02, 0.98, 97))
    highest = frozen.pdf(points).max()
    assert shape.density(points) == pytest.approx(frozen.pdf(points), abs=0.03 * highest)
    assert shape.quantile(0.3) == pytest.approx(frozen.ppf(0.3), abs=0.02 * frozen.std())
    low, high = frozen.support()
    outside = np.array([low - 0.1, high + 0.1])
    assert (shape.density(outside[np.isfinite(outside)]) == 0.0).all()


def test_whole_numbers_have_probabilities() -> None:
    (shape,) = shapes(aptmc.Prior(k=stats.poisson(3))).values()
    points = np.arange(-1.0, 9.0)
    assert shape.density(points) == pytest.approx(stats.poisson(3).pmf(points), abs=1e-6)
    assert shape.quantile(0.5) == 3.0


@pytest.mark.validation
def test_what_depends_on_others_is_smoothed_draws() -> None:
    prior = aptmc.Prior(
        sd=stats.halfnorm(),
        x=lambda sd: stats.norm(0, sd),
        share=stats.dirichlet([2.0, 3.0]),
    )
    found = shapes(prior)
    points = np.linspace(0.1, 0.9, 33)
    # A standard error of the density estimate is about a tenth of it at most.
    assert found["share[0]"].density(points) == pytest.approx(
        stats.beta(2, 3).pdf(points), abs=4 * 0.1
    )
    assert found["x"].quantile(0.5) == pytest.approx(0.0, abs=4 * 0.04)
    assert found["sd"].quantile(0.5) == pytest.approx(stats.halfnorm.ppf(0.5), abs=0.02)


def test_a_density_is_not_drawn_where_it_would_be_wrong() -> None:
    """The planted error: a shape of another prior."""
    (shape,) = shapes(aptmc.Prior(x=stats.norm(0, 1))).values()
    points = np.linspace(-2, 2, 9)
    assert shape.density(points) != pytest.approx(stats.norm(0.2, 1).pdf(points), abs=0.03 * 0.4)


def test_what_has_no_prior_has_no_shape() -> None:
    power = aptmc.Power(lambda theta: -0.5 * theta[0] ** 2, {"x": 1.0})
    assert prior_shapes(power) == {}


def test_a_stored_run_still_knows_its_prior(tmp_path: Path) -> None:
    stored = aptmc.open(seen.stored(tmp_path))
    own, kept = prior_shapes(seen.problem()), prior_shapes(stored.settings.problem)
    assert list(kept) == ["a", "b"]
    assert kept["a"].values == pytest.approx(own["a"].values, rel=1e-5)
    figure = plots.marginals(stored)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["posterior", "prior"]
    assert all(panel.collections for panel in figure.axes)
    assert not plots.marginals(stored, prior=False).legends
