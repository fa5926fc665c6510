"""What tells two kernels apart: equal for equal values, and for nothing else."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, final

import numpy as np

PLAIN = (bool, int, float, complex, str, bytes, type(None), type)


@final
class Same:
    """Equal to itself alone. It keeps what it holds alive, so that no other can take its place."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def code_of(value: Any) -> Hashable:
    """A value as a key. Of what is no number, text, array or collection, the object itself counts.

    Numbers count with their kind: compiled code for 1 is not that for 1.0.
    """
    kind = type(value)
    if isinstance(value, float | complex):
        return kind, repr(value)  # zero has a sign, and NaN is not equal to itself
    if isinstance(value, PLAIN):
        return kind, value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return kind, value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return kind, tuple((code_of(name), code_of(part)) for name, part in value.items())
    if isinstance(value, list | tuple):
        return kind, tuple(map(code_of, value))
    if is_dataclass(value):
        parts = [field.name for field in fields(value)]
        return kind, tuple((name, code_of(getattr(value, name))) for name in parts)
    return Same(value)
