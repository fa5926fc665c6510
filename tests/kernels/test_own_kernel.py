"""A kernel of one's own is one small class: it moves, counts and learns as those of the library."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numba import njit

import aptmc
from aptmc.errors import InputError
from aptmc.kernels.code import code_of
from aptmc.targets import INTERPRETED, NUMBA
from tests.kernels.contract import KernelContract, moved
from tests.kernels.models import Density

MODEL = Density()


@njit
def flat(theta):
    return 0.0


FLAT = aptmc.Power(flat, 0.0)


@dataclass(frozen=True)
class Cauchy(aptmc.Kernel):
    """Steps of a Cauchy distribution, as wide as the states that were seen."""

    widths: tuple[float, ...] = ()
    steps: int = 1
    learns: bool = False
    always: bool = False  # accept all: a planted error

    statistics = ("far",)

    def at_first(self, spread, rungs):
        return replace(self, widths=(float(spread[0]),) * rungs)

    def adapted(self, seen):
        widths = tuple(float(states.std()) or 1.0 for states in seen.states)
        return replace(self, widths=widths)

    def respaced(self, nearest):
        return replace(self, widths=tuple(self.widths[old] for old in nearest))

    def frozen(self):
        return replace(self, learns=False)

    def tuning(self, problem, ladder):
        widths = self.widths or (1.0,) * ladder.rungs
        return np.array([[self.steps, width] for width in widths])

    @property
    def code(self):
        return Cauchy, self.always

    def step(self, parts):
        value, log_prior, far = parts.value, parts.log_prior, parts.place("far")
        evaluate, log_weight, always = parts.evaluate, parts.log_weight, self.always
        accepts = parts.accepts

        def step(level, tuning, here, rng, there, info):
            step = tuning[1] * math.tan(math.pi * (rng.random() - 0.5))
            there[0] = here[0] + step
            info[far] += abs(step) > 10.0 * tuning[1]
            evaluate(there, info)
            weight = log_weight(level, there[value]) - log_weight(level, here[value])
            log_ratio = weight + there[log_prior] - here[log_prior]
            return always or accepts(log_ratio, rng.random())

        return step


class TestCauchy(KernelContract):
    model = MODEL
    kernel = Cauchy(steps=3)
    learning = Cauchy(learns=True)

    def plant(self, monkeypatch):
        return replace(self.kernel, always=True)


@pytest.mark.validation(shortest=0.1)  # mixtures and Cauchy steps keep theirs on their own
class TestCauchyInAMixture(KernelContract):
    model = MODEL
    kernel = aptmc.Mixture(aptmc.RandomWalk(1.0), Cauchy(), 0.4, steps=3)
    learning = aptmc.Mixture(aptmc.RandomWalk("auto"), Cauchy(learns=True), 0.4)
    is_stored = False

    def plant(self, monkeypatch):
        return replace(self.kernel, second=Cauchy(always=True))


def test_what_a_kernel_counts_is_added_up_by_rung():
    run = aptmc.sample(
        MODEL.compiled,
        budget=3_000,
        ladder=MODEL.ladder,
        kernel=Cauchy(),
        schedule=aptmc.Anytime(every=5.0),
        on=aptmc.VirtualTime(1),
        seed=1,
    )
    far = run.statistics["far"]
    # A Cauchy step is beyond ten times its width with probability 2 / pi * atan(1 / 10); on the
    # rung of the prior there are no such steps.
    expected = run.statistics["work"][:2] * 2.0 / math.pi * math.atan(0.1)
    assert (abs(far[:2] - expected) < 5.0 * np.sqrt(expected)).all()
    assert far[2] == 0.0
    assert run.simulations == run.failures == 0


# --- told apart by value --------------------------------------------------------------------------


class Shift(aptmc.Kernel):
    """No kernel to sample with; what it holds is part of its code."""

    def __init__(self, by):
        self.by = by

    def step(self, parts):
        by = self.by

        def step(level, tuning, here, rng, there, info):
            there[:] = here
            there[0] = here[0] + by
            return True

        return step


@pytest.mark.validation
@pytest.mark.parametrize(
    "pair",
    [
        (1.0, 2.0),
        pytest.param((1, 1.5), marks=pytest.mark.validation),
        pytest.param((0.25, np.float64(0.5)), marks=pytest.mark.validation),
    ],
)
def test_settings_in_a_closure_are_not_shared(pair):
    """When compiled moves were kept by type, the second kernel silently made the first one's."""
    for by in pair:
        move = Shift(by).move(FLAT, NUMBA)
        outcome, info = np.empty(3), np.empty(5)
        move(1.0, np.ones(1), np.zeros(3), np.random.default_rng(1), outcome, info)
        assert outcome[0] == by


def test_an_object_that_changes_is_another_kernel():
    kernel = Shift(1.0)
    first = kernel.code  # by which compiled moves are kept
    kernel.by = 2.0
    assert kernel.code != first
    kernel.by = 1.0
    assert kernel.code == first


def test_keys_are_equal_for_equal_values_alone():
    array = np.arange(3.0)
    equal = [(array, array.copy()), ([1, 2], [1, 2]), ({"a": array}, {"a": array.copy()})]
    equal += [(math.nan, math.nan), (Cauchy((1.0,)), Cauchy((1.0,)))]
    for one, other in equal:
        assert code_of(one) == code_of(other)
        assert hash(code_of(one)) == hash(code_of(other))
    different = [(1, 1.0), (1, True), (0.0, -0.0), ([1], (1,)), (array, array[:2])]
    different += [(array, array.astype(int)), (object(), object()), (Cauchy(), Cauchy((1.0,)))]
    for one, other in different:
        assert code_of(one) != code_of(other)


@pytest.mark.parametrize("kind", [aptmc.RandomWalk, aptmc.Slice, aptmc.OneHit])
def test_adapting_compiles_nothing_anew(kind):
    assert kind("auto").code == kind(2.0).code == kind(covariance=np.eye(2), steps=3).code


# --- compiled or plain ----------------------------------------------------------------------------


class Plain(aptmc.Kernel):
    """A walk that numba would not understand."""

    compiles = False

    def step(self, parts):
        evaluate, log_weight, accepts = parts.evaluate, parts.log_weight, parts.accepts
        widths = {"wide": 3.0, "narrow": 0.3}

        def step(level, tuning, here, rng, there, info):
            width = widths["wide" if rng.random() < 0.5 else "narrow"]
            there[0] = here[0] + width * rng.standard_normal()
            evaluate(there, info)
            log_ratio = log_weight(level, there[1]) - log_weight(level, here[1])
            return accepts(log_ratio + there[2] - here[2], rng.random())

        return step


def sampled(kernel, problem=MODEL.compiled, **options):
    options = {"schedule": aptmc.Anytime(every=5.0), "ladder": MODEL.ladder} | options
    options = {"budget": 2_000, "on": aptmc.VirtualTime(1), "seed": 1} | options
    return aptmc.sample(problem, kernel=kernel, **options)


def test_a_plain_kernel_computes_a_compiled_problem():
    after, _ = moved(Plain(), MODEL, 0, compiled=False)
    assert MODEL.in_law(after, 0, np.random.default_rng(2))
    assert 0.3 < sampled(Plain()).acceptance_rates[0] < 0.95


def test_a_step_that_cannot_be_compiled_says_what_to_do():
    class Hopeful(Plain):
        compiles = True

    with pytest.raises(InputError, match="compiles = False"):
        Hopeful().move(FLAT, NUMBA)


def test_counting_what_is_no_statistic_is_refused():
    class Counts(Shift):
        def step(self, parts):
            parts.place("divergences")

    with pytest.raises(InputError, match="'divergences', which is none of its statistics"):
        Counts(1.0).move(MODEL.plain, INTERPRETED)


# --- learning -------------------------------------------------------------------------------------


class Watches(Cauchy):
    """Overrides `adapted`, and says nothing else of learning."""

    learns = aptmc.Kernel.learns

    def __init__(self):
        object.__setattr__(self, "rounds", [])

    def at_first(self, spread, rungs):
        return self

    def adapted(self, seen):
        self.rounds.append(seen)
        return self

    def respaced(self, nearest):
        return self

    def frozen(self):
        return self

    def tuning(self, problem, ladder):
        return np.ones((ladder.rungs, 2))


def test_a_warmup_is_held_for_a_kernel_that_says_how_it_is_adapted():
    kernel = Watches()
    assert kernel.learns
    run = sampled(kernel)
    assert len(run.warmup_rounds) == len(kernel.rounds) == 10
    seen = kernel.rounds[-1]
    assert seen.levels == MODEL.ladder.levels
    assert all(states.ndim == 2 and states.shape[1] == 1 for states in seen.states)
    assert (seen.steps == seen.moves).all()
    assert seen.acceptance == pytest.approx(run.warmup_rounds[-1].acceptance_rates)
    assert set(seen.statistics) == {"far"}
    assert not seen.is_moving(2)  # where each step is a draw from the reference


def test_without_a_warmup_it_is_refused():
    with pytest.raises(InputError, match="without a warm-up"):
        sampled(Watches(), warmup=0)
    with pytest.raises(InputError, match="without a warm-up"):
        sampled(aptmc.RandomWalk("auto"), warmup=0)


def test_what_adapted_gives_must_be_a_kernel():
    class Forgets(Watches):
        def adapted(self, seen):
            return None

    with pytest.raises(InputError, match="must give a kernel"):
        sampled(Forgets())


def test_an_automatic_ladder_takes_along_what_was_learnt():
    run = sampled(Cauchy(learns=True), ladder="auto")
    assert len(run.settings.kernel.widths) == run.settings.ladder.rungs


def test_auto_is_the_problems_own_kernel():
    run = sampled("auto", MODEL.plain)
    assert isinstance(run.settings.kernel, aptmc.EllipticalSlice)
    assert not run.settings.kernel.learns
    assert repr(MODEL.compiled.default_kernel()) == "EllipticalSlice()"


def test_a_walk_that_learns_finds_the_best_acceptance():
    ladder = aptmc.Ladder.powers([1.0, 0.5, 0.0])
    run = sampled(aptmc.RandomWalk("auto"), MODEL.plain, ladder=ladder, budget=8_000)
    assert (abs(run.acceptance_rates[:2] - 0.44) < 0.15).all()
    by_hand = sampled(run.settings.kernel, MODEL.plain, ladder=run.settings.ladder)
    assert by_hand.warmup_rounds == []


def test_a_problem_of_ones_own_kernel():
    class Walked(type(MODEL.compiled)):
        def default_kernel(self):
            return aptmc.RandomWalk("auto")

    run = aptmc.sample(
        Walked(flat.py_func, MODEL.compiled.prior), budget=2_000, on=aptmc.VirtualTime(1), seed=1
    )
    assert isinstance(run.settings.kernel, aptmc.RandomWalk)
