"""What a rung learns from states of all rungs: draws of it, and more than it has seen itself."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import aptmc
from aptmc.compiled import Floats, FloatTable
from aptmc.kernels.student_fit import fit_all
from aptmc.kernels.students import Mixed, Students
from aptmc.result.archive import from_json, to_json
from aptmc.warmup.seen_by_all import (
    ENOUGH,
    MOST_OF_A_RUNG,
    ROUNDS,
    SeenByAll,
    chosen_for_each,
    is_wanted,
    with_round,
)
from experiments.comparison.densities import DENSITIES
from experiments.comparison.priors import prior_of

SIDE, SD, CELLS = 30.0, 0.5, 200  # of a box with nine modes, in rows of three; of its grid
CENTRES = np.array([[x, y] for x in (5.0, 15.0, 25.0) for y in (5.0, 15.0, 25.0)])
WEIGHTS = np.arange(1.0, 10.0) / 45.0
LEVELS, COLUMN = (1.0, 0.3, 0.1, 0.03, 0.0), 2


def log_likelihood(theta: FloatTable) -> Floats:
    squares = ((theta[:, None, :] - CENTRES) ** 2).sum(axis=2) / SD**2
    return np.asarray(np.logaddexp.reduce(np.log(WEIGHTS) - 0.5 * squares, axis=1))


EDGE = (np.arange(CELLS) + 0.5) * SIDE / CELLS
GRID = np.stack(np.meshgrid(EDGE, EDGE), axis=-1).reshape(-1, 2)
HEIGHTS = log_likelihood(GRID)


def shares(power: float) -> Floats:
    """Of the cells of the grid in the uniform distribution times the likelihood to a power."""
    weights = np.exp(power * (HEIGHTS - HEIGHTS.max()))
    return np.asarray(weights / weights.sum())


def draws(power: float, count: int, rng: np.random.Generator) -> FloatTable:
    theta = GRID[rng.choice(len(GRID), count, p=shares(power))]
    theta = theta + rng.uniform(-0.5, 0.5, theta.shape) * SIDE / CELLS
    return np.column_stack([theta, log_likelihood(theta)])


def quantities(theta: FloatTable, power: float) -> FloatTable:
    """Where it is, and whether that is as near to a mode as most draws with this power are."""
    squares = ((theta[:, None, :2] - CENTRES) ** 2).sum(axis=2).min(axis=1)
    return np.column_stack([theta[:, :2], squares < 4.0 * SD**2 / power])


def rounds(counts: list[int], rng: np.random.Generator) -> SeenByAll:
    seen: SeenByAll = []
    for count in counts:
        seen = with_round(seen, LEVELS, [draws(level, count, rng) for level in LEVELS])
    return seen


@pytest.mark.parametrize("rung", [0, 1, 2])
def test_what_is_chosen_for_a_rung_are_draws_of_it(rung: int) -> None:
    rng = np.random.default_rng(rung)
    seen = rounds([200, 400], rng)
    found = quantities(chosen_for_each(seen, LEVELS, COLUMN, rng)[rung], LEVELS[rung])
    weights, of_grid = shares(LEVELS[rung]), quantities(GRID, LEVELS[rung])
    mean = weights @ of_grid
    error = np.sqrt(weights @ (of_grid - mean) ** 2 / (0.5 * len(found)))  # chosen from those
    assert (abs(found.mean(axis=0) - mean) < 4.0 * error).all()
    # All rows together are no draws of it: here that would be seen.
    together = np.concatenate([rows for one in seen for _, rows in one])
    off = abs(quantities(together, LEVELS[rung]).mean(axis=0) - mean)
    assert (off > 4.0 * error).any()


def test_there_are_more_of_them_than_a_rung_has_seen_and_none_twice() -> None:
    rng = np.random.default_rng(4)
    for chosen in chosen_for_each(rounds([100, 200], rng), LEVELS, COLUMN, rng)[:-1]:
        assert len(chosen) > 1.3 * 200
        assert len(np.unique(chosen, axis=0)) == len(chosen)


def test_modes_that_a_rung_has_seen_too_seldom_are_found_by_all() -> None:
    rng = np.random.default_rng(5)
    seen = rounds([60, 120], rng)
    first = Students.one(np.full(2, 15.0), 80.0 * np.eye(2), 3.0).on_rungs(len(LEVELS))
    own, by_all = (
        fit_all([rows[:, :2] for rows in tables], first, 32).components(0)
        for tables in (
            [rows for _, rows in seen[-1]],
            chosen_for_each(seen, LEVELS, COLUMN, rng),
        )
    )
    assert own < len(CENTRES) <= by_all


def test_a_prior_with_likelihoods_of_zero_keeps_them_to_itself() -> None:
    rng = np.random.default_rng(6)
    tables = [draws(level, 100, rng) for level in LEVELS]
    tables[-1][:30, COLUMN] = -math.inf
    chosen = chosen_for_each(with_round([], LEVELS, tables), LEVELS, COLUMN, rng)
    zeros = [int((rows[:, COLUMN] == -math.inf).sum()) for rows in chosen]
    assert zeros[:-1] == [0] * (len(LEVELS) - 1)
    assert zeros[-1] > 0


def test_few_rows_of_few_rounds_are_kept_and_rungs_that_see_enough_need_none() -> None:
    rng = np.random.default_rng(7)
    seen = rounds([10, 20, 40, 2 * MOST_OF_A_RUNG + 1], rng)
    assert [len(one[0][1]) for one in seen] == [20, 40, 201]
    assert len(seen) == ROUNDS
    assert not is_wanted([np.zeros((ENOUGH, 3))] * 2)
    assert not is_wanted([np.zeros((4, 3)), np.zeros((40, 3))])
    assert not is_wanted([np.zeros((40, 3))])
    assert is_wanted([np.zeros((40, 3)), np.zeros((ENOUGH, 3))])


def test_on_each_rung_the_reference_that_knows_more_modes_is_taken() -> None:
    one = Mixed(np.ones(1), np.zeros((1, 2)), np.eye(2)[None], 3.0)
    two, other = (
        Mixed(np.full(2, 0.5), np.full((2, 2), place), np.stack([np.eye(2)] * 2), 3.0)
        for place in (1.0, 2.0)
    )
    taken = Students.of([one, two, two, one]).or_with_more_components(
        Students.of([one._replace(degrees=9.0), one, other, other])
    )
    assert [taken.components(rung) for rung in range(4)] == [1, 2, 2, 2]
    assert taken.degrees[0] == 3.0
    np.testing.assert_array_equal(taken.means[1:, 0, 0], [1.0, 2.0, 2.0])


def test_a_store_keeps_what_was_seen() -> None:
    rng = np.random.default_rng(8)
    seen = rounds([20, 40], rng)
    seen[-1][-1][1][:3, COLUMN] = -math.inf
    kept = from_json(json.loads(json.dumps(to_json(seen))), "seen")
    again, first = (
        chosen_for_each(one, LEVELS, COLUMN, np.random.default_rng(9)) for one in (kept, seen)
    )
    for found, expected in zip(again, first, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.validation(shortest=0.1)
def test_a_short_run_knows_the_weights_of_eighteen_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The egg box in 100,000 evaluations. Each rung by itself: about 0.036 (five runs)."""
    density = DENSITIES["egg box"]
    truth = np.array(density.truth.means)[list(density.modes)]

    def error(seeds: range) -> float:
        off = []
        for seed in seeds:
            problem = aptmc.Tempered(density.log_likelihood, prior_of("egg box"))
            run = aptmc.sample(
                problem, budget=50_000, on=aptmc.VirtualTime(2), keep="all", seed=seed,
                progress=False,
            )  # fmt: skip
            states = np.concatenate([chain.state for chain in run.chains()])
            draws = np.asarray(problem.constrain(states[:, :2]))
            off.append(density.quantities(draws).mean(axis=0)[list(density.modes)] - truth)
        return float(np.sqrt(np.mean(np.square(off))))

    by_all = error(range(1, 13))
    monkeypatch.setattr(aptmc.EllipticalSlice, "learns_from_all", False)
    alone = error(range(1, 13))
    assert by_all < 0.75 * alone
    assert by_all < 0.025
