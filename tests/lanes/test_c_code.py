"""The C code that goes to a GPU computes what processors do, bit for bit, with 64 bits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.lanes.fleet import Deadline, Voyage
from aptmc.backends.lanes.model import lane_model
from aptmc.backends.lanes.processor_fleet import ProcessorFleet
from aptmc.backends.lanes.tables import Whole, empty_lanes
from aptmc.kernels.hamiltonian import Metric
from aptmc.kernels.students import Mixed, Students
from aptmc.models import gamma_mixture, stepwise_lotka_volterra
from benchmarks import lanes_problems
from tests.lanes.problems import MIXTURE, TWO_MODES, mixture, two_modes
from tests.support.c_lanes import FleetInC

GROUPS = 6
PLAN = [Deadline(ticks, number, True) for number, ticks in enumerate([1, 57, 1000, 3, 4000] * 4, 1)]


@njit
def log_likelihood(theta):
    total = 0.0
    for i in range(DATA.size):
        total -= 0.5 * (DATA[i] - theta[0]) ** 2 / theta[1] ** 2 + math.log(theta[1])
    return total


DATA = np.array([1.3, 0.2, 2.4, -0.3])


def voyage(problem, ladder, kernel, **options):
    levels = np.array(ladder.levels)
    model = lane_model(problem, kernel, levels)
    tuning = kernel.tuning(problem, ladder)
    of_group = options.setdefault("of_group", (1,) * ladder.rungs)
    levels, tuning = np.repeat(levels, of_group), np.repeat(tuning, of_group, axis=0)
    settings = {"takes_all": False, "kept_lanes": GROUPS * levels.size} | options
    return Voyage(model, levels, tuning, GROUPS, seed=3, **settings)


def beginning(voyage, row):
    """Lanes with all chains in one place."""
    lanes, dimension = empty_lanes(voyage.places, voyage.lanes), voyage.model.dimension
    for side in range(2):
        for i in range(dimension):
            lanes.reals[side * dimension + i] = row[i]
        lanes.reals[voyage.places.value + side] = row[dimension]
        lanes.reals[voyage.places.log_prior + side] = row[dimension + 1]
    lanes.wholes[Whole.STARTED] = 1
    return lanes


def row_of(problem, theta, value):
    prior = problem.reference
    return [*theta, value, 0.0 if prior is None else prior.log_density(theta)]


def predators():
    problem = stepwise_lotka_volterra.problem()
    ladder = aptmc.Ladder.tolerances([1.5, 2.0, 4.0, 7.0])
    kernel = aptmc.OneHit(np.sqrt(np.outer([0.03, 0.05, 0.1, 0.3], [1.0, 1e-2, 1.0])))
    return voyage(problem, ladder, kernel), row_of(problem, [0.9, 0.01, 1.0], 0.9)


def modes(**options):
    problem = two_modes()
    return voyage(problem, **TWO_MODES, **options), row_of(problem, [2.0], 0.1)


def gammas():
    problem = mixture()
    return voyage(problem, **MIXTURE), row_of(problem, [2.0], 0.1)


def powers():
    prior = aptmc.Prior(mean=stats.norm(0, 3), sd=stats.gamma(2))
    problem = aptmc.Tempered(log_likelihood, prior)
    kernel = aptmc.RandomWalk([0.5, 0.7, 1.0], spread=1.0)
    theta = np.array([1.0, 1.0])
    row = row_of(problem, theta, log_likelihood(theta))
    return voyage(problem, aptmc.Ladder.powers([1.0, 0.5, 0.0]), kernel), row


def density(**options):
    problem = aptmc.Power(gamma_mixture.log_density, 2.0)
    row = row_of(problem, [2.0], gamma_mixture.log_density(np.array([2.0])))
    return voyage(problem, aptmc.Ladder.powers(4), aptmc.RandomWalk(1.0), **options), row


@njit
def log_ridge(theta):
    return -0.5 * ((theta[0] - 1.0) ** 2 / 0.5 + 2.0 * (theta[1] - theta[0]) ** 2)


@njit
def slopes_of_ridge(theta):
    slope = 2.0 * (theta[1] - theta[0])
    return np.array([slope - 2.0 * (theta[0] - 1.0), -slope])


def ridge(kernel):
    prior = aptmc.Prior(x=stats.norm(0, 2), y=stats.gamma(2))
    problem = aptmc.Tempered(log_ridge, prior, gradient=slopes_of_ridge)
    row = row_of(problem, [1.0, 1.0], log_ridge(np.array([1.0, 1.0])))
    return voyage(problem, aptmc.Ladder.powers([1.0, 0.3, 0.0]), kernel), row


def leaps():
    return Metric(np.tile(0.5 * np.eye(2), (3, 1, 1)), np.array([0.4, 0.6, 0.8]))


def components():
    weights, means = np.array([0.5, 0.3, 0.2]), np.array([[1.0, 1.0], [2.0, 1.0], [0.0, 3.0]])
    one = Mixed(weights, means, np.tile(np.eye(2), (3, 1, 1)), 4.0)
    return Students.of([one] * 3)


def of_jax(kernel):
    def log_likelihood_in_jax(theta):
        return -0.5 * jnp.sum((jnp.asarray(DATA) - theta[0]) ** 2) / jnp.exp(theta[1])

    jnp = pytest.importorskip("jax").numpy
    prior = aptmc.Prior(x=stats.norm(0, 2), y=stats.norm())
    problem = aptmc.Tempered(log_likelihood_in_jax, prior)
    row = row_of(problem, [1.0, 1.0], problem.log_likelihood(np.array([1.0, 1.0])))
    return voyage(problem, aptmc.Ladder.powers([1.0, 0.3, 0.0]), kernel), row


def tree_of_jax():
    pytest.importorskip("jax")
    from tests.lanes.jax_simulators import PRIOR, tree

    problem = aptmc.Abc.early(tree, PRIOR)
    ladder = aptmc.Ladder.tolerances([0.5, 1.0, 2.0])
    return voyage(problem, ladder, aptmc.OneHit([0.2, 0.3, 0.5])), row_of(problem, [1.0, 0.4], 0.1)


def walk_of_jax():
    pytest.importorskip("jax")
    from tests.lanes.jax_simulators import PRIOR, distance_in_jax, row_by_row

    problem = aptmc.Abc(row_by_row, PRIOR, [2.0, 4.0], distance_in_jax)
    ladder = aptmc.Ladder.tolerances([0.5, 1.0, 2.0])
    return voyage(problem, ladder, aptmc.OneHit([0.2, 0.3, 0.5])), row_of(problem, [1.0, 0.4], 0.1)


def whole_modes():
    stepwise = two_modes()
    problem = aptmc.Abc.early(stepwise.simulator.simulate, stepwise.prior, counts_work=True)
    return voyage(problem, **TWO_MODES), row_of(problem, [2.0], 0.1)


@njit
def simulate_data(theta, rng):
    data = np.empty(4)
    for i in range(4):
        data[i] = rng.normal(theta[0], 1.0) + rng.exponential(0.5)
    return data


@njit
def distance_of_data(simulated, observed):
    total = 0.0
    for i in range(4):
        total += abs(simulated[i] - observed[i])
    return 0.1 * total


def whole_data():
    prior = aptmc.Prior(x=stats.norm(0, 2))
    problem = aptmc.Abc(simulate_data, prior, [0.5, 1.0, 2.0, 0.0], distance_of_data)
    return voyage(problem, **TWO_MODES), row_of(problem, [2.0], 0.1)


def epidemic():
    problem, theta = lanes_problems.epidemic(), [0.4, 1.5]
    return voyage(problem, **lanes_problems.EPIDEMIC), row_of(problem, theta, 0.1)


def tree():
    problem, theta = lanes_problems.tree(), [1.0, 0.4]
    return voyage(problem, **lanes_problems.TREE), row_of(problem, theta, 0.1)


PROBLEMS = {
    "an epidemic among individuals": epidemic,
    "a tree of births and deaths": tree,
    "predators and prey": predators,
    "two modes": modes,
    "two modes, uncorrected": lambda: modes(takes_all=True),
    "two modes, several lanes on a rung": lambda: modes(of_group=(5, 2, 1)),
    "gamma mixture with a joint prior": gammas,
    "tempered": powers,
    "power of a density": density,
    "power of a density, several lanes on a rung": lambda: density(of_group=(3, 1, 2, 2)),
    "power of a density, uncorrected": lambda: density(of_group=(3, 1, 2, 2), takes_all=True),
    "slices": lambda: ridge(aptmc.Slice([1.0, 2.0, 3.0], stretches=3)),
    "elliptical slices and jumps": lambda: ridge(aptmc.EllipticalSlice(components())),
    "trajectories": lambda: ridge(aptmc.Hmc(leaps(), leaps=5)),
    "trajectories that turn back": lambda: ridge(aptmc.Nuts(leaps(), doublings=4)),
    "leaps whose size is searched for": lambda: ridge(aptmc.Mala(leaps(), search=True)),
    "a density of JAX": lambda: of_jax(aptmc.Nuts(leaps(), doublings=4)),
    "a simulator of JAX": tree_of_jax,
    "a simulator of JAX that gives data": walk_of_jax,
    "two modes, simulated whole": whole_modes,
    "data, simulated whole and compared": whole_data,
}


# To compile one takes seconds. Two more models that are simulated in steps, and another schedule of
# the two modes, take the ways that the others take; kernels are compared with plain Python in
# `test_kernels`.
LEFT_OUT = {
    "tempered",
    "predators and prey",
    "two modes, uncorrected",
    "slices",
    "elliptical slices and jumps",
    "trajectories",
    "trajectories that turn back",
    "leaps whose size is searched for",
    "a density of JAX",
    "a simulator of JAX",
    "a simulator of JAX that gives data",
    "two modes, simulated whole",
    "data, simulated whole and compared",
    "an epidemic among individuals",
    "a tree of births and deaths",
    "two modes",
    "gamma mixture with a joint prior",
    "power of a density",
    "power of a density, uncorrected",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.validation] if name in LEFT_OUT else [])
        for name in PROBLEMS
    ],
)
def test_c_code_gives_the_same_numbers(name, tmp_path):
    made, row = PROBLEMS[name]()
    fleets = ProcessorFleet(made, 1), FleetInC(made, tmp_path)
    draws = []
    for fleet in fleets:
        fleet.load(beginning(made, row))
        draws.append(fleet.run(PLAN))
    assert np.array_equal(*draws)
    assert len(np.unique(draws[0][:, :, 0])) > 50
    for one, other in zip(*(fleet.read() for fleet in fleets), strict=True):
        assert np.array_equal(one, other)
    # The control: another seed gives other numbers.
    fleets[1].voyage = voyage_with_seed(made, 4)
    fleets[1].load(beginning(made, row))
    assert not np.array_equal(draws[0], fleets[1].run(PLAN))


def voyage_with_seed(made, seed):
    return Voyage(**{**vars(made), "seed": seed})


def test_numbers_of_32_bits_have_the_same_law(tmp_path):
    made, row = modes()
    plan = [Deadline(50, number, number % 5 == 0) for number in range(1, 2001)]
    shares = []
    for fleet in (ProcessorFleet(made, 1), FleetInC(made, tmp_path, bits=32)):
        fleet.load(beginning(made, row))
        draws = fleet.run(plan)[40:, :GROUPS, 0]
        shares.append((draws > 0.0).mean(axis=0))
    error = math.hypot(*(share.std(ddof=1) for share in shares)) / math.sqrt(GROUPS)
    assert abs(shares[0].mean() - shares[1].mean()) < 5.0 * error
    assert error < 0.1
