"""The variables and data of a model of PyMC, with names, dims and coords as its own draws have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.errors import InputError
from aptmc.problem.variables import Labelled, Variable

if TYPE_CHECKING:
    from aptmc.frontends.pymc_graphs import Graphs


def coordinates_of(graphs: Graphs) -> tuple[Variable, ...]:
    """What chains hold: PyMC's value variables."""
    return tuple(
        # Some transforms have hyphens in their names.
        Variable(re.sub(r"\W", "_", name), tuple(int(length) for length in shape))
        for name, shape in graphs.shapes.items()
    )


def shown_variables(model: Any) -> tuple[list[Variable], list[Variable]]:
    """The parameters that users see, and what the model computes from them."""
    return (
        _variables(model, model.free_RVs),
        _variables(model, model.deterministics),
    )


def data_of(model: Any) -> dict[str, tuple[Labelled, ...]]:
    """By group, the observations and the data of a model, as they are now."""
    observed = []
    for variable in model.observed_RVs:
        value = model.rvs_to_values[variable]
        values = np.asarray(value.get_value() if hasattr(value, "get_value") else value.eval())
        observed.append(_labelled(model, variable.name, values))
    constant = [
        _labelled(model, one.name, np.asarray(one.get_value()))
        for one in model.data_vars
        if hasattr(one, "get_value") and one not in model.rvs_to_values.values()
    ]
    groups = {"observed_data": observed, "constant_data": constant}
    return {
        name: tuple(one for one in found if one is not None)
        for name, found in groups.items()
        if any(one is not None for one in found)
    }


def notes_of(model: Any) -> tuple[str, ...]:
    """What users should know."""
    potentials = [variable.name for variable in model.potentials]
    if not potentials:
        return ()
    return (
        f"potentials ({', '.join(potentials)}) are part of the likelihood: the prior is that of "
        "the free variables alone",
    )


def bounds_of(variable: Any) -> tuple[Any, Any] | None:
    """The least and the largest value of a free variable that others may be indexed by."""
    kind = type(variable.owner.op).__name__
    if kind == "BernoulliRV":
        return 0, 1
    if kind == "CategoricalRV":
        chances = variable.owner.inputs[-1]
        known = chances.type.shape[-1]
        return 0, int(chances.shape[-1].eval() if known is None else known) - 1
    if kind == "DiscreteUniformRV":
        from pytensor.graph.basic import Constant

        lower, upper = variable.owner.inputs[-2:]
        if isinstance(lower, Constant) and isinstance(upper, Constant):
            return lower.data, upper.data
    return None


def _variables(model: Any, variables: Sequence[Any]) -> list[Variable]:
    shapes = model.eval_rv_shapes() if variables else {}
    found = []
    for variable in variables:
        shape = shapes.get(variable.name)
        if shape is None:
            shape = _shape_of(variable)
        if 0 in shape:
            continue
        kind = "real" if variable.dtype.startswith("float") else "whole"
        found.append(_named(model, variable.name, tuple(map(int, shape)), kind))
    return found


def _shape_of(variable: Any) -> tuple[int, ...]:
    if all(length is not None for length in variable.type.shape):
        return tuple(variable.type.shape)
    return tuple(int(length) for length in variable.shape.eval())


def _labelled(model: Any, name: str, values: Any) -> Labelled | None:
    if values.dtype.kind not in "biuf" or 0 in values.shape:
        return None
    values = values.astype(np.int64) if values.dtype.kind in "iu" else values
    return Labelled(_named(model, name, values.shape, "real"), values)


def _named(model: Any, name: str, shape: tuple[int, ...], kind: Any) -> Variable:
    """A variable with the model's dims and coords, as far as draws can have them."""
    said = model.named_vars_to_dims.get(name) or (None,) * len(shape)
    dims = tuple(dim or f"{name}_dim_{place}" for place, dim in enumerate(said))
    coords = {}
    for dim, length in zip(dims, shape, strict=True):
        places = model.coords.get(dim)
        if places is not None:
            plain = _plain(places)
            if len(plain) == length and max(Counter(plain).values(), default=0) == 1:
                coords[dim] = plain
    try:
        return Variable(name, shape, dims, coords, kind)
    except InputError as error:
        raise InputError(f"{error}: rename it in the model") from None


def _plain(places: Sequence[Any]) -> tuple[Any, ...]:
    """Names of places as words and numbers; dates in words."""
    found = (place.item() if isinstance(place, np.generic) else place for place in places)
    return tuple(place if isinstance(place, str | int | float) else str(place) for place in found)
