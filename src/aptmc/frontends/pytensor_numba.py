"""PyTensor's graphs as functions for numba: the one place that uses what is private of PyTensor.

That is `vm.jit_fn` of a function in the mode NUMBA, the numba function behind it, which other
compiled code can call; and whether PyTensor would keep it on disk, so that it holds no address of
this process. `tests/frontends/test_pytensor_numba.py` notices if either changes.
"""

from __future__ import annotations

import warnings
from typing import Any

import cloudpickle
import numpy as np
from numba.core.caching import NullCache

from aptmc.errors import InputError
from aptmc.frontends.machine_code import MachineCode
from aptmc.frontends.pytensor_checksum import checksum_of_graph

MAKER = (__name__, "source_of_recipe")


def machine_code(kind: str, inputs: list[Any], output: Any, *, check_bounds: bool) -> MachineCode:
    """A graph with one vector as its output, as a function of one of the kinds of `MachineCode`."""
    identity = checksum_of_graph(inputs, [output])
    try:
        recipe = cloudpickle.dumps((kind, inputs, output, check_bounds))
    except Exception as error:
        raise InputError(
            f"the model cannot be sent to other processes ({error}): write functions in Python "
            "that it calls, pytensor.wrap_py say, at the top of a module of their own"
        ) from error
    code = MachineCode(f"{identity} {check_bounds}", kind, MAKER, recipe, versions())
    if identity.startswith("unknown"):
        code.identity = identity
    return code


def versions() -> str:
    """Of the libraries that make graphs and compile them."""
    import pymc
    import pytensor

    flags = (pytensor.config.floatX, pytensor.config.numba__fastmath)
    return repr((pytensor.__version__, pymc.__version__, flags))


def source_of_recipe(recipe: bytes) -> tuple[Any, bool]:
    """A function that numba can compile, and whether its code may go to other processes."""
    kind, inputs, output, check_bounds = cloudpickle.loads(recipe)
    inner, is_portable = jitted(inputs, output, check_bounds=check_bounds)
    return _SOURCES[kind](inner), is_portable


def jitted(inputs: list[Any], output: Any, *, check_bounds: bool = True) -> tuple[Any, bool]:
    """The numba function of a graph, and whether PyTensor would keep its code on disk."""
    import pymc
    import pytensor
    from pymc.pytensorf import compile as compile_graph

    # What a generator draws must move that very generator on.
    given = [pytensor.In(one, mutable=True) if _is_generator(one) else one for one in inputs]
    with pymc.Model(check_bounds=check_bounds), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTensor says what it runs in Python; so do our notes
        made = compile_graph(given, [output], mode="NUMBA", on_unused_input="ignore")
    inner = getattr(made.vm, "jit_fn", None)
    if inner is None:
        raise InputError(
            f"PyTensor {pytensor.__version__} does not hand out the compiled functions of its mode "
            "NUMBA as it did: use the version of PyMC that the extra asks for, "
            "pip install 'aptmc[pymc]'"
        )
    return inner, not isinstance(inner._cache, NullCache)


def _is_generator(variable: Any) -> bool:
    return type(variable.type).__name__ == "RandomGeneratorType"


def _source_of_values(inner: Any) -> Any:
    def values(theta: Any, found: Any) -> None:
        numbers = inner(theta)[0]
        for place in range(found.size):
            found[place] = numbers[place]

    return values


def _source_of_weighted(inner: Any) -> Any:
    def weighted(theta: Any, weight: Any, found: Any) -> None:
        numbers = inner(theta, np.array(weight))[0]
        for place in range(found.size):
            found[place] = numbers[place]

    return weighted


def _source_of_drawn(inner: Any) -> Any:
    def drawn(rng: Any, found: Any) -> None:
        numbers = inner(rng)[0]
        for place in range(found.size):
            found[place] = numbers[place]

    return drawn


def _source_of_shown(inner: Any) -> Any:
    def shown(rng: Any, theta: Any, found: Any) -> None:
        numbers = inner(theta)[0]
        for place in range(found.size):
            found[place] = numbers[place]

    return shown


_SOURCES = {
    "values": _source_of_values,
    "weighted": _source_of_weighted,
    "drawn": _source_of_drawn,
    "shown": _source_of_shown,
}
