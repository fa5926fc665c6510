"""What is compiled and cached on disk stays right, whoever wrote it there."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from inspect import isgeneratorfunction
from typing import Annotated

import numba
import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

import aptmc
from aptmc.backends.virtual.event_loop import run_until
from aptmc.compiled import AtFirstUse, compiled, pointer_to
from aptmc.targets import at_hand, interpreted

# In a compiled function's name: the number by which its process tells it from others.
NUMBER = re.compile(r"B\d+v\d+")
DEFINITION = re.compile(r"^define [^@]*@\"?([\w.]+)\"?\(.*?^}", re.MULTILINE | re.DOTALL)
# What may differ between two compilations of the same function: names and numbers of values.
INCIDENTAL = re.compile(r"%[\w.]+|@(?!llvm)[\w.\"-]+|![\w.]+|#\d+")


def cached_functions() -> Iterator[tuple[str, CPUDispatcher]]:
    """All functions of the library that numba keeps on disk."""
    for module in pkgutil.walk_packages(aptmc.__path__, "aptmc."):
        for name, value in vars(importlib.import_module(module.name)).items():
            holders = [value, *vars(value).values()] if isinstance(value, type) else [value]
            for held in holders:
                function = getattr(held, "__func__", held)
                if isinstance(function, AtFirstUse):
                    function.make_ready()
                    yield f"{module.name}.{name}", function


def bodies_by_name(function: CPUDispatcher) -> dict[str, set[str]]:
    """The code of all functions that a compiled function brings along, by name without number."""
    bodies = defaultdict(set)
    for overload in function.overloads.values():
        # numba's own way to show the code refuses what comes from the cache.
        for definition in DEFINITION.finditer(str(overload.library._get_module_for_linking())):
            name = definition.group(1)
            if NUMBER.search(name):
                body = definition.group(0).partition("\n")[2]
                bodies[NUMBER.sub("", name)].add(INCIDENTAL.sub("", body))
    return bodies


def ambiguous_names(function: CPUDispatcher) -> list[str]:
    """Names that stand for several functions, told apart by nothing but their number."""
    return [name for name, bodies in bodies_by_name(function).items() if len(bodies) > 1]


@numba.njit
def smallest_and_largest(values):
    # Both are called more than once, lest they be inlined and leave no name.
    return min(values) - max(values) + min(values[1:]) * max(values[1:])


def test_names_that_stand_for_two_functions_are_found():
    smallest_and_largest(np.arange(3))
    assert any("min_max_impl" in name for name in ambiguous_names(smallest_and_largest))


def test_no_cached_function_has_ambiguous_names():
    functions = dict(cached_functions())
    assert len(functions) > 40
    assert any("exchange_round" in name for name in bodies_by_name(run_until))
    assert {name: found for name, one in functions.items() if (found := ambiguous_names(one))} == {}


def test_the_cache_refers_to_the_source_of_a_generator_by_name():
    """Otherwise numba would keep the source and all that it calls, to be compiled at each load."""
    generators = [one.py_func for _, one in cached_functions() if isgeneratorfunction(one.py_func)]
    assert len(generators) >= 1
    for source in generators:
        assert getattr(sys.modules[source.__module__], source.__qualname__) is source


# --- compiled at first use ------------------------------------------------------------------------


@compiled
def half(value: float) -> float:
    return value / 2


@compiled
def quarter(value: float) -> float:
    return half(half(value))


def called(function: Annotated[Callable[..., float], pointer_to(half)], value: float) -> float:
    return function(value)


def test_importing_compiles_nothing():
    code = (
        "import aptmc, numba; from aptmc import VirtualTime, Processes, Anytime, sample\n"
        "from aptmc.backends.virtual.event_loop import run_until\n"
        "from aptmc.session.standing_by import stand_by_to_answer\n"
        "assert not run_until.signatures and not stand_by_to_answer.signatures\n"
        "assert not Anytime.next_deadline.signatures\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


LOADING = """
import sys
from numba.core.registry import cpu_target
from aptmc.targets.compile_ahead import all_functions
assert all(function.load() for function in all_functions())
print("numba.np.linalg" in sys.modules)
cpu_target.target_context.refresh()  # as the compiler does first
print("numba.np.linalg" in sys.modules)
"""


def test_everything_is_loaded_without_what_only_the_compiler_needs():
    """If an address were missing, the process would crash."""
    for _ in cached_functions():
        pass
    done = subprocess.run(
        [sys.executable, "-c", LOADING], check=True, stdout=subprocess.PIPE, text=True
    )
    assert done.stdout.split() == ["False", "True"]


def test_a_function_is_compiled_for_the_types_of_its_annotations_whoever_calls_it_first():
    for function in (half, quarter):
        assert function.signatures == []
        function._cache.flush()  # what an earlier run has left there would be loaded, alone
    # From Python with another type, which is converted; from compiled code; through a pointer.
    assert quarter(6) == 1.5
    assert half.signatures == quarter.signatures == [(numba.float64,)]
    assert half(3) == 1.5
    assert compiled(called)(quarter, 8) == 2.0
    assert interpreted(quarter)(2.0) == 0.5
    with pytest.raises(TypeError):
        half("a")
    assert half.signatures == [(numba.float64,)]


def test_a_pointer_is_enough_to_have_a_function_compiled():
    @compiled
    def third(value: float) -> float:
        return value / 3

    assert compiled(called)(third, 6) == 2.0
    assert third.signatures == [(numba.float64,)]


@compiled
def seventh(value: float) -> float:
    return value / 7


def test_threads_may_come_first_together():
    start = threading.Barrier(4)

    def call(value: float) -> float:
        start.wait()
        return seventh(value)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(call, [7.0, 14.0, 21.0, 28.0])) == [1.0, 2.0, 3.0, 4.0]
    assert seventh.signatures == [(numba.float64,)]


@compiled
def fifth(value: float) -> float:
    return value / 5


@compiled
def sixth(value: float) -> float:
    return value / 6


def test_what_a_plain_function_calls_can_be_made_ready():
    def inner(value):
        return fifth(value)

    helper = sixth

    def outer(value):
        return inner(value) + helper(value)

    assert at_hand(outer) is outer
    assert fifth.signatures == sixth.signatures == [(numba.float64,)]
