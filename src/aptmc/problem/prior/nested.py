"""Priors of several models with different numbers of parameters, in arrays of one length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aptmc.arguments import named_clearly
from aptmc.problem.prior.joint import joint_part
from aptmc.problem.prior.prior import Prior
from aptmc.problem.variables import Shape


@named_clearly
def nested_prior(
    log_density: Callable[..., Any], draw: Callable[..., Any], /, **shapes: Shape
) -> Prior:
    """A prior from two functions, as `Prior.joint`, whose models differ in their parameters.

    The first number of theta says which model it is, 0, 1, 2 and so on. Its parameters follow, and
    places that it does not use are NaN: all arrays have the length of the largest model. The
    density is that of all together, with the probability of the model in it.

    :param log_density: log_density(theta), of a padded array
    :param draw: draw(rng) gives a padded array
    :param shapes: by name, the shape of each part of theta; first that of the model, ()

    >>> import numpy as np
    >>> def log_density(theta):  # no parameter, or one with a uniform distribution
    ...     inside = theta[0] == 0 or 0 < theta[1] < 1
    ...     return np.log(0.5) if inside else -np.inf
    >>> def draw(rng):
    ...     return [1, rng.random()] if rng.random() < 0.5 else [0, np.nan]
    >>> nested_prior(log_density, draw, model=(), slope=()).names
    ('model', 'slope')
    """
    return Prior._of((joint_part(log_density, draw, shapes, is_padded=True),))
