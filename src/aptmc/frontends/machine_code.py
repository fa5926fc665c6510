"""Functions of a model as machine code that travels: workers have no need of the model's language.

A modelling language takes seconds to load and to compile. So a function of a model is compiled
once, is kept on disk, and goes to other processes as the bytes of its code, in the form in which
numba keeps such things. Where that cannot be (another kind of processor, code that refers to an
address of this process) it is made again there from its recipe.
"""

from __future__ import annotations

import pickle
import platform
import warnings
from collections.abc import Callable
from dataclasses import InitVar, dataclass
from functools import cached_property
from importlib import import_module
from io import BytesIO
from types import FunctionType
from typing import Any, final

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from numba.core.compiler import CompileResult
from numba.core.environment import Environment, lookup_environment
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.serialize import dumps

from aptmc.compiled import Floats, Generator, compiler_words, signature_of
from aptmc.errors import InputError
from aptmc.problem.fingerprint import is_uncertain
from aptmc.session.kept_code import keep_bytes, kept_bytes

HERE = __name__
PLAIN = (bool, int, float, complex, str, bytes, type(None), np.dtype, np.generic)


def values_model(theta: Floats, found: Floats) -> None:
    """Write numbers that belong to some coordinates."""
    raise NotImplementedError("a model of the signature, not to be called")


def weighted_model(theta: Floats, weight: float, found: Floats) -> None:
    """The same with a weight."""
    raise NotImplementedError("a model of the signature, not to be called")


def drawn_model(rng: Generator, found: Floats) -> None:
    """Write numbers that were drawn."""
    raise NotImplementedError("a model of the signature, not to be called")


def shown_model(rng: Generator, theta: Floats, found: Floats) -> None:
    """Write what users see at some coordinates."""
    raise NotImplementedError("a model of the signature, not to be called")


MODELS: dict[str, Callable[..., Any]] = {
    "values": values_model,
    "weighted": weighted_model,
    "drawn": drawn_model,
    "shown": shown_model,
}


@final
@dataclass(eq=False)
class MachineCode:
    """A function of a model: by its identity, as a recipe, and as machine code.

    The fields are what stores tell it by; the rest says how it is made.

    :param identity: a checksum of all that it computes; stores tell by it whether it has changed
    :param kind: its signature, one of `MODELS`
    :param maker: module and name of a function that makes it from the recipe, where it must be made
    :param recipe: bytes for the maker
    :param versions: of the libraries that have a part in it
    """

    identity: str
    kind: str
    maker: InitVar[tuple[str, str]]
    recipe: InitVar[bytes]
    versions: InitVar[str]

    def __post_init__(self, maker: tuple[str, str], recipe: bytes, versions: str) -> None:
        self._maker = maker
        self._recipe = recipe
        self._made_for = made_for(versions)
        self._versions = versions
        self._code: bytes | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All but the function itself: that belongs to this process.

        It is made before it travels, so that nobody else has to load the model's language.
        """
        _ = self.function
        return {
            name: value for name, value in vars(self).items() if name not in ("function", "source")
        }

    def __call__(self, *arguments: Any) -> None:
        """Called from Python."""
        self.function(*arguments)

    @property
    def is_portable(self) -> bool:
        """Whether it travels as machine code."""
        return self._code is not None

    @cached_property
    def function(self) -> Any:
        """To be called from Python and from compiled code."""
        if self._made_for != made_for(self._versions):
            self._code = None  # it comes from another kind of machine
        if self._code is None and not is_uncertain(self.identity):
            self._code = kept_bytes(self._place)
        if self._code is not None:
            found = loaded(self._code, self._stub(is_portable=True))
            if found is not None:
                return found
        return self._made()

    @property
    def is_written_out(self) -> bool:
        """Whether its source can be translated, and draws from whatever generator it is given."""
        return bool(getattr(import_module(self._maker[0]), "IS_WRITTEN_OUT", False))

    @cached_property
    def source(self) -> Any:
        """The same function, not yet compiled."""
        module, name = self._maker
        source, _ = getattr(import_module(module), name)(self._recipe)
        return numba.njit(nogil=True, error_model="numpy")(source)

    @property
    def _place(self) -> str:
        return repr((self.identity, self.kind, self._made_for))

    def _made(self) -> Any:
        module, name = self._maker
        source, is_portable = getattr(import_module(module), name)(self._recipe)
        compiled = numba.njit(nogil=True, error_model="numpy")(source)
        try:
            with warnings.catch_warnings():
                # What numba does not keep on disk, because it holds an address, is made again.
                warnings.filterwarnings("ignore", message=".*Cannot cache compiled function")
                compiled.compile(signature_of(MODELS[self.kind]))
        except numba.core.errors.NumbaError as error:
            raise InputError(
                f"numba cannot compile a function of the model: {compiler_words(error)}"
            ) from error
        (result,) = compiled.overloads.values()
        self._code = as_bytes(result) if is_portable else None
        if self._code is not None and not is_uncertain(self.identity):
            keep_bytes(self._place, self._code)
        found = dispatcher_of(result, self._stub(is_portable=self.is_portable))
        found.made_as = compiled  # which, when it goes, takes its code along
        return found

    def _stub(self, *, is_portable: bool) -> FunctionType:
        """What stands for the source: its closure says all that the code depends on.

        Code that holds an address must not be kept with moves that call it: a closure over an
        object of no known kind says so.
        """
        content = (self._place, None if is_portable and not is_uncertain(self.identity) else _NONE)
        return _STUBS[self.kind](content)


def made_for(versions: str) -> tuple[Any, ...]:
    """On which machine, and by which libraries, code is made."""
    machine = cpu_target.target_context.codegen().magic_tuple()
    libraries = (numba.__version__, llvmlite.__version__, np.__version__, versions)
    return (*machine, platform.machine(), platform.python_version(), *libraries)


# --- as bytes, and back ---------------------------------------------------------------------------


def as_bytes(result: Any) -> bytes | None:
    """Compiled code as bytes, as numba keeps it; None if it refers to this process."""
    if result.lifted or result.library.has_dynamic_globals:
        return None
    library, described, environment, *middle, environments = result._reduce()
    own = [_environment_as_plain(one) for one in (environment, *environments)]
    if any(one is None for one in own):
        return None
    try:
        return bytes(dumps((library, described, own, middle)))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


def _environment_as_plain(environment: Any) -> tuple[str, list[Any], str] | None:
    """What compiled code needs of Python, and of which module it must be.

    numba would import the module in which the function was made. If the code needs nothing of it,
    this one will do.
    """
    constants = list(environment.consts)
    is_free = all(isinstance(value, PLAIN) for value in constants)
    module = HERE if is_free else environment.globals.get("__name__")
    return None if module is None else (module, constants, environment.env_name)


def _environment_from(module: str, constants: list[Any], name: str) -> Any:
    found = lookup_environment(name)
    if found is None:
        found = Environment(import_module(module).__dict__)
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found


def loaded(code: bytes, stub: FunctionType) -> Any:
    """The function whose code this is; None if it cannot be read."""
    context = cpu_target.target_context
    context.refresh()
    try:
        library, described, environments, middle = pickle.load(BytesIO(code))
        own, *others = (_environment_from(*one) for one in environments)
        parts = (library, described, own, *middle, tuple(others))
        return dispatcher_of(CompileResult._rebuild(context, *parts), stub)
    except Exception:  # not whole, or of another version: make it again
        return None


def dispatcher_of(result: Any, stub: FunctionType) -> Any:
    """Compiled code as a function that Python and compiled code call."""
    dispatcher: Any = CPUDispatcher(stub, targetoptions={"nopython": True, "nogil": True})
    entry = result.entry_point
    dispatcher.targetctx.insert_user_function(entry, result.fndesc, [result.library])
    dispatcher.add_overload(result)
    dispatcher.disable_compile()
    return dispatcher


# --- what stands for the source -------------------------------------------------------------------

_NONE = object()


def _stub_of_values(content: Any) -> FunctionType:
    def values(theta: Any, found: Any) -> Any:
        return content

    return _elsewhere(values)


def _stub_of_weighted(content: Any) -> FunctionType:
    def weighted(theta: Any, weight: Any, found: Any) -> Any:
        return content

    return _elsewhere(weighted)


def _stub_of_drawn(content: Any) -> FunctionType:
    def drawn(rng: Any, found: Any) -> Any:
        return content

    return _elsewhere(drawn)


def _stub_of_shown(content: Any) -> FunctionType:
    def shown(rng: Any, theta: Any, found: Any) -> Any:
        return content

    return _elsewhere(shown)


def _elsewhere(stub: Callable[..., Any]) -> FunctionType:
    """The same as if it came from the user: nobody then takes the stub for a source to run."""
    assert isinstance(stub, FunctionType)
    stub.__module__ = "model"
    return stub


_STUBS = {
    "values": _stub_of_values,
    "weighted": _stub_of_weighted,
    "drawn": _stub_of_drawn,
    "shown": _stub_of_shown,
}
