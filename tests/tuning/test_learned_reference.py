"""A reference that is learned in the warm-up: short ladders, the same answers, frozen after."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy import stats

import aptmc
from aptmc.backends.workers.payload import pack, unpack
from aptmc.backends.workers.wire import Wire
from aptmc.kernels import Students
from aptmc.keys import Key
from aptmc.result.archive import from_json, to_json
from aptmc.sampling.asking import asked_for
from aptmc.session.orders import Mover, Order
from aptmc.warmup.found import Found
from tests.support.statistical import FALSE_ALARM

WIDTH, PRIOR_SD = 0.2, 3.0
MODES, WEIGHTS = np.array([[2.0, 2.0], [-2.0, -1.0]]), np.array([0.7, 0.3])


def log_likelihood(theta):
    squares = ((theta - MODES) ** 2).sum(axis=1) / WIDTH**2
    logs = np.log(WEIGHTS) - 0.5 * squares - math.log(2.0 * math.pi * WIDTH**2)
    return float(np.logaddexp(logs[0], logs[1]))


PROBLEM = aptmc.Tempered(
    log_likelihood, aptmc.Prior(x=stats.norm(0, PRIOR_SD), y=stats.norm(0, PRIOR_SD))
)
HEIGHTS = WEIGHTS * stats.norm(0, math.hypot(WIDTH, PRIOR_SD)).pdf(MODES).prod(axis=1)
LOG_EVIDENCE = math.log(HEIGHTS.sum())
LEARNED = aptmc.Ladder.auto(reference="learned")


def sampled(problem=PROBLEM, *, ladder=LEARNED, budget=15_000.0, **options):
    on = options.pop("on", aptmc.VirtualTime(2))
    return aptmc.sample(
        problem, budget=budget, ladder=ladder, on=on, seed=1, progress=False, **options
    )


@cache
def run(keep="all"):
    return sampled(keep=keep)


def test_the_ladder_is_short_and_states_go_to_and_fro():
    assert isinstance(run().settings.ladder.reference, Students)
    assert run().settings.ladder.rungs <= 3
    before = [part.ladder.rungs for part in run().warmup_rounds]
    assert max(before) >= 5  # on the prior
    assert run().round_trips > 5_000


def test_the_log_evidence_is_that_of_prior_and_likelihood():
    found = run().log_evidence()
    assert found.standard_error < 0.02
    assert abs(found.value - LOG_EVIDENCE) < 5.0 * found.standard_error


def test_an_evidence_without_the_references_norm_would_be_caught():
    # As if the mixture weighed twice what it does.
    found = run().log_evidence()
    assert abs(found.value - math.log(2.0) - LOG_EVIDENCE) > 5.0 * found.standard_error


def test_modes_have_their_weights():
    larger = np.concatenate([draws.state[:, 0] > 0.0 for draws in run().chains()])
    share = HEIGHTS[0] / HEIGHTS.sum()
    error = math.sqrt(share * (1.0 - share) / run().summary()["x"].ess)
    assert abs(larger.mean() - share) < stats.norm.isf(FALSE_ALARM / 2) * error


def test_draws_have_the_log_likelihood_that_users_know():
    posterior = run().draws["posterior"]
    values = run().draws["sample_stats"]["log_likelihood"].values.ravel()[:20]
    x, y = posterior["x"].values.ravel()[:20], posterior["y"].values.ravel()[:20]
    expected = [log_likelihood(np.array(theta)) for theta in zip(x, y, strict=True)]
    np.testing.assert_allclose(values, expected)


def test_what_is_frozen_is_given_to_the_next_run():
    again = sampled(
        ladder=run().settings.ladder,
        kernel=run().settings.kernel,
        schedule=aptmc.Anytime(every=1.0),
        budget=200.0,
    )
    assert not again.warmup_rounds
    assert again.settings.ladder.reference is run().settings.ladder.reference


def test_a_warmup_that_is_too_short_leaves_the_prior():
    short = sampled(budget=1_000.0, keep="all")
    assert short.settings.ladder.reference == "learned"
    assert short.round_trips >= 0


def test_a_ladder_that_is_given_gets_a_reference():
    ladder = aptmc.Ladder.powers([1, 0.3, 0.05, 0.01, 0], reference="learned")
    given = sampled(ladder=ladder, budget=9_000.0)
    assert given.settings.ladder.levels == (1.0, 0.3, 0.05, 0.01, 0.0)
    assert isinstance(given.settings.ladder.reference, Students)


def test_a_density_has_one_where_there_was_no_prior():
    problem = aptmc.Power(lambda theta: -0.5 * theta @ theta, start=[1.0, 1.0])
    found = sampled(problem, budget=5_000.0, keep="all")
    assert found.settings.ladder.levels[-1] == 0.0
    evidence = found.log_evidence()
    assert abs(evidence.value - math.log(2.0 * math.pi)) < 5.0 * evidence.standard_error


# --- stores -----------------------------------------------------------------------------------


def test_a_run_goes_on_and_can_be_computed_again(tmp_path):
    store = tmp_path / "run.zarr"
    sampled(budget=5_000, warmup=3_900.0, store=store)
    later = aptmc.resume(store, PROBLEM, budget=2_000, on=aptmc.VirtualTime(2), progress=False)
    assert isinstance(later.settings.ladder.reference, Students)
    again = aptmc.replay(store, PROBLEM)
    assert again.is_same, again.difference
    opened = aptmc.open(store)
    assert repr(opened.settings.ladder) == repr(later.settings.ladder)
    name = "log_likelihood"
    stored, kept = (one.draws["sample_stats"][name].values for one in (opened, later))
    np.testing.assert_array_equal(stored, kept)


def test_a_warmup_remembers_the_reference_that_it_has_fitted():
    settings, _ = asked_for(
        PROBLEM, 100.0, LEARNED, "auto", None, None, aptmc.VirtualTime(1), "auto", "all", 1, None,
        None, 5.0, False, 1, None, shows_progress=False,
    )  # fmt: skip
    found = Found(settings)
    found.reference = Students.one([0.0, 1.0], np.eye(2), 5)
    stored = {name: from_json(to_json(value), name) for name, value in found.memory().items()}
    other = Found(settings)
    other.recall(stored)
    np.testing.assert_array_equal(other.reference.numbers(), found.reference.numbers())
    assert other.settings().ladder.reference is other.reference


def test_workers_compute_the_same_moves():
    settings = run().settings
    problem, kernel, rung = settings.problem, settings.kernel, settings.ladder.rungs - 1
    there, _ = unpack(pack((problem, kernel), Wire(1, problem.width)))
    tuning, state = kernel.numbers(problem, settings.ladder), run().chains(rung)[0].state[-1]
    for level, row in zip(settings.ladder.levels, tuning, strict=True):
        order = Order(Key(1, 0, 1), 0, level, row, state)
        here = Mover(problem, kernel, 1).compute(order)
        np.testing.assert_array_equal(there.compute(order).state, here.state)
