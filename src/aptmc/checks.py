"""Checks of arguments that several modules share."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from aptmc.errors import InputError

DIMENSIONS = ("chain", "draw", "rung")  # of the draws


def whole_number(name: str, value: Any, least: int = 1) -> int:
    """A whole number from `least` on, or a clear error. True and False are no numbers here."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool | np.bool_) or number < least:
        raise InputError(f"{name} must be a whole number from {least} on, got {value!r}")
    return number


def counted(number: int, what: str) -> str:
    """A number of things in words.

    >>> counted(1, "chain"), counted(3, "chain")
    ('1 chain', '3 chains')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def yes_or_no(name: str, value: Any) -> bool:
    """True or False, or a clear error: a word such as "no" would be taken for a yes."""
    if not isinstance(value, bool | np.bool_) and value not in (0, 1):
        raise InputError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def numbers(value: Any) -> npt.NDArray[np.float64] | None:
    """An array of finite numbers, or None if the value is anything else."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # ragged, or of many arrays
        return None
    if np.ma.is_masked(value):  # what is hidden would count like the rest
        return None
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        return None
    return array.astype(np.float64)


def parameter_name(name: object) -> str:
    """A name that draws can use for a parameter, or a clear error."""
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise InputError(
            f"a parameter cannot be named {name!r}: "
            "use letters, digits and underscores, with a letter first"
        )
    if name in DIMENSIONS:
        raise InputError(
            f"a parameter cannot be named {name!r}, which is a dimension of the draws: "
            f"choose another name than {', '.join(DIMENSIONS)}"
        )
    return name
