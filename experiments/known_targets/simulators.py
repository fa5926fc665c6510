"""Likelihood-free targets: the paper's normal and Lotka-Volterra models, and a moving average."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import aptmc
from aptmc.models import lotka_volterra, moving_average, normal
from experiments.known_targets.quantities import Quantity, mean_of, sd_of
from experiments.known_targets.target import Target

REFERENCES = Path(__file__).with_name("references.json")
NORMAL_TOLERANCE = 0.1
MOVING_AVERAGE_TOLERANCE = 0.1


def normal_quantities() -> tuple[Quantity, ...]:
    """By quadrature."""
    mean = normal.posterior_mean(NORMAL_TOLERANCE)
    sd = normal.posterior_sd(NORMAL_TOLERANCE)
    return mean_of("theta", 0, mean), sd_of("theta", 0, mean, sd)


def moving_average_quantities() -> tuple[Quantity, ...]:
    """By inverse Fourier transform and quadrature."""
    (moments,) = moving_average.moments_given_autocovariances([MOVING_AVERAGE_TOLERANCE])
    quantities = []
    for column, name in enumerate(("theta1", "theta2")):
        mean = float(moments.mean[column])
        sd = math.sqrt(float(moments.covariance[column, column]))
        quantities += [mean_of(name, column, mean), sd_of(name, column, mean, sd)]
    return tuple(quantities)


def reference_quantities(name: str) -> tuple[Quantity, ...]:
    """From `references.json`, which `python -m experiments.known_targets.references` makes."""
    reference: dict[str, Any] = json.loads(REFERENCES.read_text(encoding="utf-8"))[name]
    quantities = []
    for column, (parameter, moments) in enumerate(reference["parameters"].items()):
        (mean, mean_error), (sd, sd_error) = moments["mean"], moments["sd"]
        # The error of a standard deviation is that of the mean square by 2 sd: it has the variance
        # of the squares, which a heavy tail makes large and short runs see little of.
        of_squares = reference["hits"] * (2.0 * sd * sd_error) ** 2
        quantities += [
            mean_of(parameter, column, mean, mean_error, sd**2),
            sd_of(parameter, column, mean, sd, sd_error, of_squares),
        ]
    return tuple(quantities)


@cache
def lotka_volterra_problem(prior: str) -> aptmc.Abc:
    """Predators and prey; a Gillespie event is a unit of work."""
    priors = {
        "exponential": lotka_volterra.prior_exponential,
        "uniform": lotka_volterra.prior_uniform,
    }
    return aptmc.Abc.early(lotka_volterra.simulated_distance, priors[prior](), counts_work=True)


TARGETS = (
    Target(
        "normal",
        lambda: aptmc.Abc.early(normal.simulated_distance, normal.prior()),
        normal_quantities,
        budget=1e5,
        coldest=NORMAL_TOLERANCE,
    ),
    Target(
        "moving average",
        lambda: aptmc.Abc.early(moving_average.simulated_distance, moving_average.prior()),
        moving_average_quantities,
        budget=1e5,
        coldest=MOVING_AVERAGE_TOLERANCE,
    ),
    Target(
        "predators 1",
        lambda: lotka_volterra_problem("exponential"),
        lambda: reference_quantities("predators 1"),
        budget=3e7,
        coldest=1.0,
    ),
    Target(
        "predators 0.4",
        lambda: lotka_volterra_problem("uniform"),
        lambda: reference_quantities("predators 0.4"),
        budget=1e8,
        coldest=0.4,
    ),
)
