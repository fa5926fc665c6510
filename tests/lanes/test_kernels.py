"""Kernels in lanes: the moves that they make elsewhere, a stage in each tick."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.lanes.fleet import Voyage
from aptmc.backends.lanes.model import lane_model
from aptmc.backends.lanes.processor_fleet import ProcessorFleet
from aptmc.backends.lanes.tables import Whole, empty_lanes
from aptmc.errors import InputError
from aptmc.kernels import Kernel
from aptmc.kernels.hamiltonian import Metric
from aptmc.kernels.stages import GOES_ON, Stages, run_whole
from aptmc.kernels.students import Mixed, Students
from aptmc.targets import INTERPRETED
from tests.lanes.problems import lanes
from tests.support.lane_generator import LaneGenerator

POWERS = [1.0, 0.4, 0.0]
LADDER = aptmc.Ladder.powers(POWERS)
SEED, GROUPS = 5, 4


@njit
def log_likelihood(theta):
    return -0.5 * (theta[0] ** 2 + (theta[1] - theta[0]) ** 2)


@njit
def slopes(theta):
    return np.array([theta[1] - 2.0 * theta[0], theta[0] - theta[1]])


PROBLEM = aptmc.Tempered(
    log_likelihood, aptmc.Prior(x=stats.norm(0, 2), y=stats.norm(0, 2)), gradient=slopes
)
COMPONENTS = Mixed(
    np.array([0.6, 0.4]),
    np.array([[0.0, 0.0], [1.0, 1.0]]),
    np.tile(2.0 * np.eye(2), (2, 1, 1)),
    5.0,
)
METRIC = Metric(np.tile(np.eye(2), (3, 1, 1)), np.array([0.5, 0.6, 0.9]))
KERNELS = {
    "RandomWalk": aptmc.RandomWalk([1.0, 1.5, 2.0], spread=0.5),
    "Slice": aptmc.Slice([3.0, 4.0, 5.0], stretches=3),
    "EllipticalSlice": aptmc.EllipticalSlice(Students.of([COMPONENTS] * 3)),
    "Hmc": aptmc.Hmc(METRIC, leaps=4),
    "Nuts": aptmc.Nuts(METRIC, doublings=4),
    "Mala, search": aptmc.Mala(METRIC, search=True),
}
# Simpler than others, or of leaps like these.
LIKE_OTHERS = {"RandomWalk", "Hmc", "Mala, search"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.validation] if name in LIKE_OTHERS else [])
        for name in KERNELS
    ],
)
def test_a_kernel_makes_the_moves_that_it_makes_whole_elsewhere(name):
    """In plain Python, bit for bit; here the C code makes them, where there is a compiler."""
    kernel = KERNELS[name]
    levels = np.array(POWERS)
    tuning = kernel.tuning(PROBLEM, LADDER)
    model = lane_model(PROBLEM, kernel, levels)
    voyage = Voyage(model, levels, tuning, GROUPS, SEED, takes_all=False, kept_lanes=GROUPS)
    columns, row = empty_lanes(voyage.places, voyage.lanes), first_row()
    columns.reals[:2], columns.reals[2:4] = row[:2, None], row[:2, None]
    columns.reals[4:6], columns.reals[6:8] = row[2], row[3]
    # What a move finds in its memory must not matter.
    columns.reals[voyage.places.state :] = np.nan
    columns.wholes[Whole.STARTED] = 1
    fleet = ProcessorFleet(voyage, 1, "auto")
    fleet.load(columns)
    for ticks in (1, 7, 32):
        fleet.catch_up(np.full(voyage.lanes, ticks))
    found = fleet.read()

    move = kernel.move(PROBLEM, INTERPRETED)
    totals, moved = np.zeros((3, kernel.info_length)), 0
    for lane in range(voyage.lanes):
        rung, flying = lane // GROUPS, int(found.wholes[Whole.FLYING, lane])
        for side in range(2):
            state = row
            for number in range(
                1, int(found.wholes[Whole.STARTED + side, lane]) + (side != flying)
            ):
                rng, outcome = LaneGenerator(SEED, 2 * lane + side, number), np.empty(4)
                info = np.zeros(kernel.info_length)
                if POWERS[rung] == 0.0:  # elsewhere such a move is a fresh draw
                    goes = kernel.step(parts_of(kernel))(
                        0.0, tuning[rung], state, rng, outcome, info
                    )
                    outcome = outcome if goes else state
                else:
                    move(POWERS[rung], tuning[rung], state, rng, outcome, info)
                state, moved = outcome, moved + 1
                totals[rung] += info
            here = found.reals[[2 * side, 2 * side + 1, 4 + side, 6 + side], lane]
            assert np.array_equal(here, state)
    assert moved == found.wholes[Whole.DONE].sum() > voyage.lanes
    assert len(np.unique(found.reals[0])) > voyage.lanes // 2


def first_row():
    theta = np.array([0.4, -0.2])
    return np.array([*theta, log_likelihood(theta), PROBLEM.prior.log_density(theta)])


def parts_of(kernel):
    from aptmc.kernels.parts import Parts

    return Parts(PROBLEM, INTERPRETED, kernel.places)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.validation] if name == "Mala, search" else [])
        for name in KERNELS
        if name != "RandomWalk"
    ],
)
def test_a_kernel_samples_each_rung(name):
    kernel = KERNELS[name]
    run = aptmc.sample(
        PROBLEM, budget=4000, ladder=LADDER, kernel=kernel, schedule=aptmc.Anytime(every=9),
        on=lanes(120), seed=2, progress=False, keep="all",
    )  # fmt: skip
    precision = np.array([[2.0, -1.0], [-1.0, 1.0]])
    for rung, power in enumerate(POWERS):
        covariance = np.linalg.inv(power * precision + 0.25 * np.eye(2))
        for place, parameter in enumerate("xy"):
            chains = np.array(run.series(parameter, rung))
            for values, expected in (
                (chains.mean(axis=1), 0.0),
                ((chains**2).mean(axis=1), covariance[place, place]),
            ):
                error = values.std(ddof=1) / math.sqrt(values.size)
                assert abs(values.mean() - expected) < 4.5 * error
    assert run.round_trips > 50
    for statistic in kernel.statistics:
        assert (run.statistics[statistic] >= 0.0).all()
    if "leaps" in kernel.statistics:
        accepted = run.statistics["acceptance"] / run.statistics["leaps"]
        assert (accepted > 0.5).all()
        assert (accepted <= 1.0).all()


# --- a kernel of one's own: moves from one of two modes take twenty times as long -----------------


@njit
def log_two_modes(theta):
    return -0.5 * (abs(theta[0]) - 2.0) ** 2


@dataclass(frozen=True)
class SlowOnOneSide(Kernel):
    """A random walk that takes its time on the right."""

    def step(self, parts):
        return run_whole(self.stages(parts), parts.target)

    def stages(self, parts):
        evaluate, log_weight, accepts = parts.evaluate, parts.log_weight, parts.accepts
        value, log_prior = parts.value, parts.log_prior

        def begin(level, tuning, here, rng, there, memory, info):
            memory[0] = 20.0 if here[0] > 0.0 else 1.0

        def advance(level, tuning, here, rng, there, memory, info):
            memory[0] -= 1.0
            if memory[0] > 0.0:
                return GOES_ON
            there[0] = here[0] + 2.0 * rng.standard_normal()
            evaluate(there, info)
            log_ratio = log_weight(level, there[value]) + there[log_prior]
            log_ratio -= log_weight(level, here[value]) + here[log_prior]
            return 2 if accepts(log_ratio, rng.random()) else 1

        return Stages(1, begin, advance)


@pytest.mark.parametrize("schedule", [aptmc.Anytime, aptmc.Uncorrected])
def test_two_modes_of_unequal_cost_have_equal_shares_unless_uncorrected(schedule):
    problem = TWO_MODES
    run = aptmc.sample(
        problem, budget=40_000 if schedule is aptmc.Anytime else 15_000,
        ladder=aptmc.Ladder.powers([1.0, 0.5, 0.1]), kernel=SlowOnOneSide(), seed=1,
        schedule=schedule(every=50), on=lanes(150), progress=False,
    )  # fmt: skip
    shares = np.array([(series > 0.0).mean() for series in run.series("x")])
    off = (shares.mean() - 0.5) / (shares.std(ddof=1) / math.sqrt(shares.size))
    if schedule is aptmc.Anytime:
        assert abs(off) < 4.0
    else:
        assert off > 10.0


TWO_MODES = aptmc.Tempered(log_two_modes, aptmc.Prior(x=stats.uniform(-6, 12)))


def test_a_kernel_without_stages_is_refused():
    with pytest.raises(InputError, match="lanes make moves in stages"):
        aptmc.sample(
            PROBLEM, budget=100, ladder=LADDER, kernel=aptmc.DifferentialEvolution(),
            schedule=aptmc.Anytime(every=9), on=lanes(120), progress=False,
        )  # fmt: skip
