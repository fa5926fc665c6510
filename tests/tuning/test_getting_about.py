"""How soon chains forget where they began, told from single moves; and what follows from that."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.record.columns import Draws
from aptmc.warmup import found, where_chains_begin
from aptmc.warmup.getting_about import own_moves, slowest_of

SEEDS = range(1, 6)
MOVES = 2000


def moved(start, correlations, rng):
    """A move each, after which coordinates are correlated so much with what they were."""
    noise = rng.standard_normal(start.shape)
    return correlations * start + np.sqrt(1.0 - np.square(correlations)) * noise


def worth(correlation):
    return (1.0 + correlation) / (1.0 - correlation)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("slowest", [0.0, 0.5, 0.9])
def test_states_from_anywhere_and_single_moves_tell(seed, slowest):
    """By the slowest of four directions, none of which is an axis."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    before = rng.standard_normal((MOVES, 4))
    after = moved(before, np.array([0.0, 0.0, 0.0, slowest]), rng)
    found_so = slowest_of(before @ axes, after @ axes)
    correlation = (found_so - 1.0) / (found_so + 1.0)
    # The largest of two dozen, each with the error of a correlation in one half of the moves.
    assert abs(correlation - slowest) < 4.5 / math.sqrt(0.5 * MOVES)
    # Planted: by the axes alone it would seem to be faster.
    if slowest > 0.0:
        alone = max(
            np.corrcoef(one, two)[0, 1]
            for one, two in zip((before @ axes).T, (after @ axes).T, strict=True)
        )
        assert alone < slowest


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("crosses", [0.0, 0.2])
def test_modes_that_moves_do_not_join_are_never_forgotten(seed, crosses):
    """Although exchanges bring states of both."""
    rng = np.random.default_rng(seed)
    mode = rng.choice([-5.0, 5.0], MOVES)
    jumps = np.where(rng.random(MOVES) < crosses, -1.0, 1.0)
    before = mode + rng.standard_normal(MOVES)
    after = jumps * mode + rng.standard_normal(MOVES)
    forgotten = slowest_of(before[:, None], after[:, None])
    if crosses:
        assert forgotten == pytest.approx(worth(1.0 - 2.0 * crosses), rel=0.3)
    else:
        assert forgotten > 10.0


def test_what_an_exchange_has_brought_is_no_move():
    def chain(values, exchanged):
        rows, nothing = np.array(values, float)[:, None], np.zeros(len(values))
        return Draws(rows, nothing, np.array(exchanged, bool), *[nothing] * 5)

    first = chain([0.0, 1.0, 7.0, 8.0], [False, False, True, False])
    before, after = own_moves([first, chain([], []), chain([3.0], [False])])
    assert before.ravel().tolist() == [0.0, 7.0]
    assert after.ravel().tolist() == [1.0, 8.0]


def test_nothing_that_changes_tells_nothing():
    assert slowest_of(np.ones((50, 2)), np.ones((50, 2))) == math.inf


# --- where chains stand ---------------------------------------------------------------------------

APART, WIDTH = 3.0, 0.3
PLANE = aptmc.Prior(x=aptmc.iid(stats.norm(0.0, 10.0), 2))


@njit
def two_modes(theta):
    low = -0.5 * np.sum(((theta + APART) / WIDTH) ** 2)
    high = -0.5 * np.sum(((theta - APART) / WIDTH) ** 2)
    larger = max(low, high)
    return larger + math.log(math.exp(low - larger) + math.exp(high - larger))


PROBLEM = aptmc.Tempered(two_modes, PLANE)


def sampled(**options):
    on = aptmc.VirtualTime(2)
    return aptmc.sample(PROBLEM, budget=20_000, seed=1, on=on, progress=False, **options)


def chains_on(run):
    return np.bincount(run.settings.layout().rung)


def in_upper(run):
    """The share of draws in the upper of two modes, by chains of the coldest rung."""
    return np.array([np.mean(chain.state[:, 0] > 0.0) for chain in run.chains()])


def is_right(shares):
    return abs(shares.mean() - 0.5) < 4.0 * shares.std(ddof=1) / math.sqrt(shares.size)


@pytest.mark.validation
def test_most_chains_stand_where_jumps_lead_from_mode_to_mode():
    """Two parameters, for which there is no annealing."""
    run = sampled()
    on_rungs = chains_on(run)
    assert on_rungs[0] == 3 * on_rungs[1:].sum()
    assert run.settings.ladder.levels[-1] == 0.0
    assert run.settings.chosen.count(found.MOSTLY_COLD) == 1
    assert is_right(in_upper(run))


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": aptmc.EllipticalSlice(jumps=0.0)},
        {"keep": "all"},
        pytest.param(
            {"kernel": aptmc.RandomWalk("auto", spread=1.0)},
            marks=pytest.mark.validation(shortest=0.1),
        ),
    ],
    ids=["no jumps", "evidence", "a kernel that cannot tell"],
)
def test_where_they_do_not_all_rungs_have_about_as_many(options):
    assert chains_on(sampled(**options)).max() <= 2


def test_it_is_moves_between_modes_that_tell(monkeypatch):
    """Planted: without jumps, who takes chains to get about leaves few on warm rungs."""
    monkeypatch.setattr(found, "moves_until_forgotten", lambda *arguments: 1.0)
    on_rungs = chains_on(sampled(kernel=aptmc.EllipticalSlice(jumps=0.0)))
    assert on_rungs[0] == 3 * on_rungs[1:].sum()


def test_two_chains_at_least_stand_where_draws_count():
    """On a long ladder one on each rung would be enough to keep processors busy."""
    run = sampled(kernel=aptmc.EllipticalSlice(jumps=0.0), ladder=aptmc.Ladder.auto(rungs=9))
    assert chains_on(run).tolist() == [2] + [1] * 8
    from arviz_stats.base.array import array_stats

    both = run.draws["posterior"]["x"].values[..., 0]
    assert math.isfinite(array_stats.rhat(both))
    assert math.isnan(array_stats.rhat(both[:1]))  # of one chain nobody can tell


@pytest.mark.parametrize("given", [{}, {"ladder": [1]}], ids=["a ladder", "planted: one rung"])
def test_a_mode_in_which_no_chain_begins_is_found_from_above(given, monkeypatch):
    """And no jump leads there; most chains are cold all the same."""
    seen = where_chains_begin._seen

    def in_lower(*arguments):
        found_rows = [rows.copy() for rows in seen(*arguments)]
        for rows in found_rows:
            rows[:, :2] *= -np.sign(rows[:, :1])
        return found_rows

    monkeypatch.setattr(found, "moves_until_forgotten", lambda *arguments: 1.0)
    monkeypatch.setattr(where_chains_begin, "_seen", in_lower)
    run = sampled(kernel=aptmc.EllipticalSlice(jumps=0.0), **given)
    shares = in_upper(run)
    if given:
        assert not shares.any()
        return
    assert chains_on(run)[0] == 3 * chains_on(run)[1:].sum()
    assert is_right(shares)
