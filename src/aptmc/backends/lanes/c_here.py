"""The C code of lanes on this machine's processors, where there is a compiler for it.

It is the code that a GPU is given, and computes what numba's does, bit for bit, some times as fast:
the generator and the state of a lane stay in registers. Steps of a simulator that can be are made
for several lanes at once, in the processor's vectors. Where there is no compiler, or a function has
no translation, numba's is used.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from aptmc.backends.lanes.advance import compiled_advance
from aptmc.backends.lanes.at_once.source import code_at_once
from aptmc.backends.lanes.cuda.source import written
from aptmc.backends.lanes.fleet import Voyage
from aptmc.backends.lanes.model import LaneModel
from aptmc.compiled import FloatTable
from aptmc.errors import InputError
from aptmc.translation import Module

COMPILERS = ("cc", "gcc", "clang")
# No two operations are made into one, as numba does it; -O2 and beyond were slower.
OPTIONS = ("-x", "c++", "-O1", "-fno-math-errno", "-ffp-contract=off", "-shared", "-fPIC", "-w")
# For several lanes at once: with all that this very processor knows. The code calls its `advance`;
# libc has another function of that name, which must not come first.
AT_ONCE = ("-march=native", "-Wl,-Bsymbolic")
ONE_BY_ONE = "c one by one"
NUMBA = "numba"
WAYS = ("auto", "c", ONE_BY_ONE, NUMBA)


def advance_here(voyage: Voyage, way: str) -> Callable[..., None]:
    """The function that takes lanes on, as `compiled_advance` describes it.

    :param way: "c", "c one by one", "numba", or "auto": C if that can be had
    """
    if compiler_here(voyage, way) == NUMBA:
        return compiled_advance(voyage.model)
    return _in_c(voyage, several=way != ONE_BY_ONE)


def compiler_here(voyage: Voyage, way: str) -> str:
    """Which of the compilers that is: "C" or "numba"."""
    if way != NUMBA:
        try:
            _in_c(voyage, several=way != ONE_BY_ONE)
        except InputError:
            if way != "auto":
                raise
        else:
            return "C"
    return NUMBA


def _in_c(voyage: Voyage, *, several: bool) -> Callable[..., None]:
    model, kept = voyage.model, voyage.model.problem.compiled_moves
    tuned = voyage.tuning.shape[1]
    code = ("lanes in c", model.steps, model.stages, model.factor, tuned, several)
    if code not in kept:
        # Moves know nothing of the ladder: so the code of one rung will do for all.
        one_rung = replace(voyage, levels=voyage.levels[:1], of_group=(), takes_all=False)
        source, functions = written(one_rung, 64, on_gpu=False)
        several_at_once = _several_at_once(model, source, functions) if several else None
        kept[code] = several_at_once or _calling(_library(source))
    return kept[code]


def _several_at_once(
    model: LaneModel, source: str, functions: Module
) -> Callable[..., None] | None:
    """Several lanes at once, if this processor and the simulator's step are made for that."""
    if model.steps is None:
        return None
    try:
        added = code_at_once(model, functions)
        library = _library(f"#include <immintrin.h>\n{source}\n{added}", AT_ONCE)
    except InputError:
        return None
    return _calling(library, several=True)


def _calling(library: ctypes.CDLL, *, several: bool = False) -> Callable[..., None]:
    number = ctypes.c_longlong

    def advance(
        first: int, last: int, ticks: Any, groups: int, first_group: int, all_groups: int,
        seed: int, levels: Any, tuning: FloatTable, reals: Any, wholes: Any, words: Any,
    ) -> None:  # fmt: skip
        limits = np.ascontiguousarray(ticks, np.int64)
        numbers = np.ascontiguousarray(tuning)
        library.only(number(first), number(last))
        go_on = library.advance_at_once if several else library.advance
        go_on(
            number(reals.shape[1]), number(groups), number(first_group), number(all_groups),
            *(() if several else (number(0),)), _pointer(limits), number(seed), _pointer(levels),
            _pointer(numbers), number(numbers.shape[1]), _pointer(reals), _pointer(wholes),
            _pointer(words),
        )  # fmt: skip

    return advance


@cache
def _library(source: str, more: tuple[str, ...] = ()) -> ctypes.CDLL:
    """The code, compiled and loaded; once in a process."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise InputError(
            f'there is no C compiler here ({", ".join(COMPILERS)}): use compiler="numba"'
        )
    with tempfile.TemporaryDirectory() as folder:
        code, made = Path(folder, "lanes.cpp"), Path(folder, "lanes.so")
        code.write_text(source)
        done = subprocess.run(
            [compiler, *OPTIONS, *more, "-o", str(made), str(code), "-lm"],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            said = done.stderr.strip().partition("\n")[0]
            raise InputError(f'{compiler} cannot compile lanes: {said}; use compiler="numba"')
        return ctypes.CDLL(str(made))


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
