"""Mixtures of Student distributions, one for each rung: what elliptical slices are cut from.

As numbers in a kernel's tuning a mixture is a block for each component: the log of its weight and
of all that its density does not share with a standard one, its degrees of freedom, its mean, and
the lower triangular factor of its matrix, row by row without the zeros.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from aptmc.checks import numbers
from aptmc.compiled import Floats, FloatTable, FloatTables, Generator, Integers, compiled
from aptmc.errors import InputError

# Places in a block.
LOG_HEIGHT, DEGREES, MEAN = 0, 1, 2


class Mixed(NamedTuple):
    """A mixture: of one rung."""

    weights: Floats
    means: FloatTable
    matrices: FloatTables
    degrees: float  # of freedom; infinite: normal distributions


@final
@dataclass(frozen=True, eq=False)
class Students:
    """By rung: a mixture of Student distributions. Components of weight zero are not there.

    What `EllipticalSlice` has found in a warm-up; `Students.one` makes one by hand.
    """

    weights: FloatTable
    means: FloatTables
    matrices: npt.NDArray[np.float64]  # by rung and component
    degrees: Floats

    @classmethod
    def of(cls, rungs: list[Mixed]) -> Students:
        """One mixture for each rung, with room for as many components as the largest has."""
        most = max(mixed.weights.size for mixed in rungs)
        dimension = rungs[0].means.shape[1]
        weights, means = np.zeros((len(rungs), most)), np.zeros((len(rungs), most, dimension))
        matrices = np.tile(np.eye(dimension), (len(rungs), most, 1, 1))
        for rung, mixed in enumerate(rungs):
            count = mixed.weights.size
            weights[rung, :count], means[rung, :count] = mixed.weights, mixed.means
            matrices[rung, :count] = mixed.matrices
        return cls(weights, means, matrices, np.array([mixed.degrees for mixed in rungs]))

    @classmethod
    def one(cls, mean: npt.ArrayLike, matrix: npt.ArrayLike, degrees: float = math.inf) -> Students:
        """A single distribution, for all rungs alike: normal, if the degrees are infinite.

        >>> Students.one([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]], degrees=5)
        Students(1 component)
        """
        centre, matrices = numbers(mean), numbers(matrix)
        size = 0 if centre is None or centre.ndim != 1 else centre.size
        if centre is None or matrices is None or matrices.shape != (size, size):
            raise InputError(
                "a distribution needs a mean, one number for each coordinate, and a matrix with as "
                f"many rows and columns, got {mean!r} and {matrix!r}"
            )
        positive = np.array_equal(matrices, matrices.T) and (np.linalg.eigvalsh(matrices) > 0).all()
        if not positive:
            raise InputError(f"matrix must be symmetric and positive definite, got {matrix!r}")
        if not degrees > 0.0:
            raise InputError(f"degrees of freedom must be positive, got {degrees!r}")
        return cls.of([Mixed(np.ones(1), centre[None], matrices[None], float(degrees))])

    def on_rungs(self, rungs: int) -> Students:
        """For so many rungs: the same for all, if there is only one."""
        if self.rungs == rungs:
            return self
        if self.rungs != 1:
            raise InputError(
                f"the reference must be one for all rungs, or one for each of {rungs}, got "
                f"{self.rungs}"
            )
        return self.respaced(np.zeros(rungs, np.int64))

    @property
    def rungs(self) -> int:
        """For how many rungs there is one."""
        return len(self.weights)

    @property
    def dimension(self) -> int:
        """How many coordinates they have."""
        return int(self.means.shape[2])

    def components(self, rung: int) -> int:
        """How many a rung has."""
        return int((self.weights[rung] > 0.0).sum())

    def on(self, rung: int) -> Mixed:
        """The mixture of a rung."""
        count = self.components(rung)
        weights, means, matrices = self.weights[rung], self.means[rung], self.matrices[rung]
        degrees = float(self.degrees[rung])
        return Mixed(weights[:count], means[:count], matrices[:count], degrees)

    def respaced(self, nearest: Integers) -> Students:
        """For other rungs, what the nearest of these have."""
        return Students(
            self.weights[nearest],
            self.means[nearest],
            self.matrices[nearest],
            self.degrees[nearest],
        )

    def or_with_more_components(self, other: Students) -> Students:
        """On each rung this, or the other where that has at least two and not fewer."""
        rungs = []
        for rung in range(self.rungs):
            count = other.components(rung)
            takes_other = count > 1 and count >= self.components(rung)
            rungs.append(other.on(rung) if takes_other else self.on(rung))
        return Students.of(rungs)

    def numbers(self) -> FloatTable:
        """For the tuning of a kernel, by rung: the number of components, then the block of each."""
        most, dimension = self.weights.shape[1], self.dimension
        table = np.zeros((self.rungs, 1 + most * block_length(dimension)))
        lower = np.tril_indices(dimension)
        for rung in range(self.rungs):
            mixed = self.on(rung)
            table[rung, 0] = mixed.weights.size
            for place, weight in enumerate(mixed.weights.tolist()):
                factor = np.linalg.cholesky(mixed.matrices[place])
                first = 1 + place * block_length(dimension)
                block = table[rung, first : first + block_length(dimension)]
                block[LOG_HEIGHT] = log_height(weight, factor, mixed.degrees)
                block[DEGREES] = mixed.degrees
                block[MEAN : MEAN + dimension] = mixed.means[place]
                block[MEAN + dimension :] = factor[lower]
        return table

    def __repr__(self) -> str:
        counts = [self.components(rung) for rung in range(self.rungs)]
        fewest, most = min(counts), max(counts)
        said = f"{most} component{'s' * (most > 1)}" if fewest == most else f"{fewest} to {most}"
        return f"Students({said}{f' on {self.rungs} rungs' * (self.rungs > 1)})"


def log_height(weight: float, factor: FloatTable, degrees: float) -> float:
    """The log of a component's density at its mean."""
    dimension = len(factor)
    common = math.log(weight) - float(np.log(np.diag(factor)).sum())
    if degrees == math.inf:
        return common - 0.5 * dimension * math.log(2.0 * math.pi)
    half = 0.5 * (degrees + dimension)
    return (
        common
        + math.lgamma(half)
        - math.lgamma(0.5 * degrees)
        - 0.5 * dimension * math.log(degrees * math.pi)
    )


def block_length(dimension: int) -> int:
    """How many numbers a component takes."""
    return MEAN + dimension + dimension * (dimension + 1) // 2


@compiled
def squared_distance(dimension: int, numbers: Floats, block: int, theta: Floats) -> float:
    """From the mean of the component whose block begins there, by its own measure."""
    standard = np.empty(dimension)
    place = block + MEAN + dimension
    total = 0.0
    for i in range(dimension):
        rest = theta[i] - numbers[block + MEAN + i]
        for j in range(i):
            rest -= numbers[place + j] * standard[j]
        standard[i] = rest / numbers[place + i]
        total += standard[i] * standard[i]
        place += i + 1
    return total


@compiled
def log_student(dimension: int, numbers: Floats, block: int, square: float) -> float:
    """The log density of a component, its weight included, at a squared distance."""
    degrees = numbers[block + DEGREES]
    if degrees == math.inf:
        return float(numbers[block + LOG_HEIGHT] - 0.5 * square)
    half = 0.5 * (degrees + dimension)
    return float(numbers[block + LOG_HEIGHT] - half * math.log1p(square / degrees))


@compiled
def log_mixture(
    dimension: int, numbers: Floats, first: int, theta: Floats, logs: Floats, squares: Floats
) -> float:
    """The log density of a mixture.

    :param numbers: as `Students.numbers` has them, from `first` on
    :param logs: is given the log density of each component, weight included
    :param squares: is given the squared distances from their means
    """
    count = int(numbers[first])
    length = MEAN + dimension + dimension * (dimension + 1) // 2
    largest = -math.inf
    for place in range(count):
        block = first + 1 + place * length
        squares[place] = squared_distance(dimension, numbers, block, theta)
        logs[place] = log_student(dimension, numbers, block, squares[place])
        if logs[place] > largest:
            largest = logs[place]
    if count == 1 or largest == -math.inf:
        return largest
    total = 0.0
    for place in range(count):
        total += math.exp(logs[place] - largest)
    return largest + math.log(total)


@compiled
def add_slopes(
    dimension: int,
    numbers: Floats,
    first: int,
    theta: Floats,
    logs: Floats,
    squares: Floats,
    log_total: float,
    weight: float,
    slopes: Floats,
) -> None:
    """Add the gradient of a mixture's log density, so many times, after `log_mixture`."""
    count = int(numbers[first])
    length = MEAN + dimension + dimension * (dimension + 1) // 2
    standard = np.empty(dimension)
    for component in range(count):
        block = first + 1 + component * length
        degrees, factor = numbers[block + DEGREES], block + MEAN + dimension
        pull = -weight * math.exp(logs[component] - log_total)
        if degrees != math.inf:
            pull *= (degrees + dimension) / (degrees + squares[component])
        place = factor
        for i in range(dimension):
            rest = theta[i] - numbers[block + MEAN + i]
            for j in range(i):
                rest -= numbers[place + j] * standard[j]
            standard[i] = rest / numbers[place + i]
            place += i + 1
        # The same once more with the factor transposed, from the last row to the first.
        for i in range(dimension - 1, -1, -1):
            place -= i + 1
            standard[i] /= numbers[place + i]
            for j in range(i):
                standard[j] -= numbers[place + j] * standard[i]
            slopes[i] += pull * standard[i]


@compiled
def draw_component(rng: Generator, count: int, logs: Floats, log_total: float) -> int:
    """Which component a point came from, given the log densities of all there."""
    if count == 1:
        return 0
    left = rng.random()
    for place in range(count - 1):
        left -= math.exp(logs[place] - log_total)
        if left < 0.0:
            return place
    return count - 1


@compiled
def draw_scale(rng: Generator, dimension: int, degrees: float, square: float) -> float:
    """By how much a Student distribution is wider than a normal one, given a point of it.

    The square of it has an inverse gamma distribution.
    """
    if degrees == math.inf:
        return 1.0
    return math.sqrt(0.5 * (degrees + square) / rng.standard_gamma(0.5 * (degrees + dimension)))


@compiled
def draw_around_zero(
    rng: Generator, dimension: int, numbers: Floats, block: int, scale: float, drawn: Floats
) -> None:
    """A normal draw with the matrix of a component, so much wider, less its mean."""
    normals = np.empty(dimension)
    for i in range(dimension):
        normals[i] = rng.standard_normal()
    place = block + MEAN + dimension
    for i in range(dimension):
        total = 0.0
        for j in range(i + 1):
            total += numbers[place + j] * normals[j]
        drawn[i] = scale * total
        place += i + 1


@compiled
def map_between(
    dimension: int, numbers: Floats, old: int, new: int, here: Floats, there: Floats
) -> float:
    """Write the point that lies in one component as `here` does in another.

    Gives the log of how much larger volumes are there.
    """
    standard = np.empty(dimension)
    place = old + MEAN + dimension
    log_volume = 0.0
    for i in range(dimension):
        rest = here[i] - numbers[old + MEAN + i]
        for j in range(i):
            rest -= numbers[place + j] * standard[j]
        standard[i] = rest / numbers[place + i]
        log_volume -= math.log(numbers[place + i])
        place += i + 1
    place = new + MEAN + dimension
    for i in range(dimension):
        total = numbers[new + MEAN + i]
        for j in range(i + 1):
            total += numbers[place + j] * standard[j]
        there[i] = total
        log_volume += math.log(numbers[place + i])
        place += i + 1
    return log_volume
