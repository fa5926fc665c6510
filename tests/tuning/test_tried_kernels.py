"""With a gradient, slices are tried beside trajectories: what draws take decides between both."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.kernels import default
from aptmc.kernels.base import STEPS
from aptmc.kernels.student_fit import fit_all
from aptmc.kernels.students import Students
from aptmc.ladder import Ladder
from aptmc.session.orders import Outcome
from aptmc.warmup.annealing import guide_for, trial
from aptmc.warmup.annealing.metric_of_slopes import mean_of_slopes
from aptmc.warmup.annealing.trial import reference_of
from aptmc.warmup.annealing.windows import Annealed, Windows, typical

DIMENSION, BUDGET = 3, 16_000
PRIOR = aptmc.Prior(x=aptmc.iid(stats.norm(0.0, 10.0), DIMENSION))


def log_likelihood(theta):
    return -0.5 * float(np.sum((theta - 1.0) ** 2))


def slope(theta):
    return 1.0 - theta


PROBLEM = aptmc.Tempered(log_likelihood, PRIOR, gradient=slope)


def sampled(**options):
    on = aptmc.VirtualTime(2)
    return aptmc.sample(PROBLEM, budget=BUDGET, seed=1, on=on, progress=False, **options)


def test_slices_go_on_where_their_draws_take_less():
    run = sampled()
    assert isinstance(run.settings.kernel, aptmc.EllipticalSlice)
    said = run.settings.chosen
    assert said.startswith("because in the warm-up a draw took ")
    of_slices, of_leaps = (
        float(part.split()[0]) for part in said.split("took ")[1].split(", and ")
    )
    assert 1.0 < of_slices < of_leaps
    assert said in next(note for note in run.summary().notes if note.startswith("kernel: "))
    theta = np.concatenate([chain.state[:, :DIMENSION] for chain in run.chains()])
    assert theta.std(axis=0) == pytest.approx(np.full(3, 1.0 / math.sqrt(1.01)), rel=0.15)


def test_planted_slices_whose_draws_take_longer_are_left(monkeypatch):
    """It is the measured time that decides, and nothing else."""
    takes = Windows._time_of_move

    def longer(self, rows):
        return 1000.0 * (yield from takes(self, rows))

    monkeypatch.setattr(trial.Trial, "_time_of_move", longer)
    run = sampled()
    assert isinstance(run.settings.kernel, aptmc.Nuts)
    assert "because the problem has a gradient, by which a draw took" in run.settings.chosen


@pytest.mark.validation
def test_where_the_reference_lacks_too_much_nothing_is_tried(monkeypatch):
    monkeypatch.setattr(trial, "MOST_LACKING", 0.0)
    run = sampled()
    assert isinstance(run.settings.kernel, aptmc.Nuts)
    assert run.settings.chosen.partition(";")[0] == default.OFFERED


@pytest.mark.parametrize("dimension", [1, 2])
def test_with_one_or_two_parameters_a_gradient_does_not_pay(dimension):
    prior = aptmc.Prior(x=aptmc.iid(stats.norm(), dimension))
    choice = default.choose(aptmc.Tempered(log_likelihood, prior, gradient=slope))
    assert isinstance(choice.kernel, aptmc.EllipticalSlice)
    assert "parameter" in choice.why


def test_there_draws_are_those_of_a_problem_without_one():
    prior = aptmc.Prior(x=stats.norm(0.0, 3.0))
    along, plain = (
        aptmc.sample(problem, budget=500, seed=1, on=aptmc.VirtualTime(1), progress=False)
        for problem in (
            aptmc.Tempered(log_likelihood, prior, gradient=slope),
            aptmc.Tempered(log_likelihood, prior),
        )
    )
    for one, other in zip(along.chains(), plain.chains(), strict=True):
        np.testing.assert_array_equal(one.state, other.state)


def test_only_trajectories_have_a_rival():
    assert default.rival_of(aptmc.Nuts()) == aptmc.EllipticalSlice()
    assert default.rival_of(aptmc.Mala()) is None


# --- by the clock ---------------------------------------------------------------------------------


class Still(Windows):
    """One window of chains that stay where they are."""

    def has_found(self, count, wanted):
        pass

    def course(self):
        self.takes = None
        rows = np.random.default_rng(1).standard_normal((8, PROBLEM.width))
        yield from self.moved(rows, 4, 0)
        self.takes = yield from self._time_of_move(rows)


def test_what_a_move_takes_is_its_usual_work_at_the_usual_pace():
    took = np.array([[1.0, 1.0], [3.0, 3.0], [900.0, 2.0], [2.0, 2.0]])
    assert typical(took) == pytest.approx(2.0)
    assert took[:, 0].mean() > 100.0  # planted: the mean


@pytest.mark.parametrize(
    ("by_clock", "begins", "step", "expected"),
    [(True, 50e-6, 2e-6, 4.5e-6), (True, 0.0, 5e-3, 5e-3), (False, 50e-6, 2e-6, 52e-6)],
    ids=["cheap steps", "dear steps", "counted work"],
)
def test_a_clock_times_steps_and_not_how_orders_are_begun(by_clock, begins, step, expected):
    """Cheap steps are timed in orders of several: 20 steps of 2 µs, and 50 µs to begin with."""
    alone = Ladder.powers([1.0])
    guide = guide_for(aptmc.Nuts().at_first(np.ones(DIMENSION), 1), PROBLEM, alone)
    windows = Still(PROBLEM, guide, 1, level=1.0, size=8, by_clock=by_clock, most=math.inf)
    outcome = np.zeros(guide.kernel([guide.found]).info_length)
    elapsed = 0.0
    while not windows.is_over:
        order = windows.next_order()
        seconds = begins + step * order.tuning[STEPS]
        is_held_up = by_clock and order.key.number % 7 == 0  # by a program beside
        seconds += is_held_up * 0.5
        elapsed += seconds
        windows.report(order, Outcome(order.state, outcome), seconds, elapsed)
    assert windows.takes == pytest.approx(expected, rel=0.01)


# --- what slices inherit --------------------------------------------------------------------------


def test_slopes_tell_the_mean_wherever_states_are():
    rng = np.random.default_rng(1)
    covariance = np.array([[2.0, 0.9], [0.9, 1.0]])
    places = rng.standard_normal((5, 2)) + 7.0
    before = np.diag([4.0, 9.0])
    forces = -np.linalg.solve(covariance, (places - 3.0).T).T @ np.linalg.cholesky(before)
    forces[0] = math.nan  # of which nothing is known
    found = mean_of_slopes(places, forces, np.arange(1.0, 6.0), before, covariance)
    assert found == pytest.approx([3.0, 3.0])


def test_a_metric_on_the_line_becomes_a_reference_between_bounds():
    prior = aptmc.Prior(x=stats.norm(), scale=stats.gamma(3.0))
    problem = aptmc.Tempered(lambda theta: 0.0, prior, gradient=lambda theta: 0.0 * theta)
    rng = np.random.default_rng(1)
    rows = np.zeros((4000, problem.width))
    on_line = rng.multivariate_normal([1.0, 2.0], 0.01 * np.array([[1.0, 0.5], [0.5, 1.0]]), 4000)
    rows[:, 0], rows[:, 1] = on_line[:, 0], np.exp(on_line[:, 1])
    guide = guide_for(aptmc.Nuts().at_first(np.ones(2), 1), problem, Ladder.powers([1.0]))
    metric = guide.found._replace(covariance=np.cov(on_line.T), mean=on_line.mean(axis=0))
    found = reference_of(Annealed(1.0, rows, metric), problem)
    assert found.means[0] == pytest.approx([1.0, math.exp(2.0)], rel=0.02)
    assert found.matrices[0] == pytest.approx(np.cov(rows[:, :2].T), rel=0.1)


@pytest.mark.parametrize("draws", [40, 20_000])
def test_a_trusted_reference_stays_while_few_draws_know_no_better(draws):
    dimension = 20
    truth = Students.one(np.zeros(dimension), np.eye(dimension), 25.0)
    seen = [np.random.default_rng(1).standard_normal((draws, dimension))]
    kept = fit_all(seen, truth, 1, is_trusted=True).means[0, 0]
    assert (kept == 0.0).all() == (draws == 40)
    assert (fit_all(seen, truth, 1).means[0, 0] != 0.0).all()  # planted: whatever was before
    wrong = Students.one(np.full(dimension, 3.0), np.eye(dimension), 25.0)
    found = fit_all(seen, wrong, 1, is_trusted=True).means[0, 0]
    assert np.abs(found).max() < 1.0
