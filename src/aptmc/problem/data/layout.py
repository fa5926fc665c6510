"""The layout of the observed data: which parts there are, and how simulations fill them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.checks import numbers
from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.problem.data.containers import LABELLED, called, kind_of, parts_in, without_labels
from aptmc.problem.data.labels import at_labels
from aptmc.problem.masked import has_masked
from aptmc.problem.simulator import SimulationFailed

WHOLE = "the data"


class Part(ABC):
    """The observed data, or a part of them."""

    name: str
    observed: Any

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers it has."""

    @abstractmethod
    def numbers_in(self, simulated: Any) -> Floats:
        """All numbers of a simulation of this part, one after the other."""

    @abstractmethod
    def as_array(self, flat: Floats) -> Floats:
        """Its numbers as compiled distances take them."""

    @abstractmethod
    def as_given(self, flat: Floats, simulated: Any) -> Any:
        """A simulation of it as plain distances take it."""

    @abstractmethod
    def leaves(self) -> Iterator[Leaf]:
        """The parts that have no parts."""

    @cached_property
    def flat(self) -> Floats:
        """All observed numbers."""
        return self.numbers_in(self.observed)

    @property
    def observed_as_given(self) -> Any:
        """The observed data as plain distances take them: a copy, which may be changed."""
        return deepcopy(self.as_given(self.flat, self.observed))

    @property
    def words(self) -> str:
        """What to call it in a message."""
        return f"part {self.name!r}" if self.name else WHOLE


@final
@dataclass(frozen=True, eq=False)
class Leaf(Part):
    """An array of numbers, perhaps with labels."""

    name: str
    observed: Any
    shape: tuple[int, ...]

    @property
    @override
    def size(self) -> int:
        return int(np.prod(self.shape))

    @override
    def numbers_in(self, simulated: Any) -> Floats:
        found = _array(self, at_labels(simulated, self.observed, self.words))
        if found.shape != self.shape:
            raise SimulationFailed(
                f"{self.words} has shape {found.shape} in a simulation, {self.shape} as observed,"
            )
        return found.astype(np.float64).ravel()

    @override
    def as_array(self, flat: Floats) -> Floats:
        return flat.reshape(self.shape or (1,))

    @override
    def as_given(self, flat: Floats, simulated: Any) -> Any:
        if kind_of(simulated) is not None and kind_of(self.observed) is not None:
            return simulated
        # The whole is an array even if it is one number, as it is for data without names.
        return self.as_array(flat) if self.shape or not self.name else float(flat[0])

    @override
    def leaves(self) -> Iterator[Leaf]:
        yield self


@final
@dataclass(frozen=True, eq=False)
class Branch(Part):
    """Several parts with names."""

    name: str
    observed: Any
    parts: dict[str, Part]

    @property
    @override
    def size(self) -> int:
        return sum(part.size for part in self.parts.values())

    @override
    def numbers_in(self, simulated: Any) -> Floats:
        found = self.parts_of(simulated)
        return np.concatenate([part.numbers_in(found[name]) for name, part in self.parts.items()])

    @override
    def as_array(self, flat: Floats) -> Floats:
        return flat

    @override
    def as_given(self, flat: Floats, simulated: Any) -> Any:
        return simulated

    @override
    def leaves(self) -> Iterator[Leaf]:
        for part in self.parts.values():
            yield from part.leaves()

    @property
    def slices(self) -> dict[str, slice]:
        """By name, where the numbers of a part are among all."""
        ends = np.cumsum([0, *(part.size for part in self.parts.values())]).tolist()
        return {name: slice(*ends[i : i + 2]) for i, name in enumerate(self.parts)}

    def parts_of(self, simulated: Any) -> dict[str, Any]:
        """The parts of a simulation by name; there may be more than were observed."""
        found = parts_in(simulated)
        wanted = ", ".join(map(repr, self.parts))
        if found is None:
            raise SimulationFailed(
                f"{self.words} should have the parts {wanted}, but in a simulation it is "
                f"{called(simulated)},"
            )
        named = {str(key): part for key, part in found.items()}
        missing = [name for name in self.parts if name not in named]
        if missing:
            raise SimulationFailed(
                f"part {path(self.name, missing[0])!r} of the data is missing in a simulation, "
                f"which has {', '.join(map(repr, named)) or 'no parts'},"
            )
        return named


def layout_of(observed: Any, name: str = "") -> Part:
    """The parts of some data, or an error that names the one which is not made of numbers.

    >>> layout = layout_of({"prey": [1.0, 2.0], "peak": 7})
    >>> [(leaf.name, leaf.shape) for leaf in layout.leaves()]
    [('prey', (2,)), ('peak', ())]
    >>> layout.numbers_in({"peak": 5, "prey": np.array([3, 4])})
    array([3., 4., 5.])
    """
    array = None if _is_table(observed) else numbers(without_labels(observed))
    found = parts_in(observed) if array is None else None
    if found:
        parts = {str(key): layout_of(part, path(name, key)) for key, part in found.items()}
        if len(parts) < len(found):
            raise InputError(f"two parts of the data have the same name, got {list(found)!r}")
        return Branch(name, observed, parts)
    if array is None or array.size == 0:
        what = f"part {name!r} of observed" if name else "observed"
        raise InputError(f"{what} must be an array of finite numbers, got {_shown(observed)}")
    return Leaf(name, observed, array.shape)


def path(name: str, key: object) -> str:
    """The name of a part of a part."""
    return f"{name}.{key}" if name else str(key)


def _shown(observed: Any) -> str:
    """Data that are no numbers, for a message: what is printed of a series takes many lines."""
    if kind_of(observed) not in LABELLED:
        return repr(observed)
    if observed.dtype.kind not in "iuf":
        return f"{called(observed)} of {observed.dtype}: leave it out, or make numbers of it"
    return (
        f"{called(observed)} of length {observed.size} with values that are missing or infinite: "
        "leave them out with dropna(); simulations are compared at the labels that are left"
    )


def _is_table(value: object) -> bool:
    return kind_of(value) in ("DataFrame", "Dataset")


def _array(leaf: Leaf, value: Any) -> np.ndarray:
    try:
        found = np.asarray(without_labels(value))
    except (TypeError, ValueError):  # ragged, or of many arrays
        found = np.empty(0, dtype=object)
    if found.dtype.kind not in "iufb" or has_masked(value):
        raise SimulationFailed(f"{leaf.words} is {value!r} in a simulation, must be numbers,")
    return found
