"""Is a prior normal, and if so, with which mean and covariance?"""

from __future__ import annotations

import math

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.problem.prior.elliptical import Elliptical
from aptmc.problem.prior.frozen import parameter_arrays
from aptmc.problem.prior.independent import Independent
from aptmc.problem.prior.part import Part
from aptmc.problem.prior.prior import Prior


def normal_moments(prior: Prior) -> tuple[Floats, FloatTable] | None:
    """Mean and covariance of the coordinates of a normal prior; None for any other.

    >>> from scipy import stats
    >>> normal_moments(Prior(shift=stats.norm(1, 2)))
    (array([1.]), array([[4.]]))
    >>> normal_moments(Prior(rate=stats.gamma(2))) is None
    True
    """
    mean, covariance = np.zeros(prior.dimension), np.zeros((prior.dimension, prior.dimension))
    place = 0
    for part in prior.parts:
        found = _moments_of(part)
        if found is None:
            return None
        end = place + part.dimension
        mean[place:end], covariance[place:end, place:end] = found
        place = end
    return mean, covariance


def _moments_of(part: Part) -> tuple[Floats, FloatTable] | None:
    if isinstance(part, Elliptical) and part.degrees == math.inf:
        return part.centre, part.matrix
    if isinstance(part, Independent) and part.distribution.dist.name == "norm":
        (variable,) = part.variables
        given = parameter_arrays(variable.name, part.distribution)
        centre, scale = (
            np.broadcast_to(given.get(name, usual), variable.shape).ravel()
            for name, usual in (("loc", 0.0), ("scale", 1.0))
        )
        return centre, np.diag(np.asarray(scale) ** 2)
    return None
