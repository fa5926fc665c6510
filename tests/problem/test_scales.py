"""Distances that are scaled by how much simulations vary: measured once, before anything runs."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.distance import p_norm
from aptmc.problem.data.scales import ROUNDS

PRIOR = aptmc.Prior(level=stats.norm(0, 10), noise=stats.uniform(0.5, 1))
OBSERVED = np.array([1.0, 2.0])
NORMAL_MAD = 0.6745  # of a standard deviation


def simulate(theta, rng):
    """One number that goes with the level, and one that is all noise."""
    return np.array([theta[0], 0.0]) + theta[1] * rng.standard_normal(2) * [0.1, 5.0]


def in_parts(theta, rng):
    level, noise = simulate(theta, rng)
    return {"level": level, "noise": [noise]}


def scales_of(problem):
    """By what each difference is divided."""
    distance = problem.simulator.distance
    size = problem.kept_data.size
    return np.array([1.0 / distance(row, np.zeros(size)) for row in np.eye(size)])


def made(distance, simulate=simulate, observed=OBSERVED, prior=PRIOR, **options):
    return aptmc.Abc(simulate, prior, observed, distance, **options)


@pytest.mark.parametrize(("scale", "per_sd"), [("mad", NORMAL_MAD), ("sd", 1.0)])
def test_scales_are_those_of_simulations_from_the_prior(scale, per_sd: float) -> None:
    scales = scales_of(made(p_norm(2, scale=scale, simulations=2000)))
    # The noise is a mixture of normals with sd from 2.5 to 7.5, which are 5.2 on average square.
    expected = np.array([10.0 * per_sd, np.sqrt(np.mean(np.linspace(2.5, 7.5, 999) ** 2)) * per_sd])
    np.testing.assert_allclose(scales, expected, rtol=0.1)
    # Near enough to tell the two kinds of scales apart.
    assert abs(NORMAL_MAD - 1.0) > 0.3


def test_the_same_problem_has_the_same_scales_and_says_them() -> None:
    one, two = (made(p_norm(2, scale="mad")) for _ in range(2))
    assert one.fingerprint() == two.fingerprint()
    np.testing.assert_array_equal(scales_of(one), scales_of(two))
    (note,) = one.notes
    first, second = scales_of(one).round(10)
    assert note == (f"scaled by the mad of 100 simulations from the prior: {first:g}, {second:g}")
    other = made(p_norm(2, scale="mad"), lambda theta, rng: 2.0 * simulate(theta, rng))
    assert one.fingerprint()["distance"] != other.fingerprint()["distance"]


def test_a_run_with_scales_is_resumed_and_replayed(tmp_path) -> None:
    store = tmp_path / "run.zarr"
    observed = {"level": 1.0, "noise": [2.0]}
    distance = {"level": p_norm(1, scale="mad"), "noise": p_norm(1, scale="sd")}
    aptmc.sample(
        made(distance, in_parts, observed),
        budget=200,
        ladder=aptmc.Ladder.tolerances([1.0, 2.0, math.inf]),
        kernel=aptmc.OneHit(1.0, cap=20),
        schedule=aptmc.Anytime(every=10),
        on=aptmc.VirtualTime(1),
        store=store,
        log_events=True,
        seed=1,
    )
    again = made(distance, in_parts, observed)
    assert aptmc.resume(store, again, budget=200, on=aptmc.VirtualTime(1)).elapsed == 400.0
    replayed = aptmc.replay(store, made(distance, in_parts, observed))
    assert replayed.is_same
    assert replayed.draws > 50
    other = {"level": p_norm(1, scale="mad"), "noise": p_norm(1, scale="mad")}
    with pytest.raises(aptmc.InputError, match="distance has changed"):
        aptmc.resume(store, made(other, in_parts, observed), budget=1, on=aptmc.VirtualTime(1))


def test_near_the_data_only_what_still_varies_there_has_a_large_scale() -> None:
    by_prior = scales_of(made(p_norm(2, scale="mad")))
    problem = made(p_norm(2, scale="mad", at="tolerance"))
    near = scales_of(problem)
    # The nearest stay, so the level varies less and less; the noise is always the same.
    assert near[0] < 0.5 * by_prior[0]
    assert near[1] == pytest.approx(by_prior[1], rel=0.5)
    assert re.search(r"mad of 100 simulations of a pilot at tolerance 0\.\d+:", problem.notes[0])


def test_so_many_simulations_are_made_and_no_more() -> None:
    calls = []

    def counted(theta, rng):
        calls.append(theta)
        return simulate(theta, rng)

    made(p_norm(2, scale="mad"), counted)
    assert len(calls) == 100
    calls.clear()
    made(p_norm(2, scale="mad", at="tolerance", simulations=30), counted)
    assert len(calls) == (1 + ROUNDS) * 30
    calls.clear()
    both = {"level": p_norm(2, scale="mad"), "noise": p_norm(2, scale="sd", simulations=40)}

    def counted_parts(theta, rng):
        return in_parts(theta, rng) if counted(theta, rng) is not None else None

    made(both, counted_parts, {"level": 1.0, "noise": [2.0]})
    assert len(calls) == 101  # all share those, and one is tried


def test_each_part_has_its_own_scales() -> None:
    observed = {"level": 1.0, "noise": [2.0]}
    whole = scales_of(made(p_norm(2, scale="mad")))
    parts = {name: p_norm(2, scale="mad") for name in observed}
    problem = made(parts, in_parts, observed)
    for place, name in enumerate(observed):
        distance = problem.simulator.distance.distances[name]
        assert distance(np.ones(1), np.zeros(1)) == pytest.approx(1.0 / whole[place])
    level, noise = whole
    assert problem.notes[-1] == (
        f"scaled by the mad of 100 simulations from the prior: level {level:g}; noise {noise:g}"
    )
    same = p_norm(2, scale="mad")
    together = made(dict.fromkeys(observed, same), in_parts, observed)
    assert together.fingerprint()["distance"] == problem.fingerprint()["distance"]


def test_a_compiled_problem_stays_compiled() -> None:
    def plain(theta, rng):
        return theta + rng.standard_normal(2)

    compiled, interpreted = (
        made(p_norm(2, scale="mad"), function) for function in (njit(plain), plain)
    )
    assert compiled.is_compiled
    assert not interpreted.is_compiled
    np.testing.assert_array_equal(scales_of(compiled), scales_of(interpreted))
    summed = made(p_norm(2, scale="mad"), plain, summary=lambda data: data[:1] * 1000.0)
    assert scales_of(summed)[0] == pytest.approx(1000.0 * scales_of(interpreted)[0], rel=0.01)


def test_weights_count_on_top_of_scales() -> None:
    plain = scales_of(made(p_norm(2, scale="mad")))
    weighted = scales_of(made(p_norm(2, [4.0, 1.0], scale="mad")))
    np.testing.assert_allclose(plain / weighted, [4.0, 1.0])
    with pytest.raises(
        aptmc.InputError, match=r"weights must have the shape of the data, got \(3,"
    ):
        made(p_norm(2, [1.0, 1.0, 1.0], scale="mad"))


def test_what_never_varies_does_not_count() -> None:
    def still(theta, rng):
        return np.array([7.0, *simulate(theta, rng)])

    problem = made(p_norm(2, scale="mad"), still, observed=[1e9, 1.0, 2.0])
    distance = problem.simulator.distance
    assert distance(np.array([5.0, 0.0, 0.0]), np.zeros(3)) == 0.0
    assert distance(np.array([5.0, 1.0, 0.0]), np.zeros(3)) > 0.0
    assert "0, " in problem.notes[0]
    assert "(0: 1 that never vary, and do not count)" in problem.notes[0]


def mostly_zero(theta, rng):
    return {"cases": rng.poisson(0.1, 2) + np.array([0, 100]) * rng.random(2)}


@pytest.mark.parametrize(
    ("simulator", "observed", "message"),
    [
        (lambda theta, rng: np.ones(2), OBSERVED, "all 100 simulations are equal"),
        (mostly_zero, {"cases": [0, 1]}, "equal in cases[0], so that its median absolute devia"),
        (lambda theta, rng: np.full(2, math.nan), OBSERVED, "100 of 100 simulations from the"),
        (lambda theta, rng: np.ones(3), OBSERVED, "the data has shape (3,) in a simulation, (2,)"),
        (lambda theta, rng: 1 / 0, OBSERVED, "simulate raised ZeroDivisionError: division by zero"),
    ],
)
def test_simulators_without_a_scale_are_refused(simulator, observed, message: str) -> None:
    with pytest.raises(aptmc.InputError, match=re.escape(message)):
        made(p_norm(2, scale="mad"), simulator, observed)


def test_failures_that_are_misses_are_left_out() -> None:
    def fragile(theta, rng):
        if theta[0] > 5.0:
            raise ArithmeticError("too large")
        return simulate(theta, rng)

    problem = made(p_norm(2, scale="mad"), fragile, on_error="reject")
    count = int(re.search(r"mad of (\d+) simulations", problem.notes[0])[1])
    assert 50 < count < 90
    with pytest.raises(aptmc.InputError, match="too large at level="):
        made(p_norm(2, scale="mad"), fragile)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": "max"}, 'scale must be "mad" or "sd", got \'max\''),
        ({"scale": True}, 'scale must be "mad" or "sd", got True'),
        ({"scale": "mad", "at": "posterior"}, 'at must be "prior" or "tolerance", got'),
        (
            {"scale": "mad", "simulations": 5},
            "simulations must be a whole number from 20 on, got 5",
        ),
    ],
)
def test_unknown_words_are_refused(options, message: str) -> None:
    with pytest.raises(aptmc.InputError, match=re.escape(message)):
        p_norm(2, **options)


def test_a_distance_without_scales_cannot_be_used_as_it_is() -> None:
    distance = p_norm(2, scale="sd")
    assert repr(distance) == 'p_norm(2, scale="sd", at="prior")'
    with pytest.raises(aptmc.InputError, match="no scales yet"):
        distance(OBSERVED, OBSERVED)
