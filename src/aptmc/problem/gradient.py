"""Gradients that users give along with a density, for kernels that follow them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from aptmc.compiled import Floats
from aptmc.errors import InputError, MoveFailed
from aptmc.in_words import in_words
from aptmc.problem.masked import has_masked
from aptmc.problem.parametrisation import Parametrisation
from aptmc.targets import Target

_WRONG_LENGTH = "gradient returned an array of another length than theta"


def gradient_model(theta: Floats, gradient: Floats) -> None:
    """Write the gradient at some coordinates."""
    raise NotImplementedError("a model of the signature, not to be called")


def refuse_steps(parametrisation: Parametrisation) -> None:
    """A gradient is one by the coordinates, so parameters must be coordinates."""
    if parametrisation.is_identity:
        return
    others = [f"{one.name} ({one.kind})" for one in parametrisation.variables if one.kind != "real"]
    raise InputError(
        f"a gradient needs real parameters only, got {', '.join(others)}: leave out gradient"
    )


def gradient_function(
    gradient: Callable[..., Any], parametrisation: Parametrisation, target: Target
) -> Callable[..., Any]:
    """A function like `gradient_model`: compiled, or plain Python with careful errors."""
    dimension = parametrisation.dimension
    if target.is_compiled:

        def write(theta: Any, into: Any) -> None:
            found = np.asarray(gradient(theta.copy()), np.float64).ravel()
            if found.size != dimension:
                raise InputError(_WRONG_LENGTH)
            for place in range(dimension):
                into[place] = found[place]

        return target.like(gradient_model, write)

    def write_checked(theta: Floats, into: Floats) -> None:
        where = parametrisation.describe(theta)
        try:
            value = gradient(theta.copy())
        except Exception as error:
            raise MoveFailed(f"gradient raised {in_words(error)}", where) from error
        try:
            found = np.asarray(value)
        except ValueError:  # ragged
            found = np.empty(0, dtype=object)
        is_masked = has_masked(value)
        if found.dtype.kind not in "iufb" or found.shape != (dimension,) or is_masked:
            raise MoveFailed(
                f"gradient returned {value!r}, must be an array of {dimension} numbers, one for "
                "each entry of theta,",
                where,
            )
        if any(math.isnan(number) for number in found.tolist()):
            raise MoveFailed(f"gradient returned {value!r}, must be numbers,", where)
        into[:] = found

    return write_checked
