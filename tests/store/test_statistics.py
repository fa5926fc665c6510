"""What kernels count is stored by name; stores of before it had names can still be read."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import InputError
from aptmc.session.snapshot import PLACES_BEFORE_NAMES, Snapshot, statistics_in, with_own_places
from tests.kernels.models import Density
from tests.kernels.test_own_kernel import Cauchy

PROBLEM = aptmc.Abc.early(
    lambda theta, rng, tolerance: abs(theta[0] + rng.standard_normal() - 3.0),
    aptmc.Prior(theta=stats.norm(0, 2)),
)
ON = aptmc.VirtualTime(1)


def test_sums_by_rung_are_stored_and_added_to(tmp_path):
    store = tmp_path / "run.zarr"
    run = aptmc.sample(
        PROBLEM,
        budget=300,
        ladder=aptmc.Ladder.tolerances([0.5, 2.0, math.inf]),
        kernel=aptmc.OneHit(1.0),
        schedule=aptmc.Anytime(every=5.0),
        on=ON,
        store=store,
        seed=1,
    )
    opened = aptmc.open(store)
    assert list(opened.statistics) == ["work", "accepted", "simulations", "failures"]
    for name, sums in run.statistics.items():
        np.testing.assert_array_equal(opened.statistics[name], sums)
    assert opened.simulations == run.simulations == run.statistics["simulations"].sum() > 0
    longer = aptmc.resume(store, PROBLEM, budget=200, on=ON)
    assert longer.simulations > run.simulations


def test_a_snapshot_of_before_names_is_read_as_it_was_meant():
    accepted, work, status, simulations, failures, hold_time, processor = range(1, 8)
    before = np.array([[accepted, work, status, simulations, failures, hold_time, processor]] * 2)
    saved = Snapshot({}, {"record/totals": before, "flight/info": before, "tuning": before})
    assert statistics_in(saved.notes) == tuple(PLACES_BEFORE_NAMES)
    fixed = [status, work, accepted, hold_time, processor]
    for statistics, own in [
        ((), []),
        (("simulations", "failures"), [simulations, failures]),
        (("second", "failures"), [0, failures]),
    ]:
        now = with_own_places(saved, statistics).arrays
        for name in ("record/totals", "flight/info"):
            assert now[name].tolist() == [fixed + own] * 2
        assert now["tuning"] is before


def test_another_kernel_than_before_is_refused():
    with pytest.raises(InputError, match=r"statistics are \('far',\), those of the stored one"):
        with_own_places(Snapshot({"statistics": ["near"]}, {}), ("far",))


def test_ones_own_kernel_goes_on_if_it_is_given_again(tmp_path):
    model, store = Density(), tmp_path / "run.zarr"
    run = aptmc.sample(
        model.compiled,
        budget=2_000,
        ladder=model.ladder,
        schedule=aptmc.Anytime(every=5.0),
        kernel=Cauchy(learns=True),
        on=ON,
        store=store,
        seed=1,
    )
    with pytest.raises(InputError, match="kernel of your own"):
        aptmc.resume(store, model.compiled, budget=100, on=ON)
    again = aptmc.resume(store, model.compiled, budget=500, on=ON, kernel=run.settings.kernel)
    assert again.statistics["far"].sum() >= run.statistics["far"].sum() > 0
    assert again.settings.kernel == run.settings.kernel


@pytest.mark.parametrize(
    ("kernel", "given_again"),
    [
        pytest.param(aptmc.RandomWalk("auto"), None, marks=pytest.mark.validation),
        (aptmc.Mixture(aptmc.RandomWalk("auto"), aptmc.Slice("auto"), 0.3), None),
        (Cauchy(learns=True), Cauchy(learns=True)),
    ],
    ids=["walk", "mixture", "own"],
)
def test_a_warmup_that_was_stopped_goes_on(tmp_path, kernel, given_again):
    """Nothing is lost of what kernels of the library have learnt; one's own begins again."""
    model = Density()
    function, calls = model.plain.log_likelihood, iter(range(10**9))

    def stops(theta):
        if next(calls) == 1_000:
            raise KeyboardInterrupt
        return function(theta)

    settings = {"ladder": model.ladder, "schedule": aptmc.Anytime(every=5.0)}
    whole = aptmc.sample(model.plain, budget=8_000, kernel=kernel, on=ON, seed=1, **settings)
    problem = aptmc.Tempered(stops, model.plain.prior)
    store = tmp_path / "run.zarr"
    stopped = aptmc.sample(
        problem, budget=8_000, kernel=kernel, on=ON, store=store, seed=1, **settings
    )
    assert stopped.stopped is aptmc.StopReason.INTERRUPTED
    assert 0 < len(stopped.warmup_rounds) < 10
    again = aptmc.resume(
        store, model.plain, budget=8_000, on=ON, kernel=given_again, force=True, progress=False
    )
    assert len(again.warmup_rounds) == 10
    if given_again is None:
        tables = [run.settings.kernel.tuning(problem, model.ladder) for run in (whole, again)]
        np.testing.assert_array_equal(*tables)
