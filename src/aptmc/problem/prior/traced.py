"""Rules in plain Python are read by calling them once with names in the place of numbers.

`lambda mean, sd: stats.norm(mean, 2 * sd)` then says the same as `given` does, and is compiled.
What cannot be read so, because it looks at a number to decide something, calls a function that
wants numbers, or gives a distribution that has no compiled form, stays as it is.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from aptmc.problem.prior.families import named_parameters
from aptmc.problem.prior.frozen import is_univariate
from aptmc.problem.prior.given import Given
from aptmc.problem.prior.rows import code_of
from aptmc.targets import compiled_for_user

# By numpy's name: what the same is called for single numbers, whose last bits then do not depend on
# who computes them. Vectors are given to numpy, if every bit of what it says is settled.
SCALAR = {
    **{name: f"math.{name}" for name in ("cos", "exp", "expm1", "log", "log10", "log1p", "log2")},
    **{name: f"math.{name}" for name in ("sin", "sqrt", "tan", "tanh")},
    "arctan": "math.atan",
    "absolute": "abs",
    "fabs": "abs",
    "power": "math.pow",
    "maximum": "max",
    "minimum": "min",
}
VECTOR = {name: f"np.{name}" for name in ("absolute", "fabs", "maximum", "minimum", "sqrt")}
OPERATORS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "true_divide": "/",
    "divide": "/",
    "negative": "-",
}


class CannotBeRead(TypeError):
    """A rule does with a name what can only be done with a number."""


@final
class Traced:
    """An expression of earlier variables, in Python's words.

    What else it is asked for, its value as a float among it, it cannot answer.
    """

    def __init__(self, words: str, names: frozenset[str], *, is_vector: bool) -> None:
        """The words, the variables that they name, and whether these are many numbers."""
        self.words, self.names, self.is_vector = words, names, is_vector

    def __bool__(self) -> bool:
        """It has no value to decide by."""
        raise CannotBeRead(self.words)

    __hash__ = None  # type: ignore[assignment]  # nor one to be found by

    def _compared(self, other: object) -> bool:
        raise CannotBeRead(self.words)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared

    def __getitem__(self, place: Any) -> Traced:
        """A number of a vector."""
        if not self.is_vector or not isinstance(place, int | np.integer):
            raise CannotBeRead(f"{self.words}[{place!r}]")
        return Traced(f"{self.words}[{int(place)}]", self.names, is_vector=False)

    def __iter__(self) -> Any:
        """Its length is not known."""
        raise CannotBeRead(self.words)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Traced:
        """What numpy's functions of numbers give."""
        name = function.__name__
        if method != "__call__" or options:
            raise CannotBeRead(name)
        if name == "square":
            return self * self
        if name in OPERATORS:
            return _joined(OPERATORS[name], *inputs)
        return _called(name, *inputs)

    def __add__(self, other: Any) -> Traced:
        return _joined("+", self, other)

    def __radd__(self, other: Any) -> Traced:
        return _joined("+", other, self)

    def __sub__(self, other: Any) -> Traced:
        return _joined("-", self, other)

    def __rsub__(self, other: Any) -> Traced:
        return _joined("-", other, self)

    def __mul__(self, other: Any) -> Traced:
        return _joined("*", self, other)

    def __rmul__(self, other: Any) -> Traced:
        return _joined("*", other, self)

    def __truediv__(self, other: Any) -> Traced:
        return _joined("/", self, other)

    def __rtruediv__(self, other: Any) -> Traced:
        return _joined("/", other, self)

    def __pow__(self, other: Any) -> Traced:
        return _called("power", self, other)

    def __rpow__(self, other: Any) -> Traced:
        return _called("power", other, self)

    def __neg__(self) -> Traced:
        return _joined("-", self)

    def __abs__(self) -> Traced:
        return _called("absolute", self)


def _read(operands: tuple[Any, ...]) -> tuple[list[str], frozenset[str], bool]:
    """The words of expressions and single numbers, the names in them, and whether one is many."""
    words, names, is_vector = [], frozenset[str](), False
    for one in operands:
        if isinstance(one, Traced):
            words.append(one.words)
            names, is_vector = names | one.names, is_vector or one.is_vector
        elif isinstance(one, bool | int | float | np.integer | np.floating):
            words.append(f"({one.item() if isinstance(one, np.generic) else one!r})")
        else:
            raise CannotBeRead(repr(one))
    return words, names, is_vector


def _joined(operator: str, *operands: Any) -> Traced:
    words, names, is_vector = _read(operands)
    text = f" {operator} ".join(words) if len(words) == 2 else f"{operator}{words[0]}"
    return Traced(f"({text})", names, is_vector=is_vector)


def _called(name: str, *operands: Any) -> Traced:
    words, names, is_vector = _read(operands)
    known = VECTOR if is_vector else SCALAR
    if name not in known:
        raise CannotBeRead(name)
    return Traced(f"{known[name]}({', '.join(words)})", names, is_vector=is_vector)


def as_given(rule: Callable[..., Any], example: Mapping[str, Any]) -> Given | None:
    """What a rule says, as `given` would say it; None if that cannot be read off it.

    :param example: values of the earlier variables that it names
    """
    symbols = {
        name: Traced(name, frozenset([name]), is_vector=np.ndim(value) > 0)
        for name, value in example.items()
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frozen = rule(**symbols)
        if not is_univariate(frozen) or code_of(frozen.dist) is None:
            return None
        wanted = {
            key: _parameter(value, tuple(example))
            for key, value in named_parameters(frozen).items()
        }
        found = Given(frozen.dist, wanted)
        return found if _agree(found(**example), rule(**example)) else None
    except Exception:
        # Whatever it stumbles over: it is called with numbers from now on.
        return None


def _agree(one: Any, other: Any) -> bool:
    """Whether two frozen distributions have the same parameters, but for a last bit."""
    mine, theirs = named_parameters(one), named_parameters(other)
    return all(np.allclose(mine[key], theirs[key], rtol=1e-14, atol=0.0) for key in mine)


def _parameter(value: Any, names: tuple[str, ...]) -> Any:
    """As `Given` has it: a name, a compiled function, or numbers."""
    if not isinstance(value, Traced):
        return np.asarray(value, dtype=np.float64)
    if value.words in names:
        return value.words
    arguments = ", ".join(name for name in names if name in value.names)
    around: dict[str, Any] = {"math": math, "np": np, "inf": math.inf, "nan": math.nan}
    around["__name__"] = "prior_rule"
    source = f"def parameter({arguments}):\n    return {value.words}\n"
    exec(compile(source, "<a prior's rule>", "exec"), around)
    return compiled_for_user(around.pop("parameter"), error_model="numpy")
