"""References of elliptical slices: fitted to draws of all rungs, split where there are modes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aptmc.kernels import student_fit
from aptmc.kernels.splitting import effective_share, pieces_of
from aptmc.kernels.student_fit import WIDER, fit_all
from aptmc.kernels.students import Students

RNG = np.random.default_rng(3)
TRUTH = np.array([[4.0, 1.8], [1.8, 1.0]])
NOTHING_KNOWN = Students.one(np.zeros(2), np.eye(2), 3.0)


def fitted(draws, components=32):
    return fit_all([draws], NOTHING_KNOWN, components).on(0)


def test_normal_draws_give_one_component_that_is_nearly_normal():
    found = fitted(RNG.multivariate_normal([1.0, 2.0], TRUTH, 20_000))
    assert found.weights.tolist() == [1.0]
    np.testing.assert_allclose(found.means[0], [1.0, 2.0], atol=0.2)
    assert found.degrees >= 25.0
    np.testing.assert_allclose(found.matrices[0], WIDER * TRUTH, rtol=0.2)


def test_heavy_tails_are_noticed():
    normals = RNG.multivariate_normal([0.0, 0.0], TRUTH, 5_000)
    found = fitted(normals * np.sqrt(3.0 / RNG.chisquare(3.0, 5_000))[:, None], components=1)
    assert found.degrees == 3.0
    # The matrix, not the covariance, which is three times as large.
    np.testing.assert_allclose(found.matrices[0], WIDER * TRUTH, rtol=0.3)


def test_two_modes_are_two_components():
    first = RNG.multivariate_normal([-10.0, 0.0], TRUTH, 300)
    second = RNG.multivariate_normal([10.0, 5.0], np.eye(2), 700)
    # In long stays, as chains have it that seldom change over.
    found = fitted(np.concatenate([first, second]))
    order = np.argsort(found.weights)
    np.testing.assert_allclose(found.weights[order], [0.3, 0.7], atol=0.01)
    np.testing.assert_allclose(found.means[order], [[-10.0, 0.0], [10.0, 5.0]], atol=0.5)
    np.testing.assert_allclose(np.diag(found.matrices[order[0]]), 1.1 * np.diag(TRUTH), rtol=0.3)


def test_two_modes_in_fifty_dimensions_are_found_in_a_few_hundred_draws():
    centre = np.full(50, 8.0 / math.sqrt(50.0))
    side = np.where(RNG.random(400) < 0.5, 1.0, -1.0)
    draws = RNG.standard_normal((400, 50)) + side[:, None] * centre
    first = Students.one(np.zeros(50), np.eye(50), 3.0)
    found = fit_all([draws], first, 32).on(0)
    assert found.weights.size == 2
    np.testing.assert_allclose(np.abs(found.means @ centre), 64.0, rtol=0.1)


def test_many_modes_are_found_although_half_of_them_are_no_better_than_all():
    places = RNG.random((9, 2)) * 10.0 + np.array([(i, j) for i in range(3) for j in range(3)]) * 30
    draws = places[RNG.integers(9, size=3000)] + 0.1 * RNG.standard_normal((3000, 2))
    found = fitted(draws)
    assert 9 <= found.weights.size <= 14
    nearest = np.linalg.norm(found.means[:, None] - places, axis=2).min(axis=0)
    assert nearest.max() < 0.1


@pytest.mark.parametrize(
    "draws",
    [
        RNG.standard_normal((3000, 3)),
        RNG.random((3000, 2)),
        RNG.standard_normal((300, 20)),
        RNG.random((2000, 1)),
    ],
    ids=["normal", "square", "many dimensions", "interval"],
)
def test_what_is_in_one_piece_is_left_in_one_piece(draws):
    assert pieces_of(draws, 32).shape[1] == 1


def test_draws_that_are_alike_count_for_less():
    assert effective_share(RNG.standard_normal((2000, 3))) > 0.7
    walk = np.repeat(RNG.standard_normal((100, 3)), 20, axis=0)
    assert 0.02 < effective_share(walk) < 0.1


def test_with_few_draws_a_shape_stays_near_what_was_believed():
    draws = RNG.standard_normal((10, 2)) @ np.linalg.cholesky(TRUTH).T
    found = fitted(draws)
    correlation = found.matrices[0][0, 1] / math.sqrt(np.prod(np.diag(found.matrices[0])))
    assert correlation < 0.7  # it is 0.9
    assert found.degrees == student_fit.USUAL_DEGREES
    assert fitted(draws[:3]).degrees == 3.0  # nothing is learnt


def test_rungs_learn_shapes_from_each_other_and_sizes_from_themselves():
    factor = np.linalg.cholesky(TRUTH)
    many = [scale * RNG.standard_normal((400, 2)) @ factor.T for scale in (1.0, 2.0, 4.0, 8.0)]
    few = 3.0 * RNG.standard_normal((12, 2)) @ factor.T
    found = fit_all([*many[:2], few, *many[2:]], NOTHING_KNOWN.on_rungs(5), 1).on(2).matrices[0]
    correlation = found[0, 1] / math.sqrt(found[0, 0] * found[1, 1])
    assert correlation == pytest.approx(0.9, abs=0.05)
    # The standard deviation of the few themselves, not that of their neighbours.
    assert math.sqrt(found[0, 0] / WIDER) == pytest.approx(few[:, 0].std(), rel=0.3)


@pytest.mark.parametrize("draws", [np.zeros((50, 2)), np.ones((9, 2)), np.eye(2)[[0] * 40]])
def test_draws_that_never_moved_still_give_a_reference(draws):
    found = fitted(draws)
    # Positive definite, so that one can draw from it.
    assert all(np.linalg.eigvalsh(matrix).min() > 0.0 for matrix in found.matrices)
    assert np.isfinite(Students.of([found]).numbers()).all()
