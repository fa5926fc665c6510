"""The warm-up: settings are found, recorded, frozen, and may be used again by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.backends import VirtualTime
from aptmc.clock import ManualClock
from aptmc.errors import InputError
from aptmc.kernels.learned import best_acceptance
from aptmc.record.record import NOBODY
from aptmc.sampling.enough import Until
from aptmc.store import Draws
from aptmc.targets import INTERPRETED
from aptmc.warmup import Round
from aptmc.warmup.round_draws import settled
from aptmc.warmup.tuner import SETTLING
from tests.backends.contract import eventually
from tests.support import targets
from tests.support.problems import normal_distance, two_modes
from tests.support.statistical import standard_errors_off

MODES = aptmc.Tempered(two_modes, aptmc.Prior(x=stats.uniform(-20, 40)))
NORMAL = aptmc.Abc.early(normal_distance, aptmc.Prior(theta=stats.norm(0, math.sqrt(5))))
BUDGET = 40_000  # of which a quarter is the warm-up
DENSITY = aptmc.Power(two_modes, start={"x": 8.0})
ON = VirtualTime(3)


@pytest.fixture(scope="module")
def found() -> aptmc.Run:
    return aptmc.sample(MODES, budget=BUDGET, on=ON, seed=1)


@pytest.fixture(scope="module")
def found_without_likelihood() -> aptmc.Run:
    return aptmc.sample(NORMAL, budget=BUDGET, on=ON, ladder=aptmc.Ladder.auto(coldest=0.1), seed=1)


def test_nothing_but_problem_and_budget_is_needed(found):
    assert found.stopped is aptmc.StopReason.BUDGET_SPENT
    means = [
        np.concatenate(aptmc.sample(MODES, budget=7_000, on=ON, seed=seed).series("x")).mean()
        for seed in range(2, 12)
    ]
    assert standard_errors_off(means, 0.0) < 4
    assert found.round_trips > 10


def test_neighbours_swap_as_often_as_wanted(found, found_without_likelihood):
    for run in (found, found_without_likelihood):
        assert (abs(run.swap_rates.neighbours - 0.4) < 0.12).all()


def test_the_wanted_tolerance_is_reached(found_without_likelihood):
    levels = found_without_likelihood.settings.ladder.levels
    assert levels[0] == 0.1
    assert 0.1 < levels[-1] < math.inf  # not hotter than simulations hit easily


def test_without_a_wanted_tolerance_the_budget_decides():
    """For as many draws: of its own accord the longer run asks for more of them."""
    ladder = aptmc.Ladder.auto(effective_draws=100)
    short, long = (
        aptmc.sample(NORMAL, budget=budget, on=ON, ladder=ladder, seed=1).settings.ladder.levels[0]
        for budget in (5_000, 25_000)
    )
    assert long < short / 2


@pytest.mark.validation
def test_a_density_without_prior_gets_a_ladder_too():
    run = aptmc.sample(DENSITY, budget=40_000, on=ON, seed=3)
    assert run.settings.ladder.levels[-1] > 0.0
    assert (abs(run.swap_rates.neighbours - 0.4) < 0.15).all()


@pytest.mark.validation
def test_the_walk_of_a_mixture_is_accepted_as_often_as_is_best():
    kernel = aptmc.Mixture(aptmc.RandomWalk("auto", spread=1.0), aptmc.Slice("auto"), 0.2)
    run = aptmc.sample(MODES, budget=60_000, on=ON, kernel=kernel, seed=1)
    moving = np.array(run.settings.ladder.levels) > 0.0
    walk = (run.acceptance_rates[moving] - kernel.share) / (1.0 - kernel.share)
    assert (abs(walk - best_acceptance(1)) < 0.1).all()


def test_the_reference_of_a_cold_rung_has_both_modes(found):
    kernel = found.settings.kernel
    assert isinstance(kernel, aptmc.EllipticalSlice)
    assert kernel.reference.components(0) == 2
    weights, means, matrices, _ = kernel.reference.on(0)
    np.testing.assert_allclose(weights, 0.5, atol=0.1)
    np.testing.assert_allclose(np.sort(means[:, 0]), [-8.0, 8.0], atol=0.2)
    np.testing.assert_allclose(matrices, 1.1, rtol=0.3)
    assert found.statistics["jumped"][0] > 0.5 * found.statistics["jumps"][0] > 0


def test_the_rounds_are_recorded_and_double_in_length(found):
    rounds = found.warmup_rounds
    lengths = [one.elapsed for one in rounds]
    np.testing.assert_allclose(np.divide(lengths[1:], lengths[:-1]), 2.0)
    assert sum(lengths) == pytest.approx((1.0 - SETTLING) * 0.25 * BUDGET)
    assert sum(lengths) + found.elapsed == pytest.approx(BUDGET)
    # What was left of the warm-up was enough to settle.
    assert 0.0 < found.counted_from < SETTLING * 0.25 * BUDGET
    assert all(one.completions > 0 for one in rounds)


def test_draws_of_the_warmup_are_kept_apart(found):
    (warm,) = found.chains(warmup=True)
    assert warm.time.max() <= 0.25 * BUDGET
    assert {"posterior", "warmup_posterior"} <= set(found.draws.children)
    everything = aptmc.sample(MODES, budget=2_000, on=ON, keep="all", seed=1)
    with pytest.raises(InputError, match="rung 0"):
        everything.chains(1, warmup=True)


# --- the particles with which a descent ended -----------------------------------------------------

GIVEN = {"ladder": aptmc.Ladder.tolerances([0.1, 0.4, 2.0])}  # and a kernel to be found


def particles(run) -> Draws:
    """Of the warm-up: they come before all draws of its rounds, and nobody moved to them."""
    (warm,) = run.chains(warmup=True)
    return warm.rows(np.flatnonzero(warm.time == 0.0))


@pytest.mark.parametrize("settings", [{"ladder": aptmc.Ladder.auto(coldest=0.1)}, GIVEN], ids=str)
def test_particles_of_a_descent_are_draws_of_the_warmup(settings, monkeypatch):
    told, is_warm = [], Until.is_warm

    def noted(self, draws, dimension):
        told.extend(draws)
        return is_warm(self, draws, dimension)

    monkeypatch.setattr(Until, "is_warm", noted)
    run = aptmc.sample(NORMAL, budget=4_000, on=ON, seed=1, **settings)
    mine = particles(run)
    assert mine.time.size >= 32
    assert mine.state[:, 1].max() <= 0.1
    assert np.unique(mine.state[:, 0]).size > mine.time.size / 2
    assert (mine.processor == NOBODY).all()
    (warm,) = run.chains(warmup=True)
    assert run.draws["warmup_posterior"].sizes["draw"] == warm.time.size
    # They are none of the posterior, and nothing that says whether there is enough.
    drawn = np.concatenate([draws.state[:, 0] for draws in run.chains()])
    assert np.isin(mine.state[:, 0], drawn).mean() < 0.5
    assert sum(draws.time.size for draws in told) == warm.time.size - mine.time.size > 0


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(None, id="whole", marks=pytest.mark.validation),
        pytest.param(150, id="in the descent"),
        pytest.param(1_500, id="in a round"),
    ],
)
def test_a_store_keeps_them_once_however_many_sittings_there_were(calls, tmp_path):
    counter, path = iter(range(10**9)), tmp_path / "run.zarr"

    def interrupted(theta, rng, tolerance):
        if next(counter) == calls:
            raise KeyboardInterrupt
        return abs(theta[0] + rng.standard_normal() - 3.0)

    problem = aptmc.Abc.early(interrupted, NORMAL.prior)
    ladder = aptmc.Ladder.auto(coldest=0.3)
    run = aptmc.sample(
        problem, budget=3_000, ladder=ladder, on=ON, seed=1, store=path, progress=False
    )
    if calls is not None:
        assert run.stopped is aptmc.StopReason.INTERRUPTED
        assert run.reached.is_over is (calls != 150)
        run = aptmc.resume(path, problem, budget=3_000, on=ON, progress=False, force=True)
    mine = particles(run)
    assert 32 <= mine.time.size == len(np.unique(mine.replica))
    assert mine.state[:, 1].max() <= run.reached.level
    kept = aptmc.open(path)
    for column, other in zip(mine, particles(kept), strict=True):
        np.testing.assert_array_equal(column, other)
    sizes = [one.draws["warmup_posterior"].sizes["draw"] for one in (run, kept)]
    assert sizes[0] == sizes[1] > mine.time.size


def test_a_run_by_rejection_keeps_them_too(tmp_path):
    run = aptmc.sample(
        NORMAL, budget=1_000, on=ON, seed=1, ladder=aptmc.Ladder.auto(coldest=2.0),
        store=tmp_path / "run.zarr",
    )  # fmt: skip
    assert run.reached.by_rejection
    assert particles(run).time.size >= 32


def test_the_same_seed_finds_the_same():
    one, again = (aptmc.sample(MODES, budget=5_000, on=ON, seed=1) for _ in range(2))
    assert again.settings.ladder == one.settings.ladder
    np.testing.assert_array_equal(again.chains()[0].state, one.chains()[0].state)


def test_what_was_found_can_be_used_by_hand(found):
    settings = found.settings
    run = aptmc.sample(
        MODES,
        budget=10_000,
        ladder=settings.ladder,
        kernel=settings.kernel,
        schedule=settings.schedule,
        pools=settings.pools,
        on=ON,
        seed=2,
    )
    assert run.warmup_rounds == []
    assert (abs(run.acceptance_rates - found.acceptance_rates) < 0.05).all()


@pytest.mark.parametrize(
    "given",
    [
        {"ladder": aptmc.Ladder.powers([1, 0.3, 0.1, 0])},
        {"kernel": aptmc.RandomWalk(2.0)},
        {"schedule": aptmc.Anytime(every=7.0)},
        {"schedule": aptmc.Synchronous()},
        {"pools": aptmc.Shared(3)},
        {"ladder": aptmc.Ladder.auto(rungs=5)},
    ],
)
def test_what_is_given_stays(given):
    run = aptmc.sample(MODES, budget=5_000, on=ON, seed=1, **given)
    for name, value in given.items():
        if isinstance(value, aptmc.AutoLadder):
            assert run.settings.ladder.rungs == 5
        else:
            assert getattr(run.settings, name) == value


def test_a_seed_is_drawn_and_recorded_if_none_is_given():
    first, second = (aptmc.sample(MODES, budget=2_000, on=ON) for _ in range(2))
    assert first.settings.seed != second.settings.seed


def test_without_a_warmup_nothing_can_be_found():
    with pytest.raises(InputError, match="without a warm-up"):
        aptmc.sample(MODES, budget=100, warmup=0, on=ON, seed=1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"swap_rate": 0.0},
        {"swap_rate": 1.0},
        {"coldest": -1.0},
        {"effective_draws": 0},
        {"rungs": 1},
        {"most_rungs": 1},
    ],
)
def test_a_wish_that_cannot_be_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        aptmc.Ladder.auto(**wrong)


def test_a_failure_in_the_warmup_says_where():
    def fails(theta):
        if theta[0] > 7.9:
            raise ValueError("too large")
        return two_modes(theta)

    problem = aptmc.Tempered(fails, aptmc.Prior(x=stats.uniform(-20, 40)))
    with pytest.raises(aptmc.MoveFailed, match="too large") as failure:
        aptmc.sample(problem, budget=5_000, on=ON, seed=3)
    assert failure.value.key is not None


def looks_like_nothing_yet(run):
    assert sum(draws.time.size for draws in run.chains()) == 0
    assert run.completions == 0
    assert run.elapsed == 0.0
    assert run.in_flight == []
    assert "0 draws" in repr(run)


def test_a_failure_in_the_warmup_leaves_no_draws_of_the_posterior():
    calls = iter(range(10**9))

    def fails(theta):
        if next(calls) > 2_000:
            raise ValueError("that was the last one")
        return two_modes(theta)

    problem = aptmc.Tempered(fails, aptmc.Prior(x=stats.uniform(-20, 40)))
    with pytest.raises(aptmc.MoveFailed, match="the last one") as failure:
        aptmc.sample(problem, budget=20_000, on=ON, seed=3)
    run = failure.value.run
    assert run.stopped is aptmc.StopReason.FAILED
    looks_like_nothing_yet(run)
    assert 0 < len(run.warmup_rounds) < 10
    (warm,) = run.chains(warmup=True)
    assert warm.time.size > 0


@pytest.mark.parametrize("calls", [30, 600], ids=["first round", "later round"])
@pytest.mark.parametrize("on", [ON, aptmc.InProcess()], ids=["virtual", "in process"])
def test_whoever_interrupts_the_warmup_gets_a_run_without_draws(calls, on):
    counter = iter(range(10**9))

    def interrupted(theta):
        if next(counter) == calls:
            raise KeyboardInterrupt
        return two_modes(theta)

    problem = aptmc.Tempered(interrupted, aptmc.Prior(x=stats.uniform(-20, 40)))
    budget = 20_000 if on is ON else 600.0  # seconds, of which the first round has 0.15
    run = aptmc.sample(problem, budget=budget, on=on, seed=3)
    assert run.stopped is aptmc.StopReason.INTERRUPTED
    looks_like_nothing_yet(run)


def test_a_look_at_a_warmup_shows_no_draws_of_the_posterior():
    with aptmc.start(MODES, budget="1 h", on=aptmc.InProcess(), seed=1) as handle:
        eventually(lambda: len(handle.inspect().run.warmup_rounds) >= 1)
        run = handle.inspect().run
        assert run.stopped is aptmc.StopReason.STILL_RUNNING
        looks_like_nothing_yet(run)
        assert run.chains(warmup=True)[0].time.size > 0
        assert run.settings.ladder.levels[0] == 1.0
        looks_like_nothing_yet(handle.stop())


def test_what_is_learnt_comes_from_the_later_half_of_the_moves():
    states = np.arange(8.0)[:, None]
    exchanged = np.array([False, True, False, True, False, True, False, True])
    nothing = np.zeros(8, np.int32)
    draws = Draws(
        states, np.arange(8.0), exchanged, nothing, nothing, nothing, states[:, 0], states[:, 0]
    )
    assert settled([draws, draws], 1).ravel().tolist() == [4.0, 6.0, 4.0, 6.0]
    assert settled([], 3).shape == (0, 3)


def test_the_barrier_of_a_round_adds_up_rejections():
    ladder = aptmc.Ladder.powers(4)
    rates = np.array([0.4, 0.7, math.nan])
    assert Round(ladder, 1.0, 1, rates, np.ones(4), 1.0).barrier == pytest.approx(0.9)


# --- frozen ---------------------------------------------------------------------------------------


def test_the_sampling_phase_adapts_nothing(found):
    assert found._machine.plan.follows == 0.0
    tuning = found.settings.kernel.tuning(MODES, found.settings.ladder)
    np.testing.assert_array_equal(found._tuning, tuning)


def near_zero(make_move, seeds=400) -> np.ndarray:
    """The share of draws near zero after moves from exact draws, with a given move."""
    kernel = aptmc.RandomWalk(1.0)
    problem = targets.problem()
    tuning = kernel.tuning(problem, aptmc.Ladder.powers([1.0]))[0]
    move = make_move(kernel.move(problem, INTERPRETED))
    rng = np.random.default_rng(7)
    shares = []
    for _ in range(seeds):
        state = np.array([rng.standard_normal(), 0.0, 0.0])
        state[1] = targets.log_density(state)
        inside = []
        for _ in range(30):
            outcome, info = np.empty(3), np.zeros(8)
            move(1.0, tuning.copy(), state, rng, outcome, info)
            state = outcome
            inside.append(abs(state[0]) < 0.5)
        shares.append(np.mean(inside))
    return np.array(shares)


def test_a_scale_that_never_freezes_and_looks_at_the_state_is_caught():
    exact = stats.norm.cdf(0.5) - stats.norm.cdf(-0.5)
    assert standard_errors_off(near_zero(lambda move: move), exact) < 4

    def adapting(move):
        def wrong(level, tuning, state, rng, outcome, info):
            tuning[2:] *= 0.3 if abs(state[0]) < 0.5 else 2.0
            move(level, tuning, state, rng, outcome, info)

        return wrong

    assert standard_errors_off(near_zero(adapting), exact) > 6


# --- deadlines ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("found")  # so that it is compiled by now
def test_deadlines_cost_no_more_than_a_small_share_of_the_time():
    """In real time, of a problem whose sweeps take hardly longer than an exchange."""
    run = aptmc.sample(MODES, budget="30000 moves", on=aptmc.InProcess(), seed=1)
    found = run.settings.schedule
    assert found.every >= found.shortest > 0.0
    assert 0.0 < run.overhead.exchanges < 0.1 * run.elapsed


def test_other_clocks_charge_nothing_for_deadlines(found):
    assert found.settings.schedule.shortest == 0.0
    on = aptmc.InProcess(ManualClock(step=0.01))
    run = aptmc.sample(MODES, budget=40.0, on=on, seed=1)
    assert run.settings.schedule.shortest == 0.0
