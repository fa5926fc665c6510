"""What would become something else on its way to workers is refused, by name."""

from __future__ import annotations

import itertools
import random
import socket
import sqlite3
import threading
from functools import partial

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.workers.belongings import belonging_in
from tests.backends.contract import make_session

OWN = np.random.default_rng(1)


def checked(function):
    problem = aptmc.Power(function, start={"x": 0.0})
    session, _ = make_session(aptmc.Anytime(every=1.0), 2, problem=problem)
    aptmc.Processes(2).check(session)


def using(thing):
    variable = thing

    def log_density(theta):
        return -0.5 * theta[0] ** 2 + 0.0 * bool(variable)

    return log_density


@pytest.fixture
def closed_later(tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text("1 2 3")
    opened = {
        "text": path.open(),
        "socket": socket.socket(),
        "database": sqlite3.connect(":memory:"),
    }
    yield opened
    for one in opened.values():
        one.close()


@pytest.mark.parametrize(
    ("name", "words"),
    [("text", "an open file"), ("socket", "socket.socket"), ("database", "sqlite3.Connection")],
)
def test_what_is_open_is_refused_by_its_name(closed_later, name, words):
    with pytest.raises(aptmc.InputError, match=f"variable, in .*, is .*{words}.*inside the func"):
        checked(using(closed_later[name]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (threading.Lock, "lock"),
        (random.SystemRandom, "random.SystemRandom"),
        (lambda: (i for i in range(3)), "a generator, which cannot be sent"),
        (lambda: memoryview(b"abc"), "view of memory"),
        (itertools.count, "itertools.count.*on its own"),
        (lambda: iter([1, 2]), "list_iterator"),
        (lambda: np.random.default_rng(1), "draw the same"),
        (lambda: np.random.RandomState(1), "draw the same"),
        (lambda: random.Random(1), "draw the same"),
    ],
    ids=["lock", "system", "generator", "view", "count", "iterator", "rng", "legacy rng", "random"],
)
def test_what_belongs_to_this_process_is_refused_by_its_name(make, words):
    with pytest.raises(aptmc.InputError, match=f"variable, in .*, is .*{words}"):
        checked(using(make()))


class Model:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def log_density(self, theta):
        return -0.5 * theta[0] ** 2

    __call__ = log_density


def of_two(rng, theta):
    return -0.5 * theta[0] ** 2


def uses_a_global_one(theta):
    return -0.5 * theta[0] ** 2 + 0.0 * OWN.random()


def calls_another(theta):
    return uses_a_global_one(theta)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (Model(noise=np.random.default_rng(1)), r"\.noise"),
        (Model(inner=Model(noise=np.random.default_rng(1))).log_density, r"\.noise, in \.inner"),
        (uses_a_global_one, "OWN"),
        (calls_another, "OWN, in uses_a_global_one"),
        (lambda theta: calls_another(theta), "OWN"),
    ],
    ids=["attribute", "attribute of one", "global", "called", "called by a lambda"],
)
def test_it_is_found_wherever_it_is(function, name):
    with pytest.raises(aptmc.InputError, match=f"{name}.* is .*draw the same"):
        checked(function)


def test_it_is_found_in_a_partial_function():
    found = belonging_in({"simulate": partial(of_two, np.random.default_rng(1))})
    assert "draw the same" in str(found)


@pytest.mark.parametrize(
    "thing",
    [np.arange(5), [1, 2], {"a": 1.0}, stats.norm(0, 1), random, np.random],
    ids=["array", "list", "mapping", "distribution", "module", "other module"],
)
def test_what_travels_is_sent(thing):
    checked(using(thing))


def test_compiled_functions_are_sent():
    checked(njit(lambda theta: -0.5 * theta[0] ** 2))
