"""Jumps between models leave the target alone; without their Jacobian they would not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.diagnostics import summarise
from aptmc.diagnostics.error_of_mean import Timeline
from aptmc.errors import InputError, RunFailed
from aptmc.kernels import reversible_jump
from aptmc.result.model_probabilities import shares
from aptmc.result.report import report
from aptmc.targets import INTERPRETED
from experiments import change_points, components
from tests.kernels.contract import KernelContract, moved
from tests.kernels.models import Model
from tests.support.statistical import FALSE_ALARM, follows

SIZES = (1, 2, 3)


@njit
def log_likelihood(theta):
    """Larger models are less likely by a factor of two; means of one are likely."""
    total = -0.5 * theta[0]
    for i in range(int(theta[0]) + 1):
        away = theta[1 + i] - 1.0
        total -= 0.5 * away * away
    return total


@njit
def log_prior(theta):
    total = 0.0
    for i in range(int(theta[0]) + 1):
        total -= 0.5 * theta[1 + i] * theta[1 + i]
    return total - 0.5 * (theta[0] + 1.0) * math.log(2.0 * math.pi) - math.log(3.0)


@njit
def draw(rng):
    theta = np.full(4, math.nan)
    theta[0] = int(3 * rng.random())
    for i in range(int(theta[0]) + 1):
        theta[1 + i] = rng.standard_normal()
    return theta


@njit
def birth(theta, draws, there):
    """The last one becomes two, which is no draw from anything."""
    last = theta.size - 1
    for i in range(last):
        there[i] = theta[i]
    half = math.log(draws[0]) - math.log1p(-draws[0])
    there[last] = theta[last] - half
    there[last + 1] = theta[last] + half
    return math.log(2.0) - math.log(draws[0]) - math.log1p(-draws[0])


@njit
def death(theta, draws, there):
    last = there.size - 1
    for i in range(last):
        there[i] = theta[i]
    there[last] = 0.5 * (theta[last] + theta[last + 1])
    draws[0] = 1.0 / (1.0 + math.exp(-0.5 * (theta[last + 1] - theta[last])))
    return math.log(draws[0]) + math.log1p(-draws[0]) - math.log(2.0)


class Nested(Model):
    """One, two or three independent normal numbers, at every power."""

    ladder = aptmc.Ladder.powers([1.0, 0.3, 0.0])

    def __init__(self) -> None:
        shapes = {"model": (), "x": 3}
        self.compiled = aptmc.Tempered(
            log_likelihood, aptmc.nested_prior(log_prior, draw, **shapes)
        )
        self.plain = aptmc.Tempered(
            log_likelihood.py_func, aptmc.nested_prior(log_prior.py_func, draw.py_func, **shapes)
        )

    def weights(self, rung):
        beta = self.ladder.levels[rung]
        each = math.exp(-0.5 * beta / (1.0 + beta)) / math.sqrt(1.0 + beta)
        weights = np.array(
            [math.exp(-0.5 * beta * model) * each ** (model + 1) for model in range(3)]
        )
        return weights / weights.sum()

    def of_each(self, rung):
        beta = self.ladder.levels[rung]
        return stats.norm(beta / (1.0 + beta), (1.0 + beta) ** -0.5)

    def exact(self, rung, number, rng):
        states = np.full((number, 6), math.nan)
        states[:, 0] = rng.choice(3, size=number, p=self.weights(rung))
        evaluate, of_each = self.plain.evaluation(INTERPRETED), self.of_each(rung)
        for state in states:
            size = int(state[0]) + 1
            state[1 : 1 + size] = of_each.rvs(size, random_state=rng)
            evaluate(state)
        return states

    def in_law(self, states, rung, rng):
        counts = np.bincount(states[:, 0].astype(int), minlength=3)
        right = stats.chisquare(counts, self.weights(rung) * len(states)).pvalue > FALSE_ALARM
        values = states[:, 1:4]
        is_used = np.arange(3) <= states[:, :1]
        assert np.array_equal(np.isnan(values), ~is_used)
        return bool(right and follows(values[is_used], self.of_each(rung).cdf))


MODEL = Nested()


@njit
def birth_without_jacobian(theta, draws, there):
    birth(theta, draws, there)
    return 0.0


@njit
def death_without_jacobian(theta, draws, there):
    death(theta, draws, there)
    return 0.0


class TestReversibleJump(KernelContract):
    model = MODEL
    kernel = aptmc.ReversibleJump(SIZES, birth, death, block=1, widths=np.full(3, 1.5), steps=3)
    learning = aptmc.ReversibleJump(SIZES, birth, death, block=1)
    is_stored = False

    def plant(self, monkeypatch):
        """The Jacobian is forgotten, and so is the check."""
        monkeypatch.setattr(reversible_jump, "check_maps", lambda *arguments: None)
        wrong = birth_without_jacobian, death_without_jacobian
        return aptmc.ReversibleJump(SIZES, *wrong, block=1, widths=np.full(3, 1.5), steps=3)


def test_another_planted_error_is_caught(monkeypatch):
    """A birth half as often as a death, and nothing done about it."""

    def seldom(theta, draws, there):
        return birth.py_func(theta, draws, there) + math.log(0.5)

    monkeypatch.setattr(reversible_jump, "check_maps", lambda *arguments: None)
    kernel = aptmc.ReversibleJump(SIZES, seldom, death.py_func, widths=np.full(3, 1.5), steps=3)
    after, _ = moved(kernel, MODEL, 0, compiled=False)
    assert not MODEL.in_law(after, 0, np.random.default_rng(2))


# --- maps that are wrong are refused --------------------------------------------------------------


def no_inverse(theta, draws, there):
    death.py_func(theta, draws, there)
    there[-1] += 0.1
    return 0.0


def wrong_sign(theta, draws, there):
    return -death.py_func(theta, draws, there)


@pytest.mark.parametrize(
    ("maps", "words"),
    [
        ((birth_without_jacobian.py_func, death), "which by differences is"),
        ((birth, no_inverse), "death must undo birth"),
        ((birth, wrong_sign), "must be minus that of the birth"),
    ],
    ids=["jacobian", "inverse", "sign"],
)
def test_wrong_maps_are_refused(maps, words):
    kernel = aptmc.ReversibleJump(SIZES, *maps, widths=np.full(3, 1.0))
    with pytest.raises(InputError, match=words):
        kernel.move(MODEL.plain, INTERPRETED)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sizes": (1,)}, "sizes must be whole numbers that grow"),
        ({"sizes": (2, 1)}, "sizes must be whole numbers that grow"),
        ({"birth": lambda theta: 0.0}, r"birth is called as birth\(theta, draws, there\)"),
        ({"jumps": 1.0}, "jumps must be"),
        ({"sizes": (1, 2, 4), "block": 2}, "whole blocks of 2"),
    ],
)
def test_bad_arguments_are_refused(arguments, words):
    usual = {"sizes": SIZES, "birth": birth, "death": death}
    with pytest.raises(InputError, match=words):
        aptmc.ReversibleJump(**(usual | arguments))


def test_a_problem_that_does_not_fit_is_refused():
    kernel = aptmc.ReversibleJump((1, 2), birth, death, widths=np.ones(2))
    with pytest.raises(InputError, match="states need 3 places"):
        kernel.tuning(MODEL.compiled, MODEL.ladder)
    plain = aptmc.ReversibleJump(SIZES, birth.py_func, death, widths=np.ones(3))
    with pytest.raises(InputError, match="must be too"):
        plain.tuning(MODEL.compiled, MODEL.ladder)


def test_a_prior_that_pads_the_model_itself_is_refused():
    prior = aptmc.nested_prior(lambda theta: 0.0, lambda rng: [math.nan, 1.0], model=(), x=())
    with pytest.raises(InputError, match="NaN in places not used"):
        prior.draw(np.random.default_rng(1))


# --- known answers --------------------------------------------------------------------------------


def sampled(example, budget, seed, **options):
    return aptmc.sample(
        example.problem(),
        budget=budget,
        kernel=example.kernel(),
        seed=seed,
        progress=False,
        **{"on": aptmc.VirtualTime(3), **options},
    )


def test_probabilities_of_models_are_those_of_the_target():
    run = TestReversibleJump().sampled(TestReversibleJump.kernel)
    found, exact = run.model_probabilities(), MODEL.weights(0)
    assert sum(one.mean for one in found.values()) == pytest.approx(1.0)
    for model, right in enumerate(exact):
        assert abs(found[model].mean - right) < 4.0 * found[model].mcse
        assert found[model].mcse < 0.05
    # The control: those of the prior, which are alike.
    assert abs(found[0].mean - 1.0 / 3.0) > 4.0 * found[0].mcse
    (said,) = [note for note in run.summary().notes if note.startswith("posterior prob")]
    assert f"2: {found[2].mean:.3f} ± " in said


@pytest.mark.validation(shortest=0.1)
@pytest.mark.parametrize(
    ("example", "budget"),
    [
        pytest.param(change_points, 60_000, id="coal"),
        pytest.param(components, 30_000, id="mixture"),
    ],
)
def test_probabilities_of_models_are_those_of_enumeration(example, budget):
    exact = example.exact()
    run = sampled(example, budget, seed=1)
    found = run.model_probabilities()
    assert sum(one.mean for one in found.values()) == pytest.approx(1.0)
    for model, right in enumerate(exact):
        if right > 0.01:
            assert abs(found[model].mean - right) < 4.0 * found[model].mcse
            assert found[model].mcse < 0.05
    (said,) = [note for note in run.summary().notes if note.startswith("posterior prob")]
    assert f"3: {found[3].mean:.3f} ± " in said


@njit
def slow_if_large(theta, rung, rng):
    return rng.exponential(20.0 if theta[0] >= 3.0 else 1.0)


@pytest.mark.validation
def test_models_that_take_twenty_times_as_long_get_no_more_weight():
    """Anytime and synchronous agree, where a move of the larger models takes so much longer."""
    exact = components.exact()
    runs = [
        sampled(components, 150_000, 3, schedule=schedule, on=aptmc.VirtualTime(3, slow_if_large))
        for schedule in (aptmc.Anytime(), aptmc.Synchronous())
    ]
    for run in runs:
        found = run.model_probabilities()[3]
        assert abs(found.mean - exact[3]) < 4.0 * found.mcse
        assert found.mcse < 0.04


def test_the_evidence_is_that_of_all_models_together():
    run = aptmc.sample(
        MODEL.compiled,
        budget=20_000,
        kernel=TestReversibleJump.learning,
        keep="all",
        on=aptmc.VirtualTime(2),
        seed=1,
        progress=False,
    )
    each = math.exp(-0.25) / math.sqrt(2.0)
    right = math.log(sum(math.exp(-0.5 * model) * each ** (model + 1) for model in range(3)) / 3.0)
    found = run.log_evidence()
    assert abs(found.value - right) < 4.0 * found.standard_error
    assert found.standard_error < 0.05


def test_a_store_is_read_without_the_functions(tmp_path):
    run = TestReversibleJump().sampled(TestReversibleJump.learning, store=tmp_path / "run.zarr")
    again = aptmc.open(tmp_path / "run.zarr")
    np.testing.assert_array_equal(again.series("x[2]")[0], run.series("x[2]")[0])
    assert again.model_probabilities() == run.model_probabilities()
    assert again.summary().notes == run.summary().notes
    with pytest.raises(InputError, match="needs two functions"):
        aptmc.ReversibleJump(SIZES, widths=np.ones(3)).tuning(MODEL.compiled, MODEL.ladder)


def test_a_store_of_a_mixture_with_parts_of_ones_own_is_read(tmp_path):
    mixed = aptmc.Mixture(TestReversibleJump.kernel, aptmc.OwnMove(gibbs))
    run = TestReversibleJump().sampled(mixed, store=tmp_path / "run.zarr")
    assert aptmc.open(tmp_path / "run.zarr").model_probabilities() == run.model_probabilities()


def test_errors_of_probabilities_are_those_of_means():
    """Chains that hand models to each other are worth fewer draws than their own say."""
    rng = np.random.default_rng(1)
    fresh = (rng.random(4000) < 0.3).astype(float)
    chains = [np.repeat(fresh, 2)[: -(lag + 1)] for lag in range(3)]  # each has what others have
    times = [np.arange(one.size) + 0.1 * lag for lag, one in enumerate(chains)]
    found = shares(chains, 2, Timeline([one.size for one in chains], times))
    table = summarise({"model": chains}, 1.0, times=times)
    assert found[1].mcse == pytest.approx(table["model"].mcse, rel=1e-6)
    assert found[0].mcse == pytest.approx(found[1].mcse)
    assert found[1].mean == pytest.approx(table["model"].mean)
    # The 5 % and 95 % quantiles are 0 and 1, and no draw lies beyond 1.
    assert table["model"].ess_tail > 1000
    alone = math.sqrt(0.21 / sum(one.size for one in chains))
    assert found[1].mcse > 1.5 * alone


def test_a_report_of_models_says_how_probable_they_are():
    run = TestReversibleJump().sampled(TestReversibleJump.kernel)
    assert f"<p>P{run.summary().notes[0][1:]}" in report(run)
    # Draws that have all parameters are of one model, which has no pair to show.
    labels = [axis.get_xlabel() for axis in aptmc.plots.pairs(run).axes if axis.get_xlabel()]
    assert run.settings.problem.labels[0] not in labels
    assert len(labels) > 1


def test_of_other_kernels_there_are_no_models():
    run = TestReversibleJump().sampled(aptmc.OwnMove(gibbs))
    with pytest.raises(InputError, match="there are models only where"):
        run.model_probabilities()
    mixed = aptmc.Mixture(TestReversibleJump.kernel, aptmc.OwnMove(gibbs))
    assert set(TestReversibleJump().sampled(mixed).model_probabilities()) == {0, 1, 2}


# --- moves of one's own ---------------------------------------------------------------------------


def gibbs(level, theta, rng):
    """All means anew, and the model too: the target of a rung is known."""
    there = np.full(4, math.nan)
    each = math.exp(-0.5 * level / (1.0 + level)) / math.sqrt(1.0 + level)
    weights = np.array([math.exp(-0.5 * level * model) * each ** (model + 1) for model in range(3)])
    there[0] = rng.choice(3, p=weights / weights.sum())
    size = int(there[0]) + 1
    there[1 : 1 + size] = level / (1.0 + level) + rng.standard_normal(size) / math.sqrt(1.0 + level)
    return there


def test_a_move_of_ones_own_is_one_function():
    after, _ = moved(aptmc.OwnMove(gibbs), MODEL, 0, compiled=False)
    assert MODEL.in_law(after, 0, np.random.default_rng(2))
    after, _ = moved(aptmc.OwnMove(lambda *given: gibbs(0.3, *given[1:])), MODEL, 0, compiled=False)
    assert not MODEL.in_law(after, 0, np.random.default_rng(2))


def test_a_run_with_a_move_of_ones_own():
    run = aptmc.sample(
        MODEL.compiled,
        budget=2_000,
        ladder=MODEL.ladder,
        kernel=aptmc.OwnMove(gibbs),
        on=aptmc.VirtualTime(1),
        seed=1,
        progress=False,
    )
    series = np.concatenate(run.series("model"))
    shares = np.bincount(series.astype(int), minlength=3) / series.size
    np.testing.assert_allclose(shares, MODEL.weights(0), atol=0.1)
    assert run.summary()["x[2]"].draws == np.count_nonzero(series == 2)


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (lambda level, theta, rng: theta[:2], "must be 4 numbers"),
        (lambda level, theta, rng: np.full(4, np.nan), "the first not NaN"),
        (lambda level, theta, rng: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_move_that_fails_says_where(move, words):
    with pytest.raises(RunFailed, match=words):
        aptmc.sample(
            MODEL.plain,
            budget=100,
            ladder=MODEL.ladder,
            kernel=aptmc.OwnMove(move),
            schedule=aptmc.Anytime(every=5.0),
            on=aptmc.VirtualTime(1),
            seed=1,
            progress=False,
        )
