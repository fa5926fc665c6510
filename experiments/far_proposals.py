"""Should some proposals come from much farther out? `python -m experiments.far_proposals`.

A chain on its own, without exchanges: a target that is normal, or has the tails of Student's t, and
whose simulations hit as often as it is high, under a flat prior. Proposals are from a mixture that
is fitted to a few independent draws. By the errors of runs that simulate equally often one knows of
how many independent draws they are worth. What is refused before a simulation costs none.
"""

from __future__ import annotations

import argparse
import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from aptmc.kernels.jumps import MOST_DEGREES, TIMES
from aptmc.kernels.learned import usual_scale
from aptmc.kernels.splitting import by_itself

HALF_A_SIDE = 12.0  # of the prior's box
DEGREES = 5.0  # of freedom, of the targets that have tails


class Setting(NamedTuple):
    """A target, and how much is known of it."""

    dimension: int
    has_tails: bool
    most_hits: float  # their share at the centre
    simulations: int
    fitted_to: int  # draws

    @property
    def in_words(self) -> str:
        """For a table."""
        shape = "tails" if self.has_tails else "normal"
        return f"{shape}, {self.dimension} | {self.fitted_to} | {self.simulations:,}"


class Choice(NamedTuple):
    """Of proposals."""

    farther: float  # so many from farther out
    jumps: float  # of the mixture; the others are steps


SETTINGS = (
    Setting(1, False, 0.3, 500, 40),
    Setting(2, False, 0.3, 1000, 30),
    Setting(2, False, 0.3, 1000, 100),
    Setting(3, False, 0.2, 4000, 60),
    Setting(4, False, 0.1, 10_000, 100),
    Setting(2, True, 0.3, 2000, 60),
    Setting(3, True, 0.2, 4000, 100),
)
CHOICES = (Choice(0.0, 0.9), Choice(0.1, 0.9), Choice(0.2, 0.9), Choice(0.2, 0.8))


@njit
def log_target(x: Any, has_tails: bool) -> float:
    """Up to a constant; 0 at the centre."""
    square = (x * x).sum()
    if has_tails:
        return -0.5 * float(DEGREES + x.size) * math.log1p(square / DEGREES)
    return -0.5 * float(square)


@njit
def log_proposals(x: Any, farther: float, mean: Any, factor: Any) -> float:
    """Of both parts, up to a constant."""
    dimension = x.size
    standard, square = np.empty(dimension), 0.0
    for i in range(dimension):
        rest = x[i] - mean[i]
        for j in range(i):
            rest -= factor[i, j] * standard[j]
        standard[i] = rest / factor[i, i]
        square += standard[i] ** 2
    power = -0.5 * (MOST_DEGREES + dimension)
    near = (1.0 - farther) * (1.0 + square / MOST_DEGREES) ** power
    far = (1.0 + square / TIMES / MOST_DEGREES) ** power * TIMES ** (-0.5 * dimension)
    return math.log(near + farther * far)


@njit
def moments(
    rng: Any, setting: Any, choice: Any, mean: Any, factor: Any, step: float, first: Any
) -> Any:
    """The mean of the first coordinate and of its square, in one run."""
    dimension, has_tails, most_hits, simulations, _ = setting
    farther, jumps = choice
    here, there = first.copy(), np.empty(dimension)
    log_here = log_proposals(here, farther, mean, factor)
    simulated, steps, total, squares = 0, 0, 0.0, 0.0
    while simulated < simulations:
        steps += 1
        log_ratio = 0.0
        if rng.random() < jumps:
            variance = TIMES if rng.random() < farther else 1.0
            scale = math.sqrt(0.5 * variance * MOST_DEGREES / rng.standard_gamma(MOST_DEGREES / 2))
            normals = rng.standard_normal(dimension)
            for i in range(dimension):
                there[i] = mean[i]
                for j in range(i + 1):
                    there[i] += scale * factor[i, j] * normals[j]
            log_ratio = log_here - log_proposals(there, farther, mean, factor)
        else:
            there[:] = here + step * rng.standard_normal(dimension)
        inside = np.abs(there).max() < HALF_A_SIDE
        if inside and math.log(1.0 - rng.random()) < log_ratio:
            simulated += 1
            if rng.random() < most_hits * math.exp(log_target(there, has_tails)):
                here[:] = there
                log_here = log_proposals(here, farther, mean, factor)
        total += here[0]
        squares += here[0] ** 2
    return total / steps, squares / steps


def draws_of(rng: np.random.Generator, setting: Setting, count: int) -> Any:
    """Of the target."""
    normals = rng.standard_normal((count, setting.dimension))
    if not setting.has_tails:
        return normals
    return normals / np.sqrt(rng.chisquare(DEGREES, count) / DEGREES)[:, None]


def effective_draws(setting: Setting, choice: Choice, runs: int) -> tuple[float, float]:
    """Of the mean of the first coordinate, and of that of its square."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(runs):
        fitted = draws_of(rng, setting, setting.fitted_to)
        variance = 1.0 + 2.0 / (1.0 + setting.dimension)
        covariance = np.atleast_2d(np.cov(fitted, rowvar=False))
        factor = np.linalg.cholesky(variance * by_itself(covariance, setting.fitted_to))
        step, first = usual_scale(setting.dimension), draws_of(rng, setting, 1)[0]
        found.append(
            moments(rng, tuple(setting), tuple(choice), fitted.mean(axis=0), factor, step, first)
        )
    means, squares = np.array(found).T
    variance, fourth = (5.0 / 3.0, 25.0) if setting.has_tails else (1.0, 3.0)
    errors = np.mean(means**2), np.mean((squares - variance) ** 2)
    return float(variance / errors[0]), float((fourth - variance**2) / errors[1])


def main() -> None:
    """Print a row for each setting."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.far_proposals", description=__doc__
    )
    parser.add_argument("--runs", type=int, default=800, help="of each (default: 800)")
    runs = parser.parse_args().runs
    print(
        "effective draws of a coordinate and of its square, by shares from farther out / of jumps"
    )
    print("| target | fitted to | simulations |", end="")
    print("".join(f" {choice.farther:g} / {choice.jumps:g} |" for choice in CHOICES))
    print("| --- " * (3 + len(CHOICES)) + "|")
    for setting in SETTINGS:
        cells = [effective_draws(setting, choice, runs) for choice in CHOICES]
        numbers = " | ".join(f"{mean:.1f}, {square:.1f}" for mean, square in cells)
        print(f"| {setting.in_words} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
