"""Functions of earlier variables, which are found by the names of the arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from aptmc.errors import InputError
from aptmc.problem.prior.part import Surroundings, as_compiled


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's arguments, or a clear error if they are not plain ones."""
    try:
        signature = inspect.signature(getattr(function, "py_func", function))
    except (TypeError, ValueError):
        raise InputError(
            f"the arguments of {function!r} have no names: write it as lambda sd: ..."
        ) from None
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    wanted = [one for one in signature.parameters.values() if one.default is one.empty]
    if any(one.kind not in plain for one in wanted):
        raise InputError(
            f"a function of earlier parameters takes them by name, got one that takes {signature}"
        )
    return tuple(one.name for one in wanted)


def check_earlier(name: str, wanted: Iterable[str], earlier: Iterable[str]) -> None:
    """Refuse to look at what does not stand before."""
    known = list(earlier)
    for other in wanted:
        if other not in known:
            there = f"there are {', '.join(known)}" if known else "there are none"
            raise InputError(
                f"the distribution of {name!r} depends on {other!r}, which does not stand before "
                f"it ({there}): name its arguments after earlier parameters"
            )


def getter(name: str, here: Surroundings) -> Callable[..., Any]:
    """A compiled function that takes a variable out of all parameters: a number, or an array."""
    start = here.whole.places[name].parameter
    variable = next(one for one in here.whole.variables if one.name == name)
    if not variable.shape:
        return as_compiled(lambda parameters: parameters[start])  # type: ignore[no-any-return]
    end, shape = start + variable.size, variable.shape
    return as_compiled(lambda parameters: parameters[start:end].reshape(shape))  # type: ignore[no-any-return]
