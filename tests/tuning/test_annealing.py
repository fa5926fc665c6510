"""A population goes from the prior to the posterior: what it learns, and what it decides."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.settings import ToFind
from aptmc.warmup.annealing import annealing, metric_of_slopes, next_power
from aptmc.warmup.annealing.leap_sizes import LeapSizes
from aptmc.warmup.tuner import Tuner

SEEDS = range(1, 6)


def spd(rng, dimension, condition):
    axes, _ = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    return (axes * np.geomspace(1.0 / condition, 1.0, dimension)) @ axes.T


# --- metrics --------------------------------------------------------------------------------------


def off(found, truth):
    """The largest factor by which a variance is wrong, in any direction."""
    factor = np.linalg.cholesky(truth)
    values = np.linalg.eigvalsh(np.linalg.solve(factor, np.linalg.solve(factor, found).T))
    return max(values.max(), 1.0 / values.min())


@pytest.mark.parametrize("seed", SEEDS)
def test_slopes_at_few_states_that_are_no_draws_tell_the_covariance(seed):
    rng = np.random.default_rng(seed)
    truth = spd(rng, 20, 1000.0)
    before = np.eye(20)
    places = 0.1 * rng.standard_normal((24, 20)) + 3.0  # anywhere, and all alike
    slopes = -np.linalg.solve(truth, (places - 1.0).T).T
    weights = np.ones(24)
    found = metric_of_slopes.metric_of_slopes(places, slopes, weights, before)
    for _ in range(4):  # what is believed at first wears off
        factor = np.linalg.cholesky(found)
        found = metric_of_slopes.metric_of_slopes(places, slopes @ factor, weights, found)
    assert off(found, truth) < 2.0
    # The same states without slopes tell nothing of it.
    assert off(np.cov(places.T) + 1e-9 * np.eye(20), truth) > 10.0


def test_where_slopes_say_nothing_what_was_believed_stays():
    before = np.diag([4.0, 9.0, 1.0])
    places = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    slopes = np.array([[0.0, 0.0, 0.0], [-8.0, 0.0, 0.0]]) @ np.linalg.cholesky(before)
    found = metric_of_slopes.metric_of_slopes(places, slopes, np.ones(2), before)
    assert found[1:, 1:] == pytest.approx(before[1:, 1:], rel=1e-6)
    assert found[0, 0] < 1.0


def test_slopes_that_are_no_numbers_change_nothing():
    before = np.diag([4.0, 9.0])
    nothing = np.full((3, 2), math.nan)
    found = metric_of_slopes.metric_of_slopes(np.ones((3, 2)), nothing, np.ones(3), before)
    assert found is before


# --- powers and leaps -----------------------------------------------------------------------------


def test_the_next_power_is_as_far_as_a_quarter_of_the_population_carries():
    values = -0.5 * np.random.default_rng(1).chisquare(10, 400) * 100.0
    power, weights = next_power.next_power(0.0, values)
    assert 0.0 < power < 1.0
    assert 1.0 / (weights**2).sum() == pytest.approx(100.0, rel=0.01)
    assert next_power.next_power(0.5, np.zeros(10))[0] == 1.0


def test_what_is_impossible_has_no_weight():
    values = np.array([-math.inf, 0.0, -1.0, -math.inf])
    power, weights = next_power.next_power(0.0, values)
    assert power > 0.0
    assert weights[[0, 3]].tolist() == [0.0, 0.0]
    nowhere = next_power.next_power(0.0, np.full(4, -math.inf))
    assert 0.0 < nowhere[0] < 1e-6


@pytest.mark.parametrize("begins", [0.01, 100.0])
def test_leaps_become_as_long_as_wanted(begins):
    leaps = LeapSizes(begins, 0.8)
    for _ in range(300):
        leaps.heard(math.exp(-leaps.present))
    leaps.settle()
    assert math.exp(-leaps.present) == pytest.approx(0.8, abs=0.05)


# --- decisions ------------------------------------------------------------------------------------

DIMENSION, APART = 3, 6.0
SCALES = np.array([0.01, 0.1, 3.0])
PRIOR = aptmc.Prior(x=aptmc.iid(stats.norm(0.0, 10.0), DIMENSION))


@njit
def one_mode(theta):
    return -0.5 * np.sum(((theta - 2.0) / SCALES) ** 2)


@njit
def slope_of_one_mode(theta):
    return (2.0 - theta) / SCALES**2


@njit
def two_modes(theta):
    low = -0.5 * np.sum((theta + APART) ** 2)
    high = -0.5 * np.sum((theta - APART) ** 2)
    larger = max(low, high)
    return larger + math.log(math.exp(low - larger) + math.exp(high - larger))


LEAPS = aptmc.Tempered(one_mode, PRIOR, gradient=slope_of_one_mode)
SLICES = aptmc.Tempered(one_mode, PRIOR)
TWO = aptmc.Tempered(two_modes, PRIOR)


def sampled(problem, budget=40_000, **options):
    on = aptmc.VirtualTime(2)
    return aptmc.sample(problem, budget=budget, seed=1, on=on, progress=False, **options)


def is_mostly_cold(run):
    """Whether three chains of four stand on the coldest rung; if not, as many as on each other."""
    on_rungs = np.bincount(run.settings.layout().rung)
    assert run.settings.ladder.levels[-1] == 0.0
    if on_rungs.max() <= max(2, on_rungs.min()):  # two chains at least are cold
        return False
    assert on_rungs[0] == 3 * on_rungs[1:].sum()
    return True


def check_that_most_chains_stand_where_they_get_about(run):
    assert is_mostly_cold(run)
    assert run.settings.chosen.count("most chains stand on the coldest rung") == 1
    assert not any("ladder=[1]" in advice.remedy for advice in run.advice)
    theta = np.concatenate([chain.state[:, :DIMENSION] for chain in run.chains()])
    posterior = 1.0 / np.sqrt(1.0 / SCALES**2 + 0.01)
    assert theta.std(axis=0) == pytest.approx(posterior, rel=0.15)


def test_most_chains_stand_where_slices_get_about():
    check_that_most_chains_stand_where_they_get_about(sampled(SLICES))


@pytest.mark.validation
def test_most_chains_stand_where_leaps_get_about(monkeypatch):
    """And the size of leaps suits."""
    monkeypatch.setattr("aptmc.warmup.annealing.trial.MOST_LACKING", 0.0)  # no slices are tried
    run = sampled(LEAPS, budget=80_000)
    check_that_most_chains_stand_where_they_get_about(run)
    accepted = run.statistics["acceptance"][0] / run.statistics["leaps"][0]
    assert 0.6 < accepted < 0.95
    assert run.statistics["divergences"][0] == 0.0


NO_JUMPS = aptmc.EllipticalSlice(jumps=0.0)  # from mode to mode, which rounds would see


@pytest.mark.validation
def test_with_two_modes_no_rung_has_more_than_others():
    assert not is_mostly_cold(sampled(TWO, kernel=NO_JUMPS))


def test_it_is_the_spread_of_means_that_tells(monkeypatch):
    """Planted: who takes chains to get about although they do not leaves few on warm rungs."""
    monkeypatch.setattr(annealing.Annealing, "_alike", lambda self, seen: 1.0)
    assert is_mostly_cold(sampled(TWO, kernel=NO_JUMPS))


@pytest.mark.validation
@pytest.mark.parametrize(
    "options",
    [{"keep": "all"}, {"pools": aptmc.Shared(2)}],
    ids=["evidence", "pools that were given"],
)
def test_what_takes_as_many_chains_on_all_rungs_has_them(options):
    run = sampled(SLICES, **options)
    assert not is_mostly_cold(run)
    assert "most chains" not in run.settings.chosen
    if "keep" in options:
        exact = sum(stats.norm(2.0, math.hypot(10.0, scale)).logpdf(0.0) for scale in SCALES)
        exact += float(np.sum(np.log(math.sqrt(2.0 * math.pi) * SCALES)))
        found = run.log_evidence()
        assert abs(found.value - exact) < 4.0 * found.standard_error
    else:  # much of the work is of no use, which the user is told
        assert any("ladder=[1]" in advice.remedy for advice in run.advice)


def mirrored(rows):
    """All states in the lower of the two modes, which are alike."""
    rows = rows.copy()
    rows[..., :DIMENSION] *= -np.sign(rows[..., :1])
    return rows


@pytest.mark.parametrize("given", [{}, {"ladder": [1]}], ids=["a ladder", "planted: one rung"])
def test_a_mode_that_no_particle_came_to_is_found_from_above(given, monkeypatch):
    """What the annealing has seen is but one hill, and yet half of the draws are in the other."""
    moved = annealing.Annealing.moved

    def in_one_mode(self, rows, moves, window):
        return mirrored((yield from moved(self, mirrored(rows), moves, window)))

    monkeypatch.setattr(annealing.Annealing, "moved", in_one_mode)
    run = sampled(TWO, **given)
    above = np.concatenate([chain.state[:, 0] > 0.0 for chain in run.chains()])
    if given:
        assert not above.any()
        return
    assert is_mostly_cold(run)
    # By chains, of which there are twelve: one run of 480 is beyond.
    each = np.array([np.mean(chain.state[:, 0] > 0.0) for chain in run.chains()])
    assert abs(above.mean() - 0.5) < 4.0 * each.std(ddof=1) / math.sqrt(each.size)


def test_lanes_learn_from_many_chains_at_once():
    """Their errands are computed by one processor, and in no time by their clock."""
    to_find = ToFind(kernel=aptmc.EllipticalSlice())
    settings = sampled(SLICES, 400, ladder=[1]).settings.found(to_find=to_find)
    assert Tuner(settings).is_to_anneal
    assert not Tuner(settings.found(on=aptmc.Lanes(4, device="cpu"))).is_to_anneal
