"""Settings as JSON and back; nothing else than settings can come back."""

from __future__ import annotations

import json
import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aptmc
from aptmc.exchange import Rule
from aptmc.kernels import Fitted, Students
from aptmc.pools import Groups
from aptmc.result.archive import KNOWN, from_json, to_json

RULES = [
    None, aptmc.Alternating(), aptmc.RandomParity(rounds=3), aptmc.OneRandomPair(),
    aptmc.RungParity(rounds=2), aptmc.NeighbouringRungs(), aptmc.BetweenPools(),
    aptmc.Reassignment(rounds=4),
]  # fmt: skip
SETTINGS = [
    aptmc.Ladder.powers(5),
    aptmc.Ladder.powers([1.0, 0.1, 0.0]),
    aptmc.Ladder.geometric(7, hottest=0.01),
    aptmc.Ladder.tolerances([0.1, 1.0, math.inf]),
    aptmc.Ladder.tolerances([0.1, 1.0, 2.0]).without_local_moves(2),
    aptmc.Ladder.auto(),
    aptmc.Ladder.auto(coldest=0.1, swap_rate=0.3),
    aptmc.Ladder.auto(rungs=6),
    aptmc.RandomWalk(0.5),
    aptmc.RandomWalk({"x": 0.5, "y": 2.0}, steps=10),
    aptmc.RandomWalk([0.5, (0.7, 0.8), 1.0], spread=1.5),
    aptmc.RandomWalk(covariance=[[1.0, 0.5], [0.5, 2.0]]),
    aptmc.RandomWalk(covariance=np.array([[[1.0, 0.0], [0.0, 2.0]]] * 3)),
    aptmc.RandomWalk("auto"),
    aptmc.RandomWalk("auto").at_first(np.ones(2), 3),
    aptmc.Slice("auto").at_first(np.ones(2), 3).scale,
    aptmc.OneHit(0.5),
    aptmc.OneHit({"x": 0.5}, cap=100),
    Fitted(Students.one([0.0, 1.0], np.eye(2)), np.array([30.0])),
    aptmc.Slice(1.0),
    aptmc.EllipticalSlice("prior", steps=2),
    Students.one([0.0, 1.0], np.eye(2)),
    aptmc.Nuts().at_first(np.ones(2), 3),
    aptmc.Nuts().at_first(np.ones(2), 3).metric,
    aptmc.Hmc(leaps=3),
    aptmc.Mala(),
    aptmc.Mala(search=True),
    aptmc.DifferentialEvolution().at_first(np.ones(2), 3),
    aptmc.DifferentialEvolution().at_first(np.ones(2), 3).archive,
    aptmc.EllipticalSlice().at_first(np.ones(2), 3),
    aptmc.EllipticalSlice(Students.one([0.0, 1.0], np.eye(2), degrees=5)),
    # Functions are none of a store's business.
    aptmc.ReversibleJump((1, 3), block=2).at_first(np.ones(4), 3),
    aptmc.OwnMove(),
    aptmc.Mixture(aptmc.RandomWalk(0.5), aptmc.Slice(3.0)),
    aptmc.Synchronous(moves=3),
    aptmc.Uncorrected(every=2.5),
    aptmc.Anytime(),
    aptmc.Anytime(every="20 ms", follow=True, jitter=0.5, shortest="1 ms"),
    aptmc.Anytime(every=2.5, within=aptmc.OneRandomPair()),
    *(aptmc.Anytime(every=1, exchange=rule) for rule in RULES),
    aptmc.Shared(chains_per_rung=3),
    aptmc.Shared(1, coldest=9),
    aptmc.Partitioned(),
    aptmc.Paired(),
    Groups(64),
    Groups(64, "so many", lanes_per_rung=2, coldest=9),
    "auto",
    None,
]


def same(one, other) -> bool:
    """Equal, also where arrays are inside."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=True) and one.dtype == other.dtype
    if isinstance(one, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if type(one) in KNOWN.values():
        names = [field.name for field in fields(one)]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    return bool(one == other)


def back(value):
    """Through strict JSON text, which other programs can read too."""
    return from_json(json.loads(json.dumps(to_json(value), allow_nan=False)), "setting")


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_settings_come_back_as_they_were(setting):
    assert same(back(setting), setting)


def test_numbers_of_numpy_come_back_as_numbers():
    assert same(back(aptmc.OneHit(np.float64(0.5))), aptmc.OneHit(0.5))


def test_every_kind_of_setting_is_tried():
    kinds = {type(setting).__name__ for setting in [*SETTINGS, *RULES]}
    assert set(KNOWN) <= kinds


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.lists(st.floats(), max_size=4).map(np.array)
    | st.frozensets(st.integers(), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_whatever_settings_are_made_of_comes_back(value):
    assert same(back(value), value)


@given(
    st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=8, unique=True).map(sorted),
    st.booleans(),
)
def test_ladders_of_tolerances_come_back(tolerances, is_open):
    ladder = aptmc.Ladder.tolerances([*tolerances, math.inf] if is_open else tolerances)
    assert same(back(ladder), ladder)


def test_the_comparison_of_these_tests_can_fail():
    assert not same(back(aptmc.RandomWalk(0.5)), aptmc.RandomWalk(0.6))
    assert not same([1], (1,))
    assert not same(np.array([1.0]), np.array([1]))


# --- what must not come back ---------------------------------------------------------------------


class Own(Rule):
    """A rule of a user's own."""

    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        return 0


class Alternating(Rule):
    """One that has the name of a known rule."""

    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        return 0


@pytest.mark.parametrize("rule", [Own(), Alternating()], ids=["own", "same name"])
def test_what_is_not_known_is_not_made(rule):
    with pytest.raises(aptmc.InputError, match=r"a schedule of your own.*schedule=\.\.\."):
        from_json(to_json(aptmc.Anytime(every=1.0, exchange=rule)), "schedule")


@pytest.mark.parametrize("name", ["os.system", "eval", "Path", "Rule", "Kernel", "__import__"])
def test_only_settings_can_be_named(name):
    with pytest.raises((KeyError, aptmc.InputError)):
        from_json({"made": name, "of": {}}, "setting")


def test_settings_of_a_later_version_are_named():
    with pytest.raises(aptmc.InputError, match="does not know, Hovering: open it with the version"):
        from_json({"made": "Hovering", "of": {}}, "kernel")
    later = to_json(aptmc.Ladder.powers(3))
    later["of"]["colour"] = "blue"
    with pytest.raises(aptmc.InputError, match=r"Ladder, says more than .* knows, colour: open it"):
        from_json(later, "ladder")


def test_values_that_no_setting_can_have_are_refused_as_always():
    text = to_json(aptmc.Ladder.powers(3))
    text["of"]["levels"] = {"tuple": [0.5, 1.0]}
    with pytest.raises(aptmc.InputError):
        from_json(text, "ladder")
