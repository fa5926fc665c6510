"""The paper's third experiment (section 5.3): predators and prey, simulated event by event.

X(t) counts prey and predators. A prey is born with rate theta1 x1; a predator eats one and
multiplies with rate theta2 x1 x2; a predator dies with rate theta3 x2. Only the prey are observed,
at ten times. The model is exact: no path is cut short because it takes long, and no path counts as
a miss unless it is one.

How long a simulation takes depends on theta and on chance. A path is left as soon as nothing random
that matters is left in it: without prey, all later observations are 0; without predators, the prey
is a pure birth process, whose value at any later time is one negative binomial draw.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from aptmc.compiled import Floats, FloatTable
from aptmc.problem import Prior


def _constant(values: Any) -> Any:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


TRUTH: Floats = _constant([1.0, 0.005, 0.6])
TIMES: Floats = _constant(range(1, 11))
# Simulated with the true parameters by Lee and Latuszynski (2014).
OBSERVED: Floats = _constant([88, 165, 274, 268, 114, 46, 32, 36, 53, 92])
START_PREY = 50.0
START_PREDATORS = 100.0

# Above this mean a Poisson count is drawn from its normal limit, which differs from it by less than
# one part in a million; numpy's own Poisson is not better there, because its log factorials round.
_MANY = 1e12
# Above this mean a float shows nothing of the noise.
_NOISELESS = 1e40
# exp overflows soon after.
_LARGEST_EXPONENT = 700.0


@njit(nogil=True)
def grow(prey: float, exponent: float, rng: Any) -> float:
    """The number of prey after a time t without predators, where exponent is theta1 t.

    A pure birth process adds a negative binomial number, drawn as a Poisson number whose mean is
    gamma distributed. Infinity stands for more than a float can hold.
    """
    if prey == math.inf or exponent > _LARGEST_EXPONENT:
        return math.inf
    mean = rng.standard_gamma(prey) * math.expm1(exponent)
    if mean < _MANY:
        return float(prey + rng.poisson(mean))
    if mean < _NOISELESS:
        return float(prey + np.floor(mean + math.sqrt(mean) * rng.standard_normal()))
    return float(prey + mean)


# The hot loop. Which event comes next is what no processor can predict, so flags are added instead
# of branching. Random numbers are drawn before they are needed, because a call in the middle would
# push everything computed so far out of the registers; counts are integers, which survive a call.
# numpy's rules for division, because a check for 0 costs as much as a branch.
#
# Random numbers are half of the work, so one uniform number chooses two events. Among the numbers
# that choose an event it is uniform still: where it lies there, between 0 and `width`, chooses the
# next. Nothing is lost by this: every pair of events has its own interval of the first number.
@njit(nogil=True, error_model="numpy")
def advance(
    theta: Any, prey: float, predators: float, duration: float, rng: Any
) -> tuple[float, float, float]:
    """Prey, predators and the number of events simulated after a time, by Gillespie's method.

    Once the prey are extinct the predators are not followed any more: nobody observes them. A jump
    of the prey after the predators' extinction counts as one event.
    """
    birth, predation, death = theta[0], theta[1], theta[2]
    if not birth + predation + death > 0.0:
        return prey, predators, 0.0
    left = duration
    events = 0
    if prey > 0.0 and predators > 0.0:
        x, y = int(prey), int(predators)
        mark = width = 0.0
        while x > 0 and y > 0:
            if events % 2 == 0:
                mark, width = rng.random(), 1.0
            wait = rng.standard_exponential()
            births = birth * x
            deaths = death * y
            meals = predation * x * y
            total = (births + deaths) + meals
            left -= wait / total
            if left < 0.0:
                # The pending event is forgotten: waiting times have no memory.
                return float(x), float(y), float(events)
            events += 1
            not_deaths = births + meals
            mark *= total
            is_birth = mark < births * width
            is_not_death = mark < not_deaths * width
            x += 2 * int(is_birth) - int(is_not_death)
            y += 2 * int(is_not_death) - int(is_birth) - 1
            below = births if is_not_death else not_deaths
            chosen = meals if is_not_death else deaths
            mark -= width * (0.0 if is_birth else below)
            width *= births if is_birth else chosen
        prey, predators = float(x), float(y)
    if prey > 0.0:
        return grow(prey, birth * left, rng), 0.0, events + 1.0
    return 0.0, predators, float(events)


@njit(nogil=True)
def log_ratio(prey: float, observed: float) -> float:
    """How far a count lies from the observed one, on the log scale; infinite for no prey."""
    if prey > 0.0:
        return abs(math.log(prey) - math.log(observed))
    return math.inf


@njit(nogil=True)
def simulate(theta: Any, rng: Any) -> Any:
    """The prey counts at the ten times, as floats.

    There is no bound on the work. It is large where predation is weak, birth is fast and predators
    live on: the prey can then reach 1 / theta2 and more, one event at a time.
    """
    simulated = np.zeros(OBSERVED.size)
    prey, predators, before = START_PREY, START_PREDATORS, 0.0
    for i in range(OBSERVED.size):
        prey, predators, _ = advance(theta, prey, predators, TIMES[i] - before, rng)
        if prey == 0.0:
            break
        simulated[i] = prey
        before = TIMES[i]
    return simulated


@njit(nogil=True)
def distance(simulated: Any, observed: Any) -> float:
    """The largest distance of a log count from the observed one: the paper's ball is its sublevel.

    >>> distance(OBSERVED, OBSERVED)
    0.0
    """
    largest = 0.0
    for i in range(observed.size):
        largest = max(largest, log_ratio(simulated[i], observed[i]))
    return largest


@njit(nogil=True)
def simulated_distance(theta: Any, rng: Any, tolerance: float) -> tuple[float, float]:
    """The distance of one simulation, infinite if it exceeds the tolerance, and the events it took.

    It stops at the first observation outside the tolerance, or when the prey are extinct: both are
    misses for certain. With the same random numbers it finds the distance that `simulate` has.

    >>> distance, events = simulated_distance(TRUTH, np.random.default_rng(1), 5.0)
    >>> distance < 5.0, events > 1000.0
    (True, True)
    """
    largest, total_events = 0.0, 0.0
    prey, predators, before = START_PREY, START_PREDATORS, 0.0
    for i in range(OBSERVED.size):
        prey, predators, events = advance(theta, prey, predators, TIMES[i] - before, rng)
        total_events += events
        largest = max(largest, log_ratio(prey, OBSERVED[i]))
        if largest > tolerance or largest == math.inf:
            return math.inf, total_events
        before = TIMES[i]
    return largest, total_events


def prior_exponential() -> Prior:
    """Exponential with mean 1 each: the paper's experiments on one processor."""
    from scipy import stats

    return Prior(birth=stats.expon(), predation=stats.expon(), death=stats.expon())


def prior_uniform() -> Prior:
    """Uniform from 0 to 3 each: the paper's experiments on several processors."""
    from scipy import stats

    return Prior(
        birth=stats.uniform(0.0, 3.0),
        predation=stats.uniform(0.0, 3.0),
        death=stats.uniform(0.0, 3.0),
    )


class Settings(NamedTuple):
    """One of the paper's ladders, coldest rung first, with its normal proposals.

    Proposals are truncated to (0, upper).
    """

    tolerances: Floats
    variances: FloatTable
    upper: float

    @property
    def standard_deviations(self) -> FloatTable:
        """The scales of the proposals; the paper gives their squares."""
        return np.sqrt(self.variances)


def _settings(tolerances: list[float], sigmas: list[float], upper: float) -> Settings:
    # The paper's Sigma is diag(sigma, sigma / 100, sigma), and a covariance.
    variances = np.outer(sigmas, [1.0, 1e-2, 1.0])
    return Settings(_constant(tolerances), _constant(variances), upper)


STANDARD_ABC = _settings([1.0], [0.25], upper=10.0)
ONE_PROCESSOR = _settings(
    [1.0, 1.1447, 1.3104, 1.5, 11.0, 15.0],
    [0.008, 0.025, 0.05, 0.09, 0.25, 0.5],
    upper=10.0,
)
SEVERAL_PROCESSORS = _settings(
    [
        *(1.0, 1.046, 1.094, 1.145, 1.197),
        *(1.253, 1.31, 1.371, 1.434, 1.5),
        *(1.661, 1.84, 2.038, 2.257, 2.5),
        *(3.362, 4.522, 6.082, 8.179, 11.0),
    ],
    [
        *(0.008, 0.009, 0.011, 0.012, 0.014),
        *(0.016, 0.019, 0.022, 0.025, 0.029),
        *(0.034, 0.039, 0.045, 0.052, 0.06),
        *(0.092, 0.14, 0.214, 0.327, 0.5),
    ],
    upper=3.0,
)
