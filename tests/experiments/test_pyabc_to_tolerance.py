"""Down to a tolerance the descent takes no more simulations than pyABC's algorithm."""

from __future__ import annotations

import pytest

from benchmarks.population_monte_carlo import compiled_generations, generations, last_generation
from benchmarks.pyabc_cases import CASES
from benchmarks.pyabc_to_tolerance import GOALS, Cost
from benchmarks.pyabc_virtual import costs, with_cost

RUNS = 3


@pytest.mark.validation
@pytest.mark.parametrize("name", ["sleeping", "two modes"])
def test_no_more_simulations_than_populations(name) -> None:
    goal = GOALS[name][0]
    assert goal == CASES[name].goal
    ours, theirs = costs(CASES[name], goal, RUNS)
    assert len(ours.counts) == len(theirs.counts) == RUNS
    # A population of 100 from the median of 100 distances takes 300 simulations at least.
    assert min(theirs.counts) >= 300
    assert ours.median <= theirs.median


@pytest.mark.validation
def test_a_budget_that_ends_after_a_generation_has_that_one() -> None:
    case = CASES["two modes"]
    hits = compiled_generations(case, with_cost(case))
    first, second, third = list(generations(case, hits, 200.0, 1))[:3]
    assert 0.0 < first.spent < second.spent < third.spent < 200.0
    assert first.tolerance > second.tolerance > third.tolerance
    last = last_generation(case, hits, (second.spent + third.spent) / 2.0, 1)
    assert last is not None
    assert (last.tolerance, last.spent) == (second.tolerance, second.spent)
    assert last_generation(case, hits, first.spent / 2.0, 1) is None


def test_a_cost_in_words() -> None:
    assert str(Cost([1200.0, 300.0, 45_000.0])) == "1,200 (300 to 45,000)"
