"""Where more than a tenth of the prior's simulations hit, a run goes on with them, on one rung."""

from __future__ import annotations

import math

import numpy as np
import pytest

import aptmc
from aptmc.errors import StopReason
from aptmc.kernels.one_hit import FRESH_CAP
from aptmc.kernels.parts import Parts
from aptmc.session.descent import Descent
from tests.support.wide_prior import BY_HAND, ON, PROBLEM, posterior_mean, sample, share

WIDE = aptmc.Ladder.auto(coldest=2.0)
PLAIN = aptmc.Abc.early(PROBLEM.simulator.simulate.py_func, PROBLEM.prior)


@pytest.fixture(scope="module")
def run() -> aptmc.Run:
    return sample(ladder=WIDE, budget=10_000)


def standard_errors_off(run: aptmc.Run) -> float:
    row = run.summary()["theta"]
    return abs(row.mean - posterior_mean(2.0)) / row.mcse


def test_it_is_done_and_said(run) -> None:
    assert run.settings.ladder.levels == (2.0,)
    assert run.settings.kernel == aptmc.OneHit(math.inf, cap=FRESH_CAP)
    assert run.reached.by_rejection
    assert run.reached.prior_share == pytest.approx(share(2.0), abs=0.1)
    assert "by rejection, which is cheapest there" in str(run.summary()).splitlines()[0]
    assert "1 rung, tolerance 2, 6 chains on each\n" in f"{run.summary()}\n"


def test_a_tolerance_wider_than_all_that_was_seen_is_kept_as_asked() -> None:
    run = sample(ladder=aptmc.Ladder.auto(coldest=50.0), budget=1_000)
    assert run.settings.ladder.levels == (50.0,)
    assert run.reached.prior_share == 1.0
    first, second, *_ = str(run.summary()).splitlines()
    assert first.startswith("tolerance 50, as asked for: the nearest 100 % of the prior's")
    assert "keeps 100 % of the prior's own simulations, and the draws cannot be told" in second


def test_its_draws_are_right(run) -> None:
    assert standard_errors_off(run) < 4.0
    states = np.concatenate([draws.state for draws in run.chains()])
    assert states[:, 1].max() <= 2.0


def test_where_some_simulations_never_end_draws_of_the_prior_do_not_count(monkeypatch) -> None:
    """A descent gives up what is stuck. A move that counts is not given up, and sooner or later
    every processor would be stuck in one."""
    report = Descent.report

    def some_never_end(self, order, outcome, seconds, elapsed):
        stuck = order.key.number % 20 == 7
        report(self, order, None if stuck else outcome, seconds, elapsed)

    monkeypatch.setattr(Descent, "report", some_never_end)
    run = sample(ladder=WIDE, budget=1_000)
    assert run.reached.given_up > 0
    assert run.reached.is_wide
    assert not run.reached.by_rejection
    assert run.settings.kernel != aptmc.OneHit(math.inf, cap=FRESH_CAP)


def test_a_planted_error_is_caught(monkeypatch) -> None:
    draw_right = Parts.draw.fget

    def draw_wrong(parts):
        draw = draw_right(parts)

        def one(rng, row):
            draw(rng, row)
            row[0] *= 0.8

        return one

    monkeypatch.setattr(Parts, "draw", property(draw_wrong))
    wrong = sample(PLAIN, ladder=WIDE, budget=10_000)
    assert wrong.reached.by_rejection
    assert standard_errors_off(wrong) > 4.0


def test_nearly_every_simulation_that_hits_is_an_effective_draw(run) -> None:
    """No warm-up is held for what needs no tuning, so that nearly all of the budget counts."""
    assert run.warmup_rounds == []
    assert run.elapsed > 0.9 * 10_000
    hits = share(2.0) * run.simulations
    assert run.summary()["theta"].draws == pytest.approx(hits, rel=0.05)
    assert run.summary()["theta"].ess == pytest.approx(hits, rel=0.2)
    # The control: one draw at a time, whose misses are repeated, is worth little more than half.
    one_at_a_time = sample(
        ladder=run.settings.ladder,
        kernel=aptmc.OneHit(math.inf),
        schedule=run.settings.schedule,
        pools=run.settings.pools,
        budget=10_000,
    )
    assert one_at_a_time.summary()["theta"].ess < 0.75 * hits


@pytest.mark.parametrize(
    "changes",
    [
        {"kernel": aptmc.OneHit(2.0)},
        {"ladder": aptmc.Ladder.auto(coldest=2.0, rungs=2)},
        {"ladder": aptmc.Ladder.auto(coldest=2.0, hottest=math.inf)},
        {"ladder": aptmc.Ladder.auto(coldest=0.3)},
        BY_HAND | {"kernel": "auto"},
        {"ladder": aptmc.Ladder.tolerances([2.0, 5.0]), "pools": aptmc.Shared(3)},
    ],
    ids=["a kernel", "rungs", "a hottest rung", "a small tolerance", "a ladder", "a wide ladder"],
)
def test_what_was_asked_for_is_done(changes) -> None:
    run = sample(**({"ladder": WIDE} | changes))
    assert not run.reached.by_rejection
    assert run.settings.kernel.scale != math.inf
    assert run.settings.ladder.rungs > 1


def test_a_budget_that_affords_no_better_is_spent_on_it_too() -> None:
    slow = aptmc.VirtualTime(2, hold=lambda theta, rung, rng: 100.0)
    run = sample(on=slow, budget=8_000)
    assert run.reached.asked is None
    assert run.reached.is_wide
    assert run.reached.by_rejection


def test_it_can_be_stored_gone_on_with_and_computed_again(tmp_path) -> None:
    path = tmp_path / "run.zarr"
    first = sample(ladder=WIDE, store=path)
    again = aptmc.resume(path, PROBLEM, budget=2_000, on=ON, progress=False)
    assert again.stopped is StopReason.BUDGET_SPENT
    assert again.reached == first.reached
    assert again.settings.kernel == aptmc.OneHit(math.inf, cap=FRESH_CAP)
    replayed = aptmc.replay(path, PROBLEM)
    assert replayed.is_same, replayed.difference


def test_workers_need_no_other_code_for_it() -> None:
    """They have been sent the kernel that was asked for, and only numbers since."""
    learning, fresh = aptmc.OneHit("auto"), aptmc.OneHit("auto").renewing()
    assert fresh.code == learning.code
    ladder = aptmc.Ladder.tolerances([2.0])
    begun = learning.at_first(np.ones(1), 1)
    assert fresh.tuning(PROBLEM, ladder).shape == begun.tuning(PROBLEM, ladder).shape
    assert begun.renewing() == fresh
    assert aptmc.OneHit(2.0).renewing() is None
    assert aptmc.RandomWalk("auto").renewing() is None


def test_an_infinite_scale_is_one_for_all_rungs_and_not_truncated() -> None:
    with pytest.raises(aptmc.InputError, match="scale only, a finite one"):
        aptmc.OneHit(math.inf, truncate=True)
    with pytest.raises(aptmc.InputError, match="scale must be"):
        aptmc.OneHit([1.0, math.inf]).tuning(PROBLEM, aptmc.Ladder.tolerances([1.0, 2.0]))
    density = aptmc.Tempered(lambda theta: 0.0, PROBLEM.prior)
    with pytest.raises(aptmc.InputError, match="scale must be"):
        aptmc.RandomWalk(math.inf).tuning(density, aptmc.Ladder.powers([1.0]))
