"""Machine code that is kept on disk: never for another function, never out of date."""

from __future__ import annotations

import ctypes
import math
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba import njit
from numba.extending import overload
from scipy import stats

import aptmc
from aptmc.compiled import OUR_NUMBERS
from aptmc.keys import Key
from aptmc.session import code_content
from aptmc.session.code_content import Unknown, content_of, is_numbered_apart
from aptmc.session.kept_code import KEPT_ON_DISK, KeptCode
from aptmc.session.orders import Mover, Order
from aptmc.targets import Target

TEXT = """
def helper(x):
    return x * FACTOR

helper = njit(helper)

def function(x, y=1.0):
    return helper(x) + CONSTANTS[0] + y + math.sqrt(2.0) + Pair(1.0, 2.0).left

def make(offset):
    def inner(x):
        return function(x) + offset
    return inner
"""


class Pair(NamedTuple):
    left: float
    right: float


def written(text=TEXT, offset=3.0, options=None, **changes) -> Callable[..., float]:
    """A function that closes over a number, and calls compiled functions that use others."""
    surroundings = {
        "__name__": "written", "math": math, "Pair": Pair, "FACTOR": 2.0,
        "CONSTANTS": np.array([1.0, 2.0]), "njit": njit, **changes,
    }  # fmt: skip
    exec(text, surroundings)
    surroundings["function"] = njit(**(options or {}))(surroundings["function"])
    return surroundings["make"](offset)


def read_only(array):
    array.setflags(write=False)
    return array


def test_the_same_function_has_the_same_content():
    assert content_of(written()) == content_of(written())
    # A comment is no part of it.
    assert content_of(written(TEXT + "# the end\n")) == content_of(written())


CHANGES = {
    "a closure": {"offset": 4.0},
    "the kind of a number": {"offset": 3},
    "the sign of zero": {"offset": -0.0},
    "a global of a called function": {"FACTOR": 2.5},
    "an array": {"CONSTANTS": np.array([1.0, 3.0])},
    "an array's kind": {"CONSTANTS": np.array([1.0, 2.0], np.float32)},
    "an array's layout": {"CONSTANTS": np.array([1.0, 9.0, 2.0])[::2]},
    "an array that may not be written to": {"CONSTANTS": read_only(np.array([1.0, 2.0]))},
    "the body of a called function": {"text": TEXT.replace("x * FACTOR", "x / FACTOR")},
    "a name": {"text": TEXT.replace("math.sqrt", "math.cbrt")},
    "a default": {"text": TEXT.replace("y=1.0", "y=1.5")},
    "a constant": {"text": TEXT.replace("sqrt(2.0)", "sqrt(3.0)")},
    "an option of the compiler": {"options": {"fastmath": True}},
    "a signature": {"options": {"signature_or_function": "float32(float32, float32)"}},
    "the fields of a tuple": {"Pair": NamedTuple("Pair", [("right", float), ("left", float)])},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_is_changed_gives_another_content(change):
    zero = {"offset": 0.0} if change.get("offset") == 0.0 else {}
    assert content_of(written(**change)) != content_of(written(**zero))


def plain(x):
    return x


UNKNOWN = {
    "a module": {"math": types.ModuleType("users_own")},
    "an object": {"FACTOR": object()},
    "a list": {"FACTOR": [1.0]},
    "a plain function": {"math": plain},
    "a method of an object": {"FACTOR": np.random.default_rng(1).random},
    "a function of numpy's kind": {"FACTOR": np.frompyfunc(abs, 1, 1)},
    "a class from nowhere": {"Pair": type("Pair", (), {"__module__": "builtins"})},
    "a class": {"Pair": type("Pair", (), {})},
    "a pointer": {"FACTOR": ctypes.CDLL(None).abs},
    "objects in an array": {"CONSTANTS": np.array([None])},
}


@pytest.mark.parametrize("change", UNKNOWN.values(), ids=UNKNOWN)
def test_nothing_is_kept_of_what_cannot_be_told(change):
    with pytest.raises(Unknown):
        content_of(written(**change))


def test_nothing_is_kept_once_numba_was_taught_more(monkeypatch):
    """What a function of numpy does may then be anything."""
    registry = code_content.builtin_registry
    monkeypatch.setattr(registry, "functions", list(registry.functions))
    content_of(written())

    @overload(plain)
    def as_plain(x):
        return lambda x: x

    with pytest.raises(Unknown, match="taught"):
        content_of(written())


def problem_at(centre):
    @njit
    def log_likelihood(theta):
        return -0.5 * (theta[0] - centre) ** 2

    return aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.norm(0.0, 2.0)))


class Looking(Target):
    """Compiles nothing, and notes what could be kept."""

    is_compiled = True

    def __init__(self):
        self.contents = []

    def like(self, model, function):
        self.contents.append(content_of(function))
        return njit(function)

    within = brief = like

    def helper(self, function):
        return njit(function)

    def library(self, function):
        return function


@pytest.mark.parametrize(
    "kernel",
    [
        aptmc.RandomWalk(1.0),
        aptmc.Slice(1.0),
        aptmc.Mixture(aptmc.RandomWalk(1.0), aptmc.Slice(1.0)),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_the_moves_of_all_kernels_can_be_kept(kernel):
    contents = []
    for centre in (1.0, 1.0, 2.0):
        looking = Looking()
        kernel.move(problem_at(centre), looking)
        contents.append(looking.contents[-1])
    assert contents[0] == contents[1] != contents[2]


def test_the_moves_of_a_simulator_can_be_kept():
    kernel = aptmc.OneHit(1.0)
    simulate, distance = (
        njit(lambda theta, rng: theta),
        njit(lambda one, other: abs(one - other)[0]),
    )
    problem = aptmc.Abc(simulate, aptmc.Prior(x=stats.norm()), [0.0], distance)
    looking = Looking()
    kernel.move(problem, looking)
    assert looking.contents


# --- numbers of functions -------------------------------------------------------------------------


def test_what_bears_a_number_that_another_process_may_give_is_not_kept():
    @njit
    def called(x):
        return x

    def calls(x):
        return called(x)

    called(1.0)
    assert is_numbered_apart(calls)
    for compiled in called.overloads.values():
        compiled.fndesc.uid = 5
    assert not is_numbered_apart(calls)


def test_copies_of_a_process_count_from_numbers_of_their_own():
    script = """
import os
import aptmc.session.kept_code
from numba.core.bytecode import FunctionIdentity
copy = os.fork()
os.write(1, f"{next(FunctionIdentity._unique_ids)}\\n".encode())
if copy:
    assert os.waitpid(copy, 0)[1] == 0
"""
    output = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    first, second = map(int, output.split())
    assert abs(first - second) > 1_000_000
    assert min(first, second) >= OUR_NUMBERS


# --- on disk --------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path / "moves"


def moved(centre):
    """A move of a new problem, and what came of it."""
    problem = problem_at(centre)
    kernel = aptmc.RandomWalk(1.0)
    mover = Mover(problem, kernel, seed=1)
    tuning = kernel.tuning(problem, aptmc.Ladder.powers(2))[0]
    tuning[0] = 20.0
    start = np.array([0.5, -0.5 * (0.5 - centre) ** 2, problem.prior.log_density([0.5])])
    outcome = mover.compute(Order(Key(1, 0, 1), 0, 1.0, tuning, start))
    return mover, outcome.state


def was_kept(mover) -> bool:
    """Whether its machine code was found, rather than compiled."""
    return sum(mover.move.stats.cache_hits.values()) == 1


def test_a_move_is_compiled_once_and_found_from_then_on(folder):
    first, outcome = moved(centre=1.0)
    assert not was_kept(first)
    again, same_outcome = moved(centre=1.0)
    assert was_kept(again)
    assert (same_outcome == outcome).all()
    # It is the code of this problem and no other.
    other, other_outcome = moved(centre=3.0)
    assert not was_kept(other)
    assert (other_outcome != outcome).any()
    for path in folder.glob("*.code"):
        path.write_bytes(path.read_bytes()[:1000])  # half-written by someone, or damaged
    damaged, outcome_then = moved(centre=1.0)
    assert not was_kept(damaged)
    assert (outcome_then == outcome).all()
    assert was_kept(moved(centre=1.0)[0])


def test_without_a_place_to_write_to_it_is_compiled(monkeypatch):
    def function(x):
        return x

    monkeypatch.setattr(numba.config, "CACHE_DIR", "/proc/nowhere")
    assert KEPT_ON_DISK.like(_twice, function)(2.0) == 2.0


def _twice(x: float) -> float:
    return 2.0 * x


def test_only_so_much_is_kept(folder, monkeypatch):
    monkeypatch.setattr("aptmc.session.kept_code.MOST_KEPT", 2)
    found = set()
    for factor in (1.0, 2.0, 3.0):

        def function(x, factor=factor):
            return x * factor

        found |= set(folder.glob("*.code"))
        compiled = njit(function)
        compiled._cache = KeptCode(function, str(factor))
        assert compiled(1.0) == factor
    assert len(list(folder.glob("*.code"))) == 2
    assert Path(folder).exists()
