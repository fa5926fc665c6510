"""Python as C: the same values, or the line that stands in the way."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest
from numba import njit

from aptmc.backends.lanes.cuda.source import APART, PRIMITIVES, PROBLEM
from aptmc.backends.lanes.draws import DRAWS
from aptmc.backends.lanes.generator import lane_generator, seed_words
from aptmc.translation import (
    GENERATOR,
    PRIMITIVE,
    REAL,
    REALS,
    WHOLE,
    Module,
    Untranslatable,
)
from tests.lanes import translated_functions
from tests.lanes.translated_functions import FUNCTIONS

POINTS = [(0.3, 7), (2.0, 3), (0.75, 4), (5.25, 31), (1.0, 2)]


def new_module():
    return Module({**DRAWS, "random": PRIMITIVE}, APART, primitives=PRIMITIVES)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """All functions, compiled."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler here")
    module, exported = new_module(), []
    for function in FUNCTIONS:
        name, _ = module.translated(function, (REAL, WHOLE))
        head = f'extern "C" double {function.__name__}(double x, long long n)'
        exported.append(f"{head} {{ return {name}(x, n); }}")
    name, _ = module.translated(
        translated_functions.draws_in_order, (REALS, GENERATOR, REALS, REAL)
    )
    exported.append(
        'extern "C" double draws(double *state, long long seed) {'
        "Generator rng = generator_of(seed, 3, 5, 0);"
        f"return {name}(state, rng, state, 0.0); }}"
    )
    text = files("aptmc.backends.lanes.cuda").joinpath("lanes.c").read_text()
    before = text.partition(PROBLEM)[0]
    kinds = "typedef double real; typedef long long whole;\n#define BITS 64\n"
    folder = tmp_path_factory.mktemp("translated")
    code, made = folder / "code.cpp", folder / "code.so"
    code.write_text("\n".join([kinds, before, module.code(), *exported]))
    options = ["-x", "c++", "-O1", "-shared", "-fPIC", "-ffp-contract=off", "-w"]
    subprocess.run([compiler, *options, "-o", made, code, "-lm"], check=True)
    return ctypes.CDLL(str(made))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_function_has_the_same_values(function, library):
    translated = library[function.__name__]
    translated.restype = ctypes.c_double
    values = [translated(ctypes.c_double(x), ctypes.c_longlong(n)) for x, n in POINTS]
    assert values == [function(x, n) for x, n in POINTS]
    assert len(set(values)) > 1


def test_random_numbers_are_drawn_in_the_order_of_python(library):
    step = njit(translated_functions.draws_in_order)

    @njit
    def by_numba(seed, state):
        words = np.empty(4, np.uint32)
        seed_words(words, seed, 3, 5, 0)
        return step(state, lane_generator(words), state, 0.0)

    library.draws.restype = ctypes.c_double
    seen = set()
    for seed in range(200):
        states = np.zeros((2, 4))
        pointer = states[1].ctypes.data_as(ctypes.c_void_p)
        results = by_numba(seed, states[0]), library.draws(pointer, ctypes.c_longlong(seed))
        assert results[0] == results[1]
        assert np.array_equal(*states)
        seen.add(tuple(states[0] > 0.0))
    assert len(seen) > 6  # all branches were taken


def text_in_a_step(theta, rng, state, tolerance):
    state[0] += 1.0
    names = ["a", "b"]
    return len(names)


def unknown_draw(theta, rng, state, tolerance):
    return rng.vonmises(0.0, 1.0)


def part_with_gaps(theta, rng, state, tolerance):
    return state[1::2][0]


def unknown_function(theta, rng, state, tolerance):
    return np.linalg.norm(theta)


def many_at_once(theta, rng, state, tolerance):
    return rng.random(3)


def that_grows(theta, rng, state, tolerance):
    values = np.zeros(int(state[0]))
    return values[0]


def that_raises(theta, rng, state, tolerance):
    if state[0] > 1.0:
        raise ValueError("too large")
    return 0.0


def place_that_is_no_whole_number(theta, rng, state, tolerance):
    return state[state[0]]


def of_two_kinds(theta, rng, state, tolerance):
    found = theta
    found = 1.0
    return found + 1.0


def that_calls_itself(theta, rng, state, tolerance):
    return that_calls_itself(theta, rng, state, tolerance)


@pytest.mark.parametrize(
    ("step", "words", "line"),
    [
        (text_in_a_step, "List has no translation", 'names = ["a", "b"]'),
        (unknown_draw, "rng.vonmises is not known to lanes", "rng.vonmises(0.0, 1.0)"),
        (part_with_gaps, "a part with gaps", "state[1::2]"),
        (unknown_function, "norm has no translation|takes single numbers", "np.linalg.norm"),
        (many_at_once, "gives one number at a time", "rng.random(3)"),
        (that_grows, "needs a length that never changes", "np.zeros(int(state[0]))"),
        (that_raises, "Raise has no translation", 'raise ValueError("too large")'),
        (place_that_is_no_whole_number, "must be a whole number", "return state[state[0]]"),
        (of_two_kinds, "cannot hold both", "found = 1.0"),
        (that_calls_itself, "calls itself", None),
    ],
)
def test_what_has_no_translation_is_refused_with_its_line(step, words, line):
    with pytest.raises(Untranslatable, match=words) as caught:
        new_module().translated(step, (REALS, GENERATOR, REALS, REAL))
    if line is not None:
        assert line in str(caught.value)
        assert re.search(r"in line \d+ of .*test_translation\.py", str(caught.value))


def test_a_function_without_a_source_is_refused():
    made: dict = {}
    exec("def step(theta, rng, state, tolerance):\n    return 0.0", made)
    with pytest.raises(Untranslatable, match="the source of step cannot be found"):
        new_module().translated(made["step"], (REALS, GENERATOR, REALS, REAL))
