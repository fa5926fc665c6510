"""How aptmc compiles: one decorator, and the types that cross the border into compiled code.

The coordinator and the virtual-time loop are compiled once, when they are first used, and cached on
disk. What belongs to one problem (a user's density, a kernel built around it) reaches them as a
function pointer with a fixed signature, so a new problem costs the compilation of that problem
only. What changes in a run stands in a few tables with named columns, since a compiler takes the
longer the more arrays are handed from one function to the next.

One trap: numba tells two compiled functions apart by name, types and a number that it counts up in
each process. Where one name stands for several functions, as `min` and `max` of an array do (both
are `min_max_impl.<locals>.impl`), code that several processes wrote to one cache can get one for
the other. So each process counts from a random number of its own; and `tests/test_compiled.py` sees
to it that no cached function of the library uses such names.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from secrets import randbits
from typing import Annotated, Any, TypeVar, cast, final, get_type_hints

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys

from aptmc.garbage import uncollected

Function = TypeVar("Function", bound=Callable[..., Any])
Recipe = tuple[Callable[..., Any], tuple[Any, ...]]  # a call

# An annotation carries its compiled type along, so that a signature is written once.
Integers = Annotated[npt.NDArray[np.int64], types.int64[::1]]
Floats = Annotated[npt.NDArray[np.float64], types.float64[::1]]
Flags = Annotated[npt.NDArray[np.bool_], types.boolean[::1]]
Words = Annotated[npt.NDArray[np.uint64], types.uint64[::1]]
HalfWords = Annotated[npt.NDArray[np.uint32], types.uint32[::1]]
IntegerTable = Annotated[npt.NDArray[np.int64], types.int64[:, ::1]]
FloatTable = Annotated[npt.NDArray[np.float64], types.float64[:, ::1]]
FloatTables = Annotated[npt.NDArray[np.float64], types.float64[:, :, ::1]]
# Arrays that a compiled function does not change, so that they may be constants of a closure.
ConstantIntegers = Annotated[npt.NDArray[np.int64], types.Array(types.int64, 1, "C", readonly=True)]
ConstantFloats = Annotated[
    npt.NDArray[np.float64], types.Array(types.float64, 1, "C", readonly=True)
]
ConstantFloatTable = Annotated[
    npt.NDArray[np.float64], types.Array(types.float64, 2, "C", readonly=True)
]
ConstantIntegerTable = Annotated[
    npt.NDArray[np.int64], types.Array(types.int64, 2, "C", readonly=True)
]
Generator = Annotated[np.random.Generator, numba.typeof(np.random.Generator(np.random.Philox(0)))]

TRIED = (0, 68)  # version of numba
_PLAIN = {int: types.int64, float: types.float64, bool: types.boolean, type(None): types.void}


def compiled_type(annotation: Any) -> Any:
    """The numba type of an annotation: a scalar, an array above, a function, or a named tuple."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if hasattr(annotation, "__metadata__"):
        return annotation.__metadata__[0]
    if hasattr(annotation, "_fields"):
        hints = get_type_hints(annotation, include_extras=True)
        return types.NamedTuple([compiled_type(hints[f]) for f in annotation._fields], annotation)
    raise TypeError(f"no compiled type is known for the annotation {annotation!r}")


def signature_of(function: Callable[..., Any]) -> Any:
    """The numba signature that a function's annotations spell out."""
    result = get_type_hints(function, include_extras=True)["return"]
    return compiled_type(result)(*_arguments_of(function))


def _arguments_of(function: Callable[..., Any]) -> tuple[Any, ...]:
    hints = get_type_hints(function, include_extras=True)
    return tuple(compiled_type(hint) for name, hint in hints.items() if name != "return")


def pointer_to(function: Callable[..., Any]) -> Any:
    """The type of a pointer to any function with the annotations of this one."""
    return types.FunctionType(signature_of(function))


def table_of(kind: npt.DTypeLike) -> Any:
    """The compiled type of a table: an array of rows with named columns."""
    return types.Array(numba.from_dtype(np.dtype(kind)), 1, "C")


@final
class AtFirstUse(CPUDispatcher):
    """A function that numba compiles for the types of its annotations, when it is first used.

    numba itself either compiles at once, or for whatever types it is called with. It asks these two
    methods, which are its own affair, when it does not know what to call: the one for a call from
    Python, the other for one from compiled code (`tests/test_compiled.py` would notice a change).

    :ivar model: a function that has the annotations; None: its own source
    :ivar recipe: how another process makes one that is not found there by its name
    :ivar refusal: what is raised if it cannot be compiled, made from what numba raises
    """

    model: Callable[..., Any] | None = None
    recipe: Recipe | None = None
    refusal: Callable[[Exception], Exception] | None = None

    def make_ready(self) -> None:
        """Compile, or load from disk."""
        if self.signatures:
            return
        with global_compiler_lock:  # another thread may be at it
            if not self.signatures:
                try:
                    with uncollected():
                        self.compile(self._signature())
                except Exception as error:
                    raise error if self.refusal is None else self.refusal(error) from error
                self.disable_compile()

    def load(self) -> bool:
        """Load from disk, if it is there; whether it can be called now without compiling it."""
        if self.signatures:
            return True
        with global_compiler_lock:
            if not self.signatures:
                cache: Any = self._cache  # type: ignore[attr-defined]
                is_ours = self.model is None  # what a user's function needs is not known
                with _unprepared(self.targetctx) if is_ours else nullcontext():
                    found = cache.load_overload(self._signature(), self.targetctx)
                if found is None:
                    return False
                self.targetctx.insert_user_function(
                    found.entry_point, found.fndesc, [found.library]
                )
                self.add_overload(found)
                self.disable_compile()
        return True

    def is_on_disk(self) -> bool:
        """Whether it could be loaded. That takes less time than to load it."""
        cache: Any = self._cache  # type: ignore[attr-defined]
        machine: Any = self.targetctx
        if self.model is not None:
            return hasattr(cache, "holds") and bool(cache.holds(self._signature(), machine))
        key = cache._index_key(self._signature(), machine.codegen())
        return key in cache._cache_file._load_index()

    @property
    def cache_folder(self) -> str:
        """Where on disk it is kept."""
        return str(self._cache.cache_path)  # type: ignore[attr-defined]

    @property
    def is_inlined(self) -> bool:
        """Whether compiled callers hold a copy of it, so that nobody calls it."""
        return self.targetoptions.get("inline") == "always"

    def _signature(self) -> Any:
        source = self.model or self.py_func
        return (
            _arguments_of(source) if inspect.isgeneratorfunction(source) else signature_of(source)
        )

    def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
        self.make_ready()
        return self  # which is then called

    def get_call_template(self, arguments: Any, named: Any) -> Any:
        """What compiled code calls."""
        self.make_ready()
        return super().get_call_template(arguments, named)

    def get_compile_result(self, signature: Any) -> Any:
        """What is behind a pointer to this function."""
        self.make_ready()
        return super().get_compile_result(signature)


@contextmanager
def _unprepared(machine: Any) -> Iterator[None]:
    """Have numba load a function of the library without making ready to compile.

    That takes half a second, as long as all else that a worker does at its start. Machine code
    needs none of it: only memory, and the addresses of some functions, which numba has at hand from
    the start (`tests/test_compiled.py` loads everything so). In other versions than the one that
    was tried, numba is left alone: without an address Python would crash.
    """
    if numba.version_info.short != TRIED or "refresh" in vars(machine):
        yield
        return
    rtsys.initialize(machine)
    machine.refresh = lambda: None
    try:
        yield
    finally:
        del machine.refresh


def _at_first_use(function: Function, **options: Any) -> Function:
    """Release the GIL, and divide by zero as numpy does."""
    options = {"nopython": True, "nogil": True, "error_model": "numpy", **options}
    dispatcher = AtFirstUse(function, targetoptions=options)
    return cast(Function, dispatcher)


def _kept(function: Function) -> Function:
    """Kept on disk by numba, since its source stands in a file."""
    cast(AtFirstUse, function).enable_caching()
    return function


def compiled(function: Function) -> Function:
    """Compile a function of the library from its annotations, when it is first used."""
    return _kept(_at_first_use(function))


def inlined(function: Function) -> Function:
    """Like `compiled`, and copied into compiled callers: for functions of a line or two."""
    return _kept(_at_first_use(function, inline="always"))


@inlined
def copy_numbers(source: Floats, target: Floats) -> None:
    """As `target[:] = source`, which would bring along what numba has to say if shapes differ."""
    for place in range(source.shape[0]):
        target[place] = source[place]


def standing_by(function: Function) -> Function:
    """Like `compiled`, for a generator function: its arguments are handed over once.

    Not to be used as a decorator. On disk, numba refers to the source of a generator by its name.
    If that name means something else by then, numba keeps the source instead, with all that it
    calls, and compiles it once more whenever it is loaded.
    """
    return _kept(_at_first_use(function))


def compiled_like(model: Callable[..., Any], function: Function, kept: Any = None) -> Function:
    """Compile a function that belongs to one problem, with the signature of `model`.

    :param kept: where its machine code is looked for, and kept: one of numba's caches
    """
    dispatcher = numba.njit(nogil=True, error_model="numpy")(function)
    return cast(Function, _compiled_now(dispatcher, model, kept))


@final
class Within(CPUDispatcher):
    """Machine code for compiled callers alone.

    The ways in, from Python and from C, are half of what there is to compile of a short function:
    numba checks and unwraps each argument there, a generator in three hundred steps.
    """

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Not from Python, where there is no way in, and numba would crash."""
        raise TypeError(f"{self.py_func.__name__} is compiled for compiled callers alone")


def compiled_within(model: Callable[..., Any], function: Function, kept: Any = None) -> Function:
    """The same for compiled callers alone."""
    ways_in = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    options = {"nopython": True, "nogil": True, "error_model": "numpy", **ways_in}
    return cast(Function, _compiled_now(Within(function, targetoptions=options), model, kept))


def _compiled_now(dispatcher: Any, model: Callable[..., Any], kept: Any) -> Any:
    if kept is not None:
        dispatcher._cache = kept
    with uncollected():
        dispatcher.compile(signature_of(model))
    dispatcher.disable_compile()
    return dispatcher


def copied_like(model: Callable[..., Any], function: Function, kept: Any = None) -> Function:
    """The same for a function of a line or two: copied into compiled callers.

    By itself it is compiled when it is first called from Python, which few are.
    """
    dispatcher: Any = _at_first_use(function, inline="always")
    dispatcher._cache = NullCache() if kept is None else kept
    dispatcher.model = model
    return cast(Function, dispatcher)


def first_used_like(
    model: Callable[..., Any],
    function: Function,
    kept: Any,
    recipe: Recipe | None,
    refusal: Callable[[Exception], Exception],
) -> AtFirstUse:
    """The same when it is first used, or in another process by then."""
    dispatcher: Any = _at_first_use(function)
    dispatcher._cache = NullCache() if kept is None else kept
    dispatcher.model, dispatcher.recipe, dispatcher.refusal = model, recipe, refusal
    return cast(AtFirstUse, dispatcher)


# From this number on, numbers of functions are some that no other process gives.
OUR_NUMBERS = 1 << 40


def number_apart() -> None:
    """Have numba count compiled functions from a place of this process's own: see above."""
    if hasattr(FunctionIdentity, "_unique_ids"):
        FunctionIdentity._unique_ids = count(OUR_NUMBERS + randbits(60))


number_apart()


def source_of(function: Function) -> Function:
    """The Python source of a function that may be compiled.

    From Python it costs several microseconds to hand a generator to compiled code: more than most
    small functions do.
    """
    return cast(Function, getattr(function, "py_func", function))


def keep_source(function: Callable[..., Any], text: str) -> None:
    """Remember the text of a function that stands in no file."""
    function.written_source = text  # type: ignore[attr-defined]


def text_of(function: Callable[..., Any]) -> tuple[list[str], int]:
    """The lines of a function's source, and the number of the first one in its file.

    :raises OSError: if they cannot be found
    """
    kept: str | None = getattr(function, "written_source", None)
    if kept is not None:
        return kept.splitlines(keepends=True), 1
    return inspect.getsourcelines(function)


def compiler_words(error: Exception) -> str:
    """What numba complains of, in one line: it says much more, in colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    words: list[str] = []
    for line in lines:
        if line.startswith(("There are", "During", "File", "- Of which", "- Resolution")) and words:
            break
        if line and not line.startswith("Failed in nopython mode"):
            words.append(line.removeprefix(">>> "))
    where = re.search(r'File "([^"]+)", line (\d+)', text)
    place = f" ({where[1]}, line {where[2]})" if where else ""
    return " ".join(words).rstrip(".:") + place


def is_compiled(function: object) -> bool:
    """Whether a user's function was compiled by numba, so that compiled code may call it."""
    return isinstance(function, CPUDispatcher)


def made_by(maker: Callable[..., Any], *arguments: Any) -> Callable[[Function], Function]:
    """Have a compiled function travel to other processes as a call that makes it again there.

    numba would send its source, and compile that in every process, whatever is cached on disk.
    """

    def marked(function: Function) -> Function:
        function.made_by = (maker, arguments)  # type: ignore[attr-defined]
        return function

    return marked


def call_that_makes(function: object) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """The call by which a compiled function can be made again, if it was marked by `made_by`."""
    return getattr(function, "made_by", None) if is_compiled(function) else None
