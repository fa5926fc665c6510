"""The gradient of a prior's log density, for kernels that follow gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from aptmc.compiled import ConstantFloats, Floats, compiled
from aptmc.problem.gradient import gradient_model
from aptmc.problem.prior.log_densities import FIRST, LOCATION, LOG_ODDS, SCALE, SECOND, Family
from aptmc.problem.prior.prior import Prior
from aptmc.targets import Target

NEARBY = 1e-6  # how far from a point differences are taken, where there is no formula


@compiled
def slope_of_form(z: float, family: int, first: float, second: float) -> float:
    """The derivative of the log density of a standard form, as `log_densities` has them."""
    if family == Family.NORMAL:
        return -z
    if family == Family.LAPLACE:
        return -1.0 if z > 0.0 else 1.0
    if family == Family.LOGISTIC:
        return -math.tanh(0.5 * z)
    if family == Family.STUDENT:
        ratio = second * z
        return -2.0 * first * second * ratio / (1.0 + ratio * ratio)
    if family == Family.POWER:
        return first / z
    if family == Family.GAMMA:
        return first / z - 1.0
    if family == Family.INVERSE_GAMMA:
        return first / z + 1.0 / (z * z)
    if family == Family.WEIBULL:
        return first / z - second * math.pow(z, second - 1.0)
    if family == Family.LOGNORMAL:
        return -(1.0 + second * second * math.log(z)) / z
    if family == Family.BETA:
        return first / z - second / (1.0 - z)
    if family == Family.TRIANGLE:
        return 1.0 / z if z < first else -1.0 / (1.0 - z)
    if family == LOG_ODDS:
        share = 0.5 * (1.0 + math.tanh(0.5 * z))
        return first * (1.0 - share) - second * share
    return 0.0  # flat


@compiled
def slope_of_marginal(value: float, family: int, row: ConstantFloats) -> float:
    """The same for a distribution with a location and a scale."""
    z = (value - row[LOCATION]) / row[SCALE]
    return slope_of_form(z, family, row[FIRST], row[SECOND]) / float(row[SCALE])


def log_prior_gradient(prior: Prior, target: Target) -> Callable[[Floats, Floats], None]:
    """A function like `gradient_model`: by formulas for independent parameters of known families.

    Elsewhere by differences of the log density. They need not be exact: kernels follow them there
    and back, and accept by the density itself.
    """
    dimension = prior.dimension
    tables = [part.tables() for part in prior.parts]
    known = [table for table in tables if table is not None]
    if len(known) == len(tables):
        families = np.concatenate([table.families for table in known])
        parameters = np.concatenate([table.parameters for table in known])
        slope = target.library(slope_of_marginal)

        def write(theta: Any, into: Any) -> None:
            for i in range(dimension):
                into[i] = slope(theta[i], families[i], parameters[i])

        return target.like(gradient_model, write)
    log_density_at = prior.functions(target).log_density

    def write_differences(theta: Any, into: Any) -> None:
        near = np.empty(dimension)
        for i in range(dimension):
            near[i] = theta[i]
        for i in range(dimension):
            away = NEARBY * max(abs(theta[i]), NEARBY)
            near[i] = theta[i] + away
            above = log_density_at(near)
            near[i] = theta[i] - away
            into[i] = (above - log_density_at(near)) / (2.0 * away)
            near[i] = theta[i]

    return target.like(gradient_model, write_differences)
