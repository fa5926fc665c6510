"""What belongs to this process is found wherever users' code reaches it, and nowhere else."""

from __future__ import annotations

import collections
import functools
import importlib
import io
import logging
import random
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.backends.workers.belongings import belonging_in
from aptmc.backends.workers.payload import load, pack
from aptmc.backends.workers.wire import Wire

OWN = np.random.default_rng(1)
DRAW = OWN.normal
FROZEN = stats.norm(0, 1)
WITH_ITS_OWN = stats.norm(0, 1)
WITH_ITS_OWN.random_state = 3
GAUSS = random.gauss
LOG = logging.getLogger("aptmc.tests.reach")


def in_a_generator_expression(theta):
    return sum(x * OWN.random() for x in theta)


def in_a_list_comprehension(theta):
    return sum([x * OWN.random() for x in theta])


def in_a_lambda(theta):
    return max(theta, key=lambda x: OWN.random())


def in_a_function_inside(theta):
    def twice():
        def once():
            return OWN.random()

        return once() + once()

    return twice()


def in_a_class_inside(theta):
    class Noise:
        def draw(self):
            return OWN.random()

    return Noise().draw()


def as_a_method(theta):
    return DRAW()


def of_a_distribution(theta):
    return WITH_ITS_OWN.rvs()


@functools.lru_cache
def cached(theta):
    return OWN.random()


def calls_one_with_a_cache(theta):
    return cached(theta)


class Slotted:
    __slots__ = ("__noise", "unset")

    def __init__(self):
        self.__noise = np.random.default_rng(1)

    def __call__(self, theta):
        return self.__noise.random()


@dataclass(frozen=True, slots=True)
class Frozen:
    noise: Any

    def __call__(self, theta):
        return self.noise.random()


class ByItsMethods:
    shared = np.random.default_rng(1)

    def through_another(self, theta):
        return self.drawn(theta)

    def drawn(self, theta):
        return OWN.random()

    def of_its_class(self, theta):
        return self.shared.random()

    def of_a_property(self, theta):
        return self.noise

    @property
    def noise(self):
        return OWN.random()

    @staticmethod
    def static(theta):
        return OWN.random()

    def through_a_static_one(self, theta):
        return self.static(theta)

    def __getitem__(self, place):
        return OWN.random()

    def harmless(self, theta):
        return -0.5 * theta[0] ** 2


class Heir(ByItsMethods):
    def through_its_parent(self, theta):
        return super().drawn(theta)


class AloneWithAPlot:
    noise = OWN

    def plotted(self):
        return OWN.random()

    def log_density(self, theta):
        return -0.5 * theta[0] ** 2


INDEXED, PLOTTED = ByItsMethods(), AloneWithAPlot()


def by_an_operator(theta):
    return INDEXED[0]


def through_a_class(theta):
    return Heir().through_its_parent(theta)


def holds(thing):
    return lambda theta: bool(thing)


FOUND = {
    "generator expression": (in_a_generator_expression, "OWN"),
    "list comprehension": (in_a_list_comprehension, "OWN"),
    "lambda": (in_a_lambda, "OWN"),
    "function inside": (in_a_function_inside, "OWN"),
    "class inside": (in_a_class_inside, "OWN"),
    "method of a generator": (as_a_method, "DRAW"),
    "distribution": (of_a_distribution, r"\.random_state"),
    "cached": (calls_one_with_a_cache, "OWN"),
    "slots": (Slotted(), "__noise"),
    "slots of a frozen class": (Frozen(np.random.default_rng(1)), "an attribute of Frozen"),
    "deque": (holds(collections.deque([np.random.default_rng(1)])), "thing"),
    "another method": (ByItsMethods().through_another, "OWN, in drawn"),
    "attribute of a class": (ByItsMethods().of_its_class, r"\.shared"),
    "property": (ByItsMethods().of_a_property, "OWN"),
    "static method": (ByItsMethods().through_a_static_one, "OWN"),
    "operator": (by_an_operator, "OWN"),
    "parent": (Heir().through_its_parent, "OWN"),
    "class": (through_a_class, "OWN"),
}


@pytest.mark.parametrize(("function", "name"), FOUND.values(), ids=FOUND)
def test_a_generator_is_found_in_all_that_a_function_leads_to(function, name):
    problem = aptmc.Power(function, start={"x": 0.0})
    with pytest.raises(AssertionError, match=f"{name}.* is .*draw the same"):
        raise AssertionError(str(belonging_in(problem)))


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Writes modules into a folder that may stand for the user's or for a library's."""

    written: set[str] = set()

    def write(folder: str, **sources: str) -> list[ModuleType]:
        place = tmp_path / folder
        place.mkdir(parents=True)
        for name, source in sources.items():
            (place / f"{name}.py").write_text(source, encoding="utf-8")
        monkeypatch.syspath_prepend(place)
        written.update(sources)
        return [importlib.import_module(name) for name in sources]

    yield write
    for name in written:
        sys.modules.pop(name, None)


NOISE = "import numpy as np\nRNG = np.random.default_rng(1)\ndef draw(): return RNG.random()\n"
WAYS = {
    "function": "from its_noise import draw\ndef density(theta): return draw()\n",
    "module": "import its_noise\ndef density(theta): return its_noise.draw()\n",
    "variable": "import its_noise as n\ndef density(theta): return n.RNG.random()\n",
    "import inside": "def density(theta):\n  from its_noise import RNG\n  return RNG.random()\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_found_in_the_users_other_modules(modules, way):
    _, own = modules("mine", its_noise=NOISE, its_model=WAYS[way])
    assert "RNG" in str(belonging_in(own.density))


@pytest.mark.parametrize("way", ["function", "module"])
def test_what_libraries_keep_is_up_to_them(modules, way):
    modules("lib/site-packages", its_noise=NOISE)
    (own,) = modules("mine", its_model=WAYS[way])
    assert belonging_in(own.density) is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: io.StringIO("1 2"), "a file in memory"),
        (lambda path: io.BytesIO(b"1 2"), "a file in memory"),
        (lambda path: path.open("rb"), "an open file"),
        (lambda path: path.open("rb", buffering=0), "an open file"),
        (lambda path: path.open().readline, "an open file"),
    ],
    ids=["text", "bytes", "binary", "without a buffer", "method"],
)
def test_files_of_all_kinds_are_found(tmp_path, make, words):
    path = tmp_path / "numbers.txt"
    path.write_text("1 2 3")
    thing = make(path)
    found = str(belonging_in(holds(thing)))
    getattr(thing, "__self__", thing).close()
    assert words in found


def test_torchs_generators_are_found_where_they_can_be_copied(monkeypatch):
    class Generator:
        __module__ = "torch._C"

    torch = ModuleType("torch")
    torch.default_generator = Generator()
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert "torch._C" in str(belonging_in(holds(Generator())))
    assert belonging_in(holds(torch.default_generator)) is None


def made_inside(theta):
    rng = np.random.default_rng(int(1e6 * theta[0]))
    return rng.normal() + sum(x * random.Random(1).random() for x in theta)


def uses_modules(theta):
    draws = (np.random.normal() for _ in range(3))  # noqa: NPY002
    return sum(draws) + random.gauss(0, 1) + stats.norm.rvs() + FROZEN.rvs() + GAUSS(0, 1)


def logs(theta):
    LOG.info("at %s", theta)
    print("at", theta, file=sys.stderr)  # noqa: T201
    return 0.0


def calls_a_harmless_method(theta):
    return PLOTTED.log_density(theta)


class SentWithout:
    """Says itself what is sent."""

    def __init__(self):
        self.noise = np.random.default_rng(1)

    def __getstate__(self):
        return {"scale": 1.0}

    def __call__(self, theta):
        return theta[0]


@pytest.mark.parametrize(
    "function",
    [made_inside, uses_modules, logs, calls_a_harmless_method, SentWithout(), holds(sys.stdout)],
    ids=["made inside", "modules", "logger", "method", "state of its own", "stream"],
)
def test_nothing_is_found_where_nothing_is_amiss(tmp_path, function):
    handler = logging.FileHandler(tmp_path / "log.txt")
    LOG.addHandler(handler)
    try:
        assert belonging_in(aptmc.Power(function, start={"x": 0.0})) is None
    finally:
        LOG.removeHandler(handler)
        handler.close()


@pytest.mark.parametrize(
    ("thing", "generator"),
    [
        (random.gauss, lambda it: it.__self__),
        (np.random.normal, lambda it: it.__self__),
        (stats.norm(0, 1), lambda it: it.random_state),
        (stats.multivariate_normal([0.0]), lambda it: it.random_state),
    ],
    ids=["random", "numpy", "distribution", "distribution of vectors"],
)
def test_what_holds_a_global_generator_holds_that_of_the_worker(thing, generator):
    """Which is seeded from the key of each move; a copy would draw the same in every worker."""

    def log_density(theta):
        return 0.0 * bool(thing)

    problem = aptmc.Power(log_density, start={"x": 0.0})
    mover, _ = load(pack((problem, aptmc.Slice(1.0)), Wire(1, 1)))
    (arrived,) = (cell.cell_contents for cell in mover.problem.log_density.__closure__)
    assert generator(arrived) is generator(thing)
