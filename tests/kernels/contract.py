"""What every kernel promises, as one suite that each inherits, one of a user's own too.

A kernel leaves the target of every rung as it is, compiled and plain, with the same draws; what it
learns it learns in the warm-up, and a run with it can be computed again bit for bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import ClassVar

import cloudpickle
import numpy as np
import pytest

import aptmc
from aptmc.compiled import is_compiled
from aptmc.keys import Key
from aptmc.session.orders import Mover, Order
from aptmc.targets import INTERPRETED, NUMBA
from tests.kernels.models import Model

DRAWS = 2000
ALIKE = 300  # of them, moved by plain Python too
SEED = 1
_RUNS: dict = {}  # by contract and kernel


def moved(kernel, model: Model, rung: int, *, compiled: bool, number: int = DRAWS):
    """Where independent exact draws are after one move each, and the infos of those moves."""
    problem = model.compiled if compiled else model.plain
    move = kernel.move(problem, NUMBA if compiled else INTERPRETED)
    assert is_compiled(move) == compiled
    tuning, level = kernel.tuning(problem, model.ladder)[rung], model.ladder.levels[rung]
    states = exact_draws(model, rung)[:number].copy()
    after, infos = np.empty_like(states), np.empty((number, kernel.info_length))
    for i, state in enumerate(states):
        move(level, tuning, state, Key(SEED, i, 0).generator(), after[i], infos[i])
    return after, infos


@cache
def exact_draws(model: Model, rung: int):
    """Of which several kernels make moves."""
    return model.exact(rung, DRAWS, np.random.default_rng(SEED))


@cache
def moved_once(contract: type[MoveContract], rung: int):
    """The same for the kernel of a contract, made once."""
    return moved(contract.kernel, contract.model, rung, compiled=contract.is_compiled)


class MoveContract(ABC):
    """What all promise, those too that are called from Python and learn nothing.

    Subclasses say which kernel, and plant an error in it.
    """

    model: ClassVar[Model]
    kernel: ClassVar[aptmc.Kernel]  # with a few steps, and settings for all rungs alike
    is_compiled: ClassVar[bool] = False  # whether its moves are, where most are made
    is_stored: ClassVar[bool] = True  # whether a store holds all of it: it has no functions

    @abstractmethod
    def plant(self, monkeypatch: pytest.MonkeyPatch) -> aptmc.Kernel:
        """A kernel with an error that the test of invariance must catch, in plain Python."""

    @pytest.mark.parametrize("rung", [0, 1, 2])
    def test_a_move_leaves_exact_draws_exact(self, rung):
        after, infos = moved_once(type(self), rung)
        assert self.model.in_law(after, rung, np.random.default_rng(SEED + 1))
        assert not infos[:, 0].any()

    def test_a_planted_error_is_caught(self, monkeypatch):
        wrong = self.plant(monkeypatch)
        after, _ = moved(wrong, self.model, 0, compiled=False)
        assert not self.model.in_law(after, 0, np.random.default_rng(SEED + 1))

    def test_many_moves_at_once_are_the_same_as_one_at_a_time(self):
        problem, ladder = self.model.compiled, self.model.ladder
        tuning, orders = self.kernel.tuning(problem, ladder), []
        for rung, level in enumerate(ladder.levels):
            for chain, state in enumerate(self.model.exact(rung, 20, np.random.default_rng(SEED))):
                key = Key(SEED, chain, 7 + rung)
                orders.append(Order(key, rung, level, tuning[rung], state))
        mover = Mover(problem, self.kernel, SEED)
        for alone, together in zip(
            map(mover.compute, orders), mover.compute_all(orders), strict=True
        ):
            np.testing.assert_array_equal(alone.state, together.state)
            np.testing.assert_array_equal(alone.info, together.info)

    # --- runs -------------------------------------------------------------------------------------

    @pytest.fixture
    def run(self, tmp_path_factory):
        """With the kernel as it is, and its store; made once."""
        return self.made_once("kernel", tmp_path_factory)

    def made_once(self, which, tmp_path_factory):
        if (type(self), which) not in _RUNS:
            path = tmp_path_factory.mktemp("runs") / f"{which}.zarr"
            _RUNS[type(self), which] = self.sampled(getattr(self, which), store=path), path
        return _RUNS[type(self), which]

    def sampled(self, kernel, **options):
        return aptmc.sample(
            self.model.compiled,
            budget=6_000,
            ladder=self.model.ladder,
            kernel=kernel,
            schedule=aptmc.Anytime(every=5.0),
            on=aptmc.VirtualTime(1),
            progress=False,
            seed=SEED,
            **options,
        )

    def test_a_kernel_that_is_given_stays_as_it_is(self, run):
        done, _ = run
        assert done.settings.kernel is self.kernel
        assert done.warmup_rounds == []

    def test_a_run_can_be_computed_again_bit_for_bit(self, run):
        self.check_replay(*run)

    def check_replay(self, run, path):
        known = type(run.settings.kernel).__module__.startswith("aptmc") and self.is_stored
        kernel = None if known else run.settings.kernel
        again = aptmc.replay(path, self.model.compiled, kernel=kernel)
        assert again.is_same, again.difference
        assert again.draws > 0

    def test_a_run_adds_up_its_statistics_by_rung(self, run):
        done, _ = run
        assert set(done.statistics) == {"work", "accepted", *self.kernel.statistics}
        assert all(sums.shape == (3,) for sums in done.statistics.values())
        steps = done.statistics["accepted"] / done.acceptance_rates
        assert steps == pytest.approx(np.round(steps))


class KernelContract(MoveContract):
    """What one promises whose moves are compiled, and that learns."""

    learning: ClassVar[aptmc.Kernel]  # one that learns, of the same kind
    is_compiled = True

    def test_compiled_and_plain_moves_are_the_same_bit_for_bit(self):
        for rung in range(self.model.ladder.rungs):
            fast = moved_once(type(self), rung)
            slow = moved(self.kernel, self.model, rung, compiled=False, number=ALIKE)
            np.testing.assert_array_equal(fast[0][:ALIKE], slow[0])
            np.testing.assert_array_equal(fast[1][:ALIKE], slow[1])

    def test_equal_code_is_shared_and_what_travels_has_it(self):
        problem = self.model.compiled
        move = self.kernel.move(problem, NUMBA)
        again = cloudpickle.loads(cloudpickle.dumps(self.kernel))
        assert again.code == self.kernel.code
        assert again.move(problem, NUMBA) is move

    @pytest.fixture
    def learnt(self, tmp_path_factory):
        """A run with the one that learns, and its store; made once."""
        return self.made_once("learning", tmp_path_factory)

    def test_one_that_learns_is_adapted_in_the_warmup_and_frozen_after(self, learnt):
        run, _ = learnt
        assert len(run.warmup_rounds) >= 4
        found, ladder = run.settings.kernel, run.settings.ladder
        tuning = found.tuning(self.model.compiled, ladder)
        np.testing.assert_array_equal(run._tuning, tuning)
        first = self.learning.at_first(np.ones(1), ladder.rungs)
        assert not np.array_equal(tuning, first.tuning(self.model.compiled, ladder))

    def test_a_ladder_that_changes_takes_along_what_was_learnt(self):
        spread, rungs = np.ones(1), 3
        first = self.learning.at_first(spread, rungs)
        longer = first.respaced(np.array([0, 0, 1, 2, 2]))
        ladder = (
            aptmc.Ladder.powers([1, 0.8, 0.3, 0.1, 0.05])
            if self.model.ladder.kind == "powers"
            else aptmc.Ladder.tolerances([0.5, 1, 2, 3, 4])
        )
        table = longer.tuning(self.model.compiled, ladder)
        expected = first.tuning(self.model.compiled, self.model.ladder)[[0, 0, 1, 2, 2]]
        np.testing.assert_array_equal(table, expected)

    def test_a_run_that_learns_can_be_computed_again_bit_for_bit(self, learnt):
        self.check_replay(*learnt)
