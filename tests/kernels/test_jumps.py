"""Proposals from a mixture: drawn as the mixture is, fitted to what tells most, and refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.kernels import Students
from aptmc.kernels.jumps import draw_anywhere, first_fit, independent, jump_numbers
from aptmc.kernels.students import Mixed
from tests.support.statistical import FALSE_ALARM

TWO = Students.of(
    [Mixed(np.array([0.3, 0.7]), np.array([[-4.0], [4.0]]), np.array([[[0.25]], [[1.0]]]), 5.0)]
)


def draws_of(reference, count):
    numbers = jump_numbers(reference, 1)[0]
    rng, row = np.random.default_rng(1), np.empty(reference.dimension)
    found = np.empty((count, reference.dimension))
    for i in range(count):
        draw_anywhere(rng, reference.dimension, numbers, 0, reference.weights.shape[1], row)
        found[i] = row
    return found


def test_draws_have_the_law_of_the_mixture():
    def distribution(x):
        return 0.3 * stats.t.cdf(x, 5, -4.0, 0.5) + 0.7 * stats.t.cdf(x, 5, 4.0, 1.0)

    draws = draws_of(TWO, 4000)[:, 0]
    assert stats.kstest(draws, distribution).pvalue > FALSE_ALARM
    # Weights the other way round would be seen.
    assert stats.kstest(-draws, distribution).pvalue < FALSE_ALARM


def two_modes(count, seed=1):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(count) < 0.5, -4.0, 4.0)[:, None] + rng.standard_normal((count, 1))


def test_a_round_that_stayed_in_one_mode_does_not_undo_what_a_descent_has_seen():
    descended = first_fit([two_modes(100)], np.array([[[16.0]]]))
    assert descended.reference.components(0) == 2
    stuck = np.repeat(two_modes(20, seed=2)[:10], 50, axis=0)
    assert independent(stuck) <= 10.0
    assert descended.after([stuck]).reference.components(0) == 2
    assert descended.after([stuck]).told == descended.told
    # While one that has seen more is believed.
    moved = descended.after([two_modes(1000, seed=3) + 100.0])
    assert moved.reference.means.min() > 90.0
    assert moved.told[0] > descended.told[0]


def test_what_was_seen_of_rungs_goes_with_them():
    fitted = first_fit([two_modes(100), two_modes(100) * 3.0], np.array([[[16.0]], [[144.0]]]))
    swapped = fitted.respaced(np.array([1, 0, 0]))
    assert swapped.told.tolist() == fitted.told[[1, 0, 0]].tolist()
    assert swapped.reference.rungs == 3


def test_proposals_of_a_run_are_wider_than_what_was_seen():
    rng = np.random.default_rng(1)
    for dimension, variance in ((1, 2.0), (3, 1.5), (9, 1.2)):
        seen = rng.standard_normal((2000, dimension))
        fitted = first_fit([seen], np.eye(dimension)[None])
        seen_as, (near, far) = fitted.reference.on(0).matrices[0], fitted.proposals.on(0).matrices
        assert (near / seen_as).diagonal() == pytest.approx(variance / 1.1)
        # Some come from farther out still.
        assert (far / near).diagonal() == pytest.approx(4.0)
        assert fitted.proposals.on(0).weights.tolist() == pytest.approx([0.9, 0.1])


def test_a_mixture_fitted_to_few_draws_holds_nobody_for_long():
    # Under a flat prior a chain stays for as long as proposals seldom come where it is. A run in
    # many is fitted too narrowly, and its own draws do not tell.
    rng = np.random.default_rng(4)
    places = np.linspace(-5.0, 5.0, 201)
    law = stats.norm.pdf(places)
    stays = {"near": [], "all": []}
    for _ in range(50):
        mixed = first_fit([rng.standard_normal((12, 1))], np.eye(1)[None]).proposals.on(0)
        near = np.arange(mixed.weights.size) < mixed.weights.size // 2
        for which, weights in (("near", mixed.weights * near / 0.9), ("all", mixed.weights)):
            roots = np.sqrt(mixed.matrices[:, 0, 0])
            density = stats.t.pdf(places[:, None], mixed.degrees, mixed.means[:, 0], roots)
            stays[which].append((law / (density @ weights)).sum())
    assert np.median(stays["all"]) < 1.2 * np.median(stays["near"])
    assert np.mean(stays["all"]) < 0.8 * np.mean(stays["near"])


def test_copies_and_long_stays_are_no_modes():
    rng = np.random.default_rng(2)
    own = rng.standard_normal((60, 1))
    copied = own[rng.integers(12, size=400)]
    mixed = first_fit([np.concatenate([own, copied])], np.eye(1)[None]).reference.on(0)
    assert mixed.weights.tolist() == [1.0]
    assert 0.5 < mixed.matrices[0, 0, 0] < 2.5
    # As many that are all different do make a mode.
    apart = first_fit([two_modes(460)], np.array([[[16.0]]])).reference
    assert apart.components(0) == 2


def test_the_reference_is_the_one_of_a_warm_up_and_stays():
    problem = aptmc.Abc(
        lambda theta, rng: np.abs(theta) + 0.1 * rng.standard_normal(1),
        aptmc.Prior(x=stats.uniform(-10.0, 20.0)),
        observed=[4.0],
        distance=lambda mine, yours: float(abs(mine[0] - yours[0])),
    )
    run = aptmc.sample(problem, budget=3000, on=aptmc.VirtualTime(1), seed=1, progress=False)
    kernel = run.settings.kernel
    assert not kernel.learns
    assert kernel.reference.rungs == run.settings.ladder.rungs
    assert kernel.reference.components(0) == 4  # the data cannot tell the sign; each is also wider
    x = np.concatenate(run.series("x"))
    assert 0.3 < (x > 0.0).mean() < 0.7


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reference": "auto"}, "reference must be aptmc.kernels.Students"),
        ({"jumps": 1.5}, "jumps must be a number from 0 to 1"),
        ({"jumps": math.nan}, "jumps must be a number from 0 to 1"),
    ],
)
def test_bad_input_is_refused(options, words):
    with pytest.raises(aptmc.InputError, match=words):
        aptmc.OneHit(1.0, **options)


def test_a_reference_of_another_dimension_is_refused():
    problem = aptmc.Abc.early(
        lambda theta, rng, tolerance: abs(theta[0]), aptmc.Prior(x=stats.norm())
    )
    kernel = aptmc.OneHit(1.0, reference=Students.one([0.0, 0.0], np.eye(2)))
    with pytest.raises(aptmc.InputError, match="the reference has 2 coordinates"):
        kernel.tuning(problem, aptmc.Ladder.tolerances([1.0]))
