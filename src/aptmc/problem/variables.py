"""What a problem is about: variables with names and shapes, and how a chain holds them.

A chain holds *coordinates*, real numbers that any kernel may move. Users and their functions see
*parameters*. Most are the same: a real parameter is its own coordinate. A whole number k is held as
any u in [k, k + 1), and a simplex of K shares by K - 1 real numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, NamedTuple, final

import numpy as np

from aptmc.arguments import class_named_clearly
from aptmc.checks import DIMENSIONS, parameter_name
from aptmc.errors import InputError

# Names that parts of a model and terms of a formula have in other languages: `part::a`, `1|county`.
FOREIGN = re.compile(r"\w+(?:(?:::|[|:.-])\w+)+")
Kind = Literal["real", "whole", "simplex"]
Shape = int | Sequence[int]


@class_named_clearly
@final
@dataclass(frozen=True)
class Variable:
    """A parameter with a name: one number, a vector, or an array.

    :param shape: () for one number
    :param dims: the names of its dimensions; as in ArviZ, if they are not given
    :param coords: by dimension, what its places are called
    :param kind: "real", "whole" (whole numbers) or "simplex" (positive, with the sum 1)

    >>> Variable("beta", (3,)).labels
    ('beta[0]', 'beta[1]', 'beta[2]')
    >>> Variable("beta", (2,), dims=("city",), coords={"city": ("Rome", "Oslo")}).labels
    ('beta[Rome]', 'beta[Oslo]')
    >>> Variable("rate").labels
    ('rate',)
    """

    name: str
    shape: tuple[int, ...] = ()
    dims: tuple[str, ...] = ()
    coords: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    kind: Kind = "real"

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and FOREIGN.fullmatch(self.name)):
            parameter_name(self.name)
        shape = checked_shape(self.name, self.shape)
        dims = tuple(self.dims) or tuple(f"{self.name}_dim_{axis}" for axis in range(len(shape)))
        _check_dims(self.name, shape, dims)
        coords = {dim: _plain(self.name, dim, places) for dim, places in dict(self.coords).items()}
        for dim, places in coords.items():
            if dim not in dims:
                raise InputError(
                    f"{self.name} has no dimension {dim!r} to name the places of: its dims are "
                    f"{dims}"
                )
            length = shape[dims.index(dim)]
            if len(places) != length or len(set(places)) != length:
                raise InputError(
                    f"{dim!r} of {self.name} has {length} places, which need as many different "
                    f"names, got {list(places)!r}"
                )
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dims", dims)
        object.__setattr__(self, "coords", coords)

    @property
    def size(self) -> int:
        """How many numbers users see."""
        return math.prod(self.shape)

    @property
    def held(self) -> int:
        """How many coordinates a chain holds for it."""
        return self.size - 1 if self.kind == "simplex" else self.size

    @property
    def labels(self) -> tuple[str, ...]:
        """One for each number: `beta[3]`, or by the names of places."""
        if not self.shape:
            return (self.name,)
        places = [
            self.coords.get(dim, tuple(range(length)))
            for dim, length in zip(self.dims, self.shape, strict=True)
        ]
        return tuple(f"{self.name}[{', '.join(map(str, place))}]" for place in product(*places))

    def to_json(self) -> dict[str, Any]:
        """What a store keeps of it; `from_json` makes it again."""
        coords = {dim: list(places) for dim, places in self.coords.items()}
        return {
            "name": self.name,
            "shape": list(self.shape),
            "dims": list(self.dims),
            "coords": coords,
            "kind": self.kind,
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Variable:
        """From what a store keeps."""
        return cls(
            said["name"],
            tuple(said["shape"]),
            tuple(said["dims"]),
            {dim: tuple(places) for dim, places in said["coords"].items()},
            said["kind"],
        )


class Labelled(NamedTuple):
    """Numbers that belong to a variable, in its shape: data of a model, say."""

    variable: Variable
    values: Any

    def to_json(self) -> dict[str, Any]:
        """What a store keeps of it; `from_json` makes it again."""
        values = np.asarray(self.values)
        kept: Any = values.astype(object)
        kept[~np.isfinite(values)] = None
        plain = kept.tolist()
        return {"variable": self.variable.to_json(), "kind": values.dtype.kind, "values": plain}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Labelled:
        """From what a store keeps. What was not finite is NaN."""
        kind = {"b": np.bool_, "i": np.int64, "u": np.int64}.get(said["kind"], np.float64)
        return cls(Variable.from_json(said["variable"]), np.array(said["values"], dtype=kind))


def scalars(names: Sequence[str]) -> tuple[Variable, ...]:
    """One real number for each name."""
    return tuple(Variable(name) for name in names)


def checked_shape(name: str, shape: Any) -> tuple[int, ...]:
    """A shape as a tuple, or a clear error."""
    try:
        lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    except TypeError:
        lengths = (0,)
    if not all(
        isinstance(length, int) and not isinstance(length, bool) and length > 0
        for length in lengths
    ):
        raise InputError(
            f"the shape of {name!r} must be a whole number from 1 on or a tuple of such, got "
            f"{shape!r}: use 25 for a vector, (5, 4) for a table, () for one number"
        )
    return lengths


def _check_dims(name: str, shape: tuple[int, ...], dims: tuple[Any, ...]) -> None:
    if len(dims) != len(shape) or len(set(dims)) != len(dims):
        raise InputError(
            f"{name!r} has shape {shape}, which needs {len(shape)} different dims, got {dims!r}"
        )
    for dim in dims:
        if not isinstance(dim, str) or not dim or dim in (*DIMENSIONS, name):
            raise InputError(
                f"a dimension of {name!r} cannot be named {dim!r}: choose another name than "
                f"{', '.join((*DIMENSIONS, name))}"
            )


def _plain(name: str, dim: str, places: Any) -> tuple[Any, ...]:
    """Names of places as Python's own words and numbers, which a store can keep."""
    try:
        found = tuple(place.item() if hasattr(place, "item") else place for place in places)
    except TypeError:
        found = (None,)
    if not all(isinstance(place, str | int | float) for place in found):
        raise InputError(
            f"the places of {dim!r} of {name!r} must be words or numbers, got {places!r}"
        )
    return found
