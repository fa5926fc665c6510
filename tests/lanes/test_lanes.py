"""Runs on lanes: the same wherever they are computed, and the same result object as everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.clock import ManualClock
from aptmc.errors import InputError, MoveFailed
from aptmc.session.control import Control
from aptmc.store import MemoryStore
from tests.lanes.problems import TWO_MODES, lanes, sampled, two_modes

PROBLEM = two_modes()
RUNGS = 3
LANES = 60
BUDGET = 3030


def run_for(budget=BUDGET, **options):
    on = options.pop("on", lanes(LANES, settle=0.0))
    return sampled(PROBLEM, TWO_MODES, budget=budget, on=on, **options)


def draws_of(run, rung=0):
    return np.stack([draws.state for draws in run.chains(rung)])


@pytest.fixture(scope="module")
def run():
    return run_for(keep="all")


def test_a_lane_has_a_draw_at_every_deadline(run):
    draws = draws_of(run)
    assert draws.shape == (LANES // RUNGS, BUDGET // 50, 3)
    assert run.draws.posterior["x"].shape == draws.shape[:2]
    times = run.chains()[0].time
    assert np.array_equal(times, 50.0 * np.arange(1, BUDGET // 50 + 1))
    assert (draws[:, :, 1] <= 0.3).all()
    assert (draws_of(run, 2)[:, :, 1] > 0.3).any()
    assert run.keeps_all


def test_what_was_counted_adds_up(run):
    assert run.elapsed == BUDGET
    assert run.utilisation == 1.0
    # Every tick of every lane is one step, or a proposal that the prior has refused.
    refused = run.completions + LANES - run.simulations
    assert run.statistics["work"].sum() <= BUDGET * LANES
    assert run.statistics["work"].sum() >= BUDGET * LANES - refused
    assert 0.1 < run.acceptance_rates[0] < run.acceptance_rates[2] < 0.9
    assert (run.hold_times > 1.0).all()
    assert len(run.in_flight) == LANES
    assert "deadlines every 50 ticks" in str(run.summary())
    assert run.summary()["x"].ess > 20


def test_threads_share_the_work_and_change_nothing(monkeypatch, run):
    monkeypatch.setattr("aptmc.backends.lanes.processor_fleet.WORTH_SHARING", 0)
    on = aptmc.Lanes(LANES, device="cpu", budget_in="ticks", threads=3, settle=0.0)
    assert np.array_equal(draws_of(run), draws_of(run_for(on=on)))


def test_another_seed_gives_other_draws(run):
    assert not np.array_equal(draws_of(run), draws_of(run_for(seed=2)))


def test_thinning_keeps_one_draw_of_so_many(run):
    thinned = run_for(thin=7)
    assert np.array_equal(draws_of(thinned), draws_of(run)[:, 6::7])


def test_nothing_is_recorded_until_the_lanes_have_settled(run):
    settled = run_for(on=lanes(LANES, settle=0.5))
    assert np.array_equal(draws_of(settled), draws_of(run)[:, 30:])


def test_lanes_that_make_no_whole_ladder_are_left_out(run):
    assert np.array_equal(draws_of(run_for(on=lanes(LANES + 2, settle=0.0))), draws_of(run))


def test_deadlines_may_be_early_or_late():
    run = aptmc.sample(
        PROBLEM, budget=2000, schedule=aptmc.Anytime(every=50, jitter=0.5), on=lanes(6), seed=1,
        progress=False, **TWO_MODES,
    )  # fmt: skip
    between = np.diff(run.chains()[0].time)
    assert (between == np.round(between)).all()
    assert between.min() >= 25.0
    assert between.max() <= 75.0
    assert len(np.unique(between)) > 5


@pytest.mark.validation
def test_a_warm_up_finds_ladder_and_proposals():
    run = aptmc.sample(
        PROBLEM, budget=8000, ladder=aptmc.Ladder.auto(coldest=0.3), on=lanes(LANES),
        schedule=aptmc.Anytime(every=50), seed=1, progress=False,
    )  # fmt: skip
    assert run.settings.ladder.levels[0] == 0.3
    assert run.settings.ladder.rungs > 1
    assert run.settings.kernel.covariance is not None
    assert len(run.warmup_rounds) >= 4
    assert (run.swap_rates.neighbours > 0.1).all()
    assert (draws_of(run)[:, :, 1] <= 0.3).all()
    assert abs(np.abs(draws_of(run)[:, :, 0]).mean() - 2.0) < 0.2


@pytest.mark.validation
def test_warm_ups_have_fewer_lanes(monkeypatch):
    monkeypatch.setattr("aptmc.backends.lanes.backend.LANES_IN_WARMUP", 6)
    run = aptmc.sample(
        PROBLEM, budget=4000, kernel=aptmc.OneHit("auto"), on=lanes(LANES), seed=1, progress=False,
        schedule=aptmc.Anytime(every=50), ladder=TWO_MODES["ladder"],
    )  # fmt: skip
    moves = [part.completions / part.elapsed for part in run.warmup_rounds]
    assert max(moves) < 6  # of a lane in a tick at most one
    assert len(run.chains()) == LANES // RUNGS


# --- by the clock -------------------------------------------------------------------------------


def test_a_budget_in_seconds_ends_at_a_deadline():
    control = Control(ManualClock(step=0.2))
    settings_run = run_for(keep="all")
    on = aptmc.Lanes(LANES, device="cpu", threads=1, settle=0.0)
    session = session_of(settings_run.settings, on)
    usage = on.run(session, 20.0, control)
    assert usage.stopped is aptmc.StopReason.BUDGET_SPENT
    assert 18.0 <= usage.elapsed < 22.0
    passed = int(session.machine.passed[0])
    assert passed > 10
    assert int(session.machine.swept[0]) == 50 * passed


def session_of(settings, on):
    from aptmc.session.build import build_session

    return build_session(settings.found(on=on), MemoryStore())


# --- a store ------------------------------------------------------------------------------------


def test_a_run_goes_on_as_if_it_had_never_been_left(tmp_path, run):
    store = tmp_path / "run.zarr"
    run_for(budget=1010, store=store, keep="all")
    for budget in (7, 2013):
        left = aptmc.resume(
            store, PROBLEM, budget=budget, on=lanes(LANES, settle=0.0), progress=False
        )
    assert left.elapsed == BUDGET
    for rung in range(RUNGS):
        assert np.array_equal(draws_of(left, rung), draws_of(run, rung))
    assert left.completions == run.completions
    assert left.round_trips == run.round_trips
    assert np.array_equal(left.swap_rates.neighbours, run.swap_rates.neighbours)
    opened = aptmc.open(store)
    assert np.array_equal(draws_of(opened), draws_of(run))
    assert aptmc.replay(store, PROBLEM, on=lanes(LANES)).is_same


def test_a_replay_notices_exchanges_with_other_keys(tmp_path, monkeypatch):
    store = tmp_path / "run.zarr"
    run_for(budget=1010, store=store)
    monkeypatch.setattr("aptmc.backends.lanes.journey.start_of_epoch", lambda epoch: epoch + 1)
    found = aptmc.replay(store, PROBLEM, on=lanes(LANES))
    assert not found.is_same
    assert "its state is" in str(found)


def test_other_processors_cannot_go_on_with_what_lanes_have_in_flight(tmp_path):
    store = tmp_path / "run.zarr"
    run_for(budget=510, store=store)
    with pytest.raises(InputError, match="was begun by lanes"):
        aptmc.resume(store, PROBLEM, budget=10, on=aptmc.VirtualTime(2), progress=False)


# --- what cannot be -----------------------------------------------------------------------------


@njit
def log_likelihood(theta):
    return -0.5 * theta[0] ** 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pools": aptmc.Shared(2)}, "places its chains itself"),
        ({"schedule": aptmc.Synchronous()}, "lanes never wait"),
        ({"schedule": aptmc.Anytime(every=50, follow=True)}, "none that follows"),
        ({"schedule": aptmc.Anytime(every=50, exchange=aptmc.Alternating())}, "leave out other"),
        ({"schedule": aptmc.Anytime(every=50, exchange=aptmc.Reassignment(rounds=2))}, "rounds"),
        ({"schedule": aptmc.Anytime(every=50, within=aptmc.Reassignment())}, "`within`"),
        ({"kernel": aptmc.OneHit(1.0, cap=5)}, "a move of a lane is one simulation"),
        ({"kernel": aptmc.OneHit(1.0, truncate=True)}, "no truncate"),
        ({"on": lanes(2)}, "2 lanes are too few for a ladder of 3 rungs"),
        (
            {"problem": aptmc.Abc.stepwise(
                PROBLEM.steps.begin.py_func, PROBLEM.steps.step, PROBLEM.prior, state=1
            )},
            "put @numba.njit above it",
        ),
    ],
)  # fmt: skip
def test_what_lanes_cannot_do_is_refused(changes, words):
    settings = {
        "problem": PROBLEM, "budget": 100, "schedule": aptmc.Anytime(every=50), "on": lanes(6),
        "progress": False, **TWO_MODES, **changes,
    }  # fmt: skip
    with pytest.raises(InputError, match=words):
        aptmc.sample(settings.pop("problem"), **settings)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bits": 16}, "bits must be 64 or 32, got 16"),
        ({"device": "tpu"}, 'device must be "auto", "gpu" or "cpu"'),
        ({"settle": 1.0}, "settle must be a share"),
        ({"budget_in": "hours"}, 'budget_in must be "seconds" or "ticks"'),
        ({"lanes": 0}, "lanes must be"),
    ],
)
def test_wrong_arguments_are_named(options, words):
    with pytest.raises(InputError, match=words):
        aptmc.Lanes(**options)


def test_without_a_gpu_lanes_are_computed_here_and_say_so(monkeypatch):
    monkeypatch.setattr("aptmc.backends.lanes.device.find_spec", lambda name: None)
    assert "no GPU was found" in aptmc.Lanes().device.words_at_first
    assert "no GPU" not in aptmc.Lanes(device="cpu").device.words_at_first
    with pytest.raises(InputError, match="the package cupy is not installed"):
        aptmc.Lanes(device="gpu")


def test_the_summary_of_a_run_says_that_it_had_no_gpu(monkeypatch, tmp_path):
    """Whoever does not look while it runs is told afterwards, by a stored run, too."""
    monkeypatch.setattr("aptmc.backends.lanes.device.find_spec", lambda name: None)
    words = "lanes made by processors, because the package cupy is not installed"
    store = tmp_path / "run.zarr"
    on = aptmc.Lanes(LANES, budget_in="ticks", threads=1, settle=0.0)
    instead = run_for(budget=1010, on=on, store=store)
    assert words in str(instead.summary())
    assert words in str(aptmc.open(store).summary())
    assert "made by processors" not in str(run_for(budget=1010).summary())


@njit
def step_that_fails(theta, rng, state, tolerance):
    return np.nan if theta[0] > 3.95 else abs(theta[0])


@pytest.mark.parametrize("on_error", ["raise", "reject"])
def test_a_simulation_that_fails_is_named_or_counted(on_error):
    problem = aptmc.Abc.stepwise(
        PROBLEM.steps.begin, step_that_fails, PROBLEM.prior, state=1, on_error=on_error
    )
    if on_error == "reject":
        run = sampled(problem, TWO_MODES, budget=1000, on=lanes(60))
        assert run.failures > 0
        return
    with pytest.raises(MoveFailed, match="gave NaN for its distance") as caught:
        sampled(problem, TWO_MODES, budget=1000, on=lanes(60))
    assert caught.value.parameters["x"] > 3.95
    assert caught.value.key in caught.value.run.in_flight


def test_a_single_move_of_a_lane_is_not_computed_elsewhere(run):
    with pytest.raises(InputError, match="lanes have a generator of their own"):
        run.rerun(run.in_flight[0])


def test_lanes_of_another_kind_cannot_go_on(tmp_path, monkeypatch):
    store = tmp_path / "run.zarr"
    run_for(budget=510, store=store)
    monkeypatch.setattr("aptmc.backends.lanes.device.Processors.__str__", lambda _: "a toaster")
    with pytest.raises(InputError, match="use lanes on the same kind of device"):
        aptmc.resume(store, PROBLEM, budget=10, on=lanes(LANES), progress=False)


def test_lanes_cannot_go_on_with_what_others_began(tmp_path):
    store = tmp_path / "run.zarr"
    sampled(PROBLEM, TWO_MODES, budget=500, on=aptmc.VirtualTime(1), store=store)
    with pytest.raises(InputError, match="was not begun by lanes"):
        aptmc.resume(store, PROBLEM, budget=10, on=lanes(LANES), progress=False)


def test_chains_that_have_hardly_moved_are_advised_on(run):
    short = run_for(budget=200, every=10)
    assert any("too few to forget where it began" in str(advice) for advice in short.advice)
    assert not any("forget" in str(advice) for advice in run_for(budget=20_000).advice)


# --- densities ----------------------------------------------------------------------------------


def density():
    return aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.norm(0, 2)))


def test_densities_are_sampled_too():
    problem = density()
    run = aptmc.sample(
        problem, budget=2001, ladder=aptmc.Ladder.powers([1.0, 0.3, 0.0]), keep="all",
        kernel=aptmc.RandomWalk([1.5, 2.0, 3.0]), schedule=aptmc.Anytime(every=5), on=lanes(60),
        seed=1, progress=False,
    )  # fmt: skip
    for rung, power in enumerate([1.0, 0.3, 0.0]):
        spread = np.array([series.var() for series in run.series("x", rung)])
        expected = 1.0 / (power + 0.25)
        assert abs(spread.mean() - expected) < 4.0 * spread.std(ddof=1) / np.sqrt(spread.size)
    assert run.swap_rates.neighbours[0] > 0.3
    # Every move takes one tick: what waits at a deadline must not be paired alike for ever.
    assert run.round_trips > 100
    assert run.log_evidence().value == pytest.approx(np.log(0.5 / np.sqrt(0.25 + 1.0)), abs=0.05)
