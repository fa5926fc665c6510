"""Fingerprints tell what a problem does, not how it is written down or where it stands."""

from __future__ import annotations

import textwrap
from datetime import datetime
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from threading import Lock

import numpy as np
import pandas
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.problem.fingerprint import checksum, fingerprint, is_uncertain

SOURCE = """
    import math
    import numpy as np
    from numba import njit

    SCALE = 2.0
    TABLE = np.array([1.0, 2.0])

    def helper(x):
        return x + 1.0

    def make(offset):
        def inner(theta, power=2):
            total = helper(theta[0]) * SCALE + offset
            return -0.5 * total ** power + TABLE[0] + math.sin(total)
        return inner

    function = make(3.0)
"""


def written(source=SOURCE, *changes, compiled=False):
    """The function of a source with some of its text replaced."""
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    if compiled:
        source = source.replace("    def ", "    @njit\n    def ", 1)
        source = source.replace("        def inner", "        @njit\n        def inner")
    scope = {}
    exec(textwrap.dedent(source), scope)
    return scope["function"]


SAME = {
    "nothing": [],
    "a comment": [("return x + 1.0", "return x + 1.0  # one more")],
    "lines": [("def helper", "\n\n\n    def helper")],
    "brackets": [("return x + 1.0", "return (x + 1.0)")],
    "something that is not used": [("SCALE = 2.0", "SCALE = 2.0\n    UNUSED = 7")],
}
DIFFERENT = {
    "a constant": [("-0.5", "-0.6")],
    "an operation": [("x + 1.0", "x - 1.0")],
    "a closure": [("make(3.0)", "make(4.0)")],
    "a default": [("power=2", "power=3")],
    "a number of the module": [("SCALE = 2.0", "SCALE = 2.5")],
    "an array of the module": [("[1.0, 2.0]", "[1.5, 2.0]")],
    "a function that is called": [("x + 1.0", "x + 1.5")],
    "a function of a library": [("math.sin", "math.cos")],
    "the type of a number": [("SCALE = 2.0", "SCALE = 2")],
}


@pytest.mark.parametrize("compiled", [False, True], ids=["Python", "numba"])
@pytest.mark.parametrize("changes", SAME.values(), ids=SAME)
def test_what_does_the_same_is_the_same(changes, compiled):
    assert checksum(written(SOURCE, *changes, compiled=compiled)) == checksum(
        written(compiled=compiled)
    )


@pytest.mark.parametrize("compiled", [False, True], ids=["Python", "numba"])
@pytest.mark.parametrize("changes", DIFFERENT.values(), ids=DIFFERENT)
def test_what_does_something_else_is_different(changes, compiled):
    assert checksum(written(SOURCE, *changes, compiled=compiled)) != checksum(
        written(compiled=compiled)
    )


def log_density(theta):
    return -0.5 * theta[0] * theta[0]


def test_a_compiled_function_is_the_function():
    """So that a run of one can be gone on with, or debugged, by the other."""
    assert checksum(njit(log_density)) == checksum(log_density)


def test_having_been_called_changes_nothing():
    compiled, plain = njit(log_density), written()
    before = checksum(compiled), checksum(plain)
    for _ in range(1000):  # often enough for Python to specialise its bytecode
        compiled(np.zeros(1))
        plain(np.zeros(1))
    assert (checksum(compiled), checksum(plain)) == before


def test_functions_that_call_each_other_have_an_end():
    source = """
        def one(x):
            return two(x - 1) if x > 0 else 0
        def two(x):
            return one(x - 1) if x > 0 else 0
        function = one
    """
    assert checksum(written(source)) == checksum(written(source))


class Scaled:
    """A function that is an object."""

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, theta):
        return self.method(theta)

    def method(self, theta):
        return -0.5 * self.scale * theta[0] ** 2


def power(theta, exponent):
    return -(abs(theta[0]) ** exponent)


@pytest.mark.parametrize(
    "make",
    [Scaled, lambda scale: Scaled(scale).method, lambda scale: partial(power, exponent=scale)],
    ids=["object", "method", "partial"],
)
def test_objects_that_are_called_count_with_what_they_hold(make):
    assert checksum(make(2.0)) == checksum(make(2.0))
    assert checksum(make(2.0)) != checksum(make(3.0))


# --- problems ------------------------------------------------------------------------------------


def simulate(theta, rng):
    return theta + rng.standard_normal(2)


def distance(simulated, observed):
    return float(np.abs(simulated - observed).max())


def abc(**changes):
    settings = {
        "simulate": simulate, "prior": aptmc.Prior(x=stats.norm(0, 5)), "observed": [1.0, 2.0],
        "distance": distance, "summary": None,
    }  # fmt: skip
    settings |= changes
    return aptmc.Abc(settings.pop("simulate"), settings.pop("prior"), **settings)


def difference(one, other):
    """The names of the parts that differ."""
    before, after = fingerprint(one), fingerprint(other)
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


def other_simulate(theta, rng):
    return theta + 2.0 * rng.standard_normal(2)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"simulate": other_simulate}, "simulate"),
        ({"prior": aptmc.Prior(x=stats.norm(0, 6))}, "prior"),
        ({"prior": aptmc.Prior(x=stats.laplace(0, 5))}, "prior"),
        ({"observed": [1.0, 2.5]}, "observed"),
        ({"distance": aptmc.distance.p_norm(2)}, "distance"),
        ({"summary": np.sort}, "summary"),
    ],
)
def test_the_part_that_has_changed_is_named(changes, name):
    assert difference(abc(), abc()) == set()
    assert name in difference(abc(), abc(**changes))
    assert len(difference(abc(), abc(**changes))) <= 2


def test_densities_are_compared_too():
    prior = aptmc.Prior(x=stats.norm(0, 5))
    tempered = aptmc.Tempered(log_density, prior)
    assert difference(tempered, aptmc.Tempered(log_density, prior)) == set()
    assert difference(tempered, aptmc.Tempered(written(), prior)) == {"log_likelihood"}
    start = aptmc.Power(log_density, {"x": 0.0})
    assert difference(start, aptmc.Power(log_density, {"x": 0.0})) == set()
    assert len(difference(start, aptmc.Power(log_density, {"x": 1.0}))) == 1


def test_a_run_does_not_change_its_problem():
    problem = aptmc.Power(njit(log_density), {"x": 0.0})
    before = fingerprint(problem)
    aptmc.sample(
        problem, budget=20.0, ladder=aptmc.Ladder.powers(3), kernel=aptmc.RandomWalk(1.0),
        schedule=aptmc.Anytime(every=2.0), on=aptmc.VirtualTime(1), seed=1,
    )  # fmt: skip
    assert fingerprint(problem) == before


# --- objects of other kinds -----------------------------------------------------------------------

MODEL = """
    class Model:
        offset = 1.0

        def __init__(self, scale, log=None):
            self.scale, self.log = scale, log

        def log_likelihood(self, theta):
            return -0.5 * self.scale * (theta[0] - self.offset) ** 2

    model = Model(2.0)

    def function(theta):
        return model.log_likelihood(theta)
"""
CHANGED_MODELS = {
    "an attribute": [("Model(2.0)", "Model(3.0)")],
    "a method": [("-0.5", "-0.6")],
    "an attribute of the class": [("offset = 1.0", "offset = 2.0")],
    "an attribute inside an attribute": [("Model(2.0)", "Model(2.0, log=Model(5.0))")],
}


def test_an_object_that_a_function_uses_is_compared():
    assert checksum(written(MODEL)) == checksum(written(MODEL))


@pytest.mark.parametrize("changes", CHANGED_MODELS.values(), ids=CHANGED_MODELS)
def test_a_changed_object_that_a_function_uses_is_noticed(changes):
    assert checksum(written(MODEL, *changes)) != checksum(written(MODEL))


class Slotted:
    __slots__ = ("scale",)

    def __init__(self, scale):
        self.scale = scale


class Picky:
    """Says itself what it is pickled as."""

    def __init__(self, scale):
        self.scale, self.calls = scale, 0

    def __reduce__(self):
        return Picky, (self.scale,)


class Remembering:
    """Computes something when it is first asked for it."""

    def __init__(self, scale):
        self.scale = scale

    @cached_property
    def square(self):
        return self.scale**2


@pytest.mark.parametrize(
    "make",
    [
        Slotted, Picky, Remembering, lambda scale: Fraction(int(scale), 7),
        lambda scale: np.array([Slotted(scale)], dtype=object),
        lambda scale: {"inside": [Slotted(scale)]}, lambda scale: datetime(2020, 1, int(scale)),
        lambda scale: lru_cache(Scaled(scale).__call__.__func__ if scale > 2 else power),
        lambda scale: np.random.default_rng(int(scale)),
    ],
)  # fmt: skip
def test_objects_of_any_kind_are_compared(make):
    assert checksum(make(2.0)) == checksum(make(2.0))
    assert checksum(make(2.0)) != checksum(make(3.0))


def test_what_is_remembered_does_not_count():
    one, other = Remembering(2.0), Remembering(2.0)
    assert one.square == 4.0
    assert checksum(one) == checksum(other)
    picky = Picky(2.0)
    picky.calls = 7
    assert checksum(picky) == checksum(Picky(2.0))


def test_things_that_hold_each_other_have_an_end():
    one, other = Scaled(1.0), Scaled(2.0)
    one.other, other.other = other, one
    assert checksum(one) != checksum(other)


def test_many_ways_to_the_same_object_take_no_longer():
    value = [1.0]
    for _ in range(60):  # two to the power of sixty ways
        value = [value, value]
    assert not is_uncertain(checksum(value))


def test_what_cannot_be_compared_says_so():
    for unknown in (Lock(), Scaled(Lock()), partial(power, exponent=Lock())):
        assert is_uncertain(checksum(unknown))
        assert "lock" in checksum(unknown)


SETTINGS = {
    "ladder": aptmc.Ladder.powers(3), "kernel": aptmc.RandomWalk(1.0),
    "schedule": aptmc.Anytime(every=2.0), "on": aptmc.VirtualTime(1), "seed": 1,
}  # fmt: skip


def test_a_run_of_a_changed_object_is_not_resumed(tmp_path):
    """The object is of a kind that nobody has heard of; it used to be ignored."""
    problem = aptmc.Power(written(MODEL), {"x": 0.0})
    aptmc.sample(problem, budget=20.0, store=tmp_path / "run", **SETTINGS)
    changed = aptmc.Power(written(MODEL, ("Model(2.0)", "Model(3.0)")), {"x": 0.0})
    with pytest.raises(aptmc.InputError, match="log_density has changed"):
        aptmc.resume(tmp_path / "run", changed, budget=20.0, on=aptmc.VirtualTime(1))
    again = aptmc.Power(written(MODEL), {"x": 0.0})
    aptmc.resume(tmp_path / "run", again, budget=20.0, on=aptmc.VirtualTime(1))


def test_a_run_of_something_that_cannot_be_compared_is_resumed_by_force_only(tmp_path):
    lock = Lock()

    def locked(theta):
        with lock:
            return -0.5 * theta[0] ** 2

    problem = aptmc.Power(locked, {"x": 0.0})
    aptmc.sample(problem, budget=20.0, store=tmp_path / "run", **SETTINGS)
    with pytest.raises(aptmc.InputError, match=r"log_density holds a _thread\.lock, and whether"):
        aptmc.resume(tmp_path / "run", problem, budget=20.0, on=aptmc.VirtualTime(1))
    aptmc.resume(tmp_path / "run", problem, budget=20.0, on=aptmc.VirtualTime(1), force=True)


def test_a_problem_says_its_fingerprint():
    assert abc().fingerprint() == fingerprint(abc())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (aptmc.iid(stats.norm(0, 1), 3), aptmc.iid(stats.norm(0, 1), 4)),
        (stats.multivariate_normal([0, 1]), stats.multivariate_normal([0, 2])),
        (stats.dirichlet([1, 2]), stats.dirichlet([2, 1])),
        (stats.poisson(3), stats.poisson(4)),
        (aptmc.given(stats.norm, 0, "a"), aptmc.given(stats.norm, 1, "a")),
        (aptmc.given(stats.norm, 0, "a"), aptmc.given(stats.laplace, 0, "a")),
        (lambda a: stats.norm(0, a), lambda a: stats.norm(0, 2 * a)),
    ],
)
def test_every_kind_of_prior_is_compared(one, other):
    def prior(part):
        return aptmc.Prior(a=stats.gamma(2), x=part)

    assert checksum(prior(one)) == checksum(prior(one))
    assert not is_uncertain(checksum(prior(one)))
    assert checksum(prior(one)) != checksum(prior(other))


def test_joint_priors_are_compared():
    def prior(scale):
        return aptmc.Prior.joint(lambda theta: -scale * theta[0], lambda rng: rng.random(1), x=())

    assert checksum(prior(2.0)) == checksum(prior(2.0))
    assert checksum(prior(2.0)) != checksum(prior(3.0))


def tables():
    """The same data of pandas and xarray, made anew."""
    days = pandas.date_range("2020-01-01", periods=3)
    table = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6]}, index=days)
    return {
        "table": table, "series": table["a"], "index": days, "data set": table.to_xarray(),
        "data array": table["b"].to_xarray(), "words": pandas.Index(["one", "two"]),
    }  # fmt: skip


@pytest.mark.parametrize("name", tables())
def test_tables_are_told_apart_by_what_they_hold_and_not_by_what_they_remember(name):
    used, table = tables(), tables()["table"]
    before = checksum(used[name])
    assert before == checksum(tables()[name])
    assert not is_uncertain(before)
    used["table"].loc[used["table"].index[:1]]
    used["table"]["a"].loc[used["table"].index[1]]
    used["data set"].sel(index=used["data set"].index[1])
    used["index"].get_loc(used["index"][2])
    used["words"].get_loc("two")
    assert checksum(used[name]) == before
    if name in ("table", "series"):
        relabelled = table.set_index(table.index[::-1])
        assert checksum(relabelled if name == "table" else relabelled["a"]) != before
        renamed = table.rename(columns={"a": "c"})
        assert checksum(renamed if name == "table" else renamed["c"]) != before
