"""How samplers are compared: by the errors of their posterior means over independent runs."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.lotka_volterra import comparison, gain
from experiments.lotka_volterra.precision import Precision
from experiments.lotka_volterra.samplers import PARAMETERS
from experiments.lotka_volterra.truth import Truth, truth

# A variance over so many runs is known to 1 %: 4 standard errors are 4 %.
RUNS = 20_000
TRUTH = Truth(
    dict.fromkeys(PARAMETERS, 0.0), dict.fromkeys(PARAMETERS, 1.0), dict.fromkeys(PARAMETERS, 0.0)
)


def errors(draws, *, runs=RUNS, seed=1):
    """Errors of the means of so many independent draws."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((len(PARAMETERS), runs)) / np.sqrt(draws)


def test_independent_draws_are_counted():
    precision = Precision(errors(50), events=0.4)
    assert precision.by_mean == pytest.approx([125.0] * 3, rel=0.04)
    # A median is known to 1.17 % / 0.8 here.
    assert precision.by_median == pytest.approx([125.0] * 3, rel=0.1)


def test_a_run_that_went_astray_counts_in_the_mean_and_not_in_the_median():
    some = errors(50)
    some[:, : RUNS // 100] = 3.0
    precision = Precision(some, events=0.4)
    assert max(precision.by_mean) < 25.0
    assert precision.by_median == pytest.approx([125.0] * 3, rel=0.1)


def gain_and_range(seed):
    """Of a sampler that is four times as good as another, from 40 runs of each."""
    slow = Precision(errors(50, runs=40, seed=2 * seed), events=0.4)
    fast = Precision(errors(200, runs=40, seed=2 * seed + 1), events=0.4)
    assert slow.gain_over(slow, "by_mean") == "1"
    gain, low, _, high = fast.gain_over(slow, "by_mean").replace("(", "").replace(")", "").split()
    return float(gain), float(low), float(high)


@pytest.mark.validation
def test_two_thirds_of_the_ranges_hold_the_gain():
    ranges = [gain_and_range(seed) for seed in range(100)]
    assert all(low < gain < high for gain, low, high in ranges)
    # 4 standard errors of a share of two thirds of 100.
    held = np.mean([low < 4.0 < high for _, low, high in ranges])
    assert abs(held - 2 / 3) < 0.19
    assert np.mean([low < 2.5 < high for _, low, high in ranges]) < 2 / 3 - 0.19


def result(name, processors, draws, seed):
    """Of runs whose means are those of so many independent draws."""
    means = dict(zip(PARAMETERS, errors(draws, runs=200, seed=seed).tolist(), strict=True))
    return {
        "name": name, "processors": processors, "chains": 20, "budget": 1e9 / processors,
        "idle": [0.0], "round_trips": [1], "completions": [20], "means": means,
        "ess": {name: [1.0] for name in PARAMETERS},
    }  # fmt: skip


def test_gains_are_over_the_best_classical_sampler_with_as_many_processors():
    results = [
        result("synchronous, rungs, 1 per rung, cap 1", 4, 100, 1),
        result("synchronous, rungs, 2 per rung, cap 1", 4, 1000, 2),
        result("synchronous, reassignment, 2 per rung, cap 1", 4, 100_000, 3),
        result("anytime, rungs, shared, 1 per rung, 1 sweeps, cap 1", 4, 10_000, 4),
        result("anytime, rungs, shared, 1 per rung, 1 sweeps, cap 1", 16, 1, 5),
    ]
    rows = [row.split(" | ") for row in comparison.table(results, TRUTH).splitlines()[2:]]
    gains = [float(row[6].split()[0]) for row in rows]
    assert gains == pytest.approx([0.1, 1.0, 100.0, 10.0, 1.0], rel=0.4)
    assert rows[0][1] == "synchronous, rungs, 1 per rung"


@pytest.mark.parametrize("setting", gain.SETTINGS.values(), ids=lambda one: str(one.tolerance))
def test_a_pool_has_more_chains_than_processors(setting):
    for processors in setting.few:
        assert setting.rungs * setting.few[processors] > processors
        assert setting.rungs * setting.many[processors] >= 2 * processors


@pytest.mark.validation(shortest=0.1)  # experiments keep their books, whatever aptmc does
def test_runs_are_kept_and_only_missing_ones_are_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(comparison, "BATCH", 2)
    path = tmp_path / "gain.jsonl"
    sampler = gain.synchronous(gain.PAPER, "rungs", 4, 1, cap=1)

    def measured(runs):
        return comparison.measure_all([sampler], path, scale=0.01, runs=runs)

    (few,) = measured(2)
    kept = path.read_text()
    assert measured(2) == [few]
    assert path.read_text() == kept
    (more,) = measured(3)
    assert path.read_text().startswith(kept)
    assert len(path.read_text().splitlines()) == 2
    for name in PARAMETERS:
        assert more["means"][name][:2] == few["means"][name]
        assert len(set(more["means"][name])) == 3
    text = comparison.table([more], TRUTH)
    row = text.splitlines()[-1]
    assert row.startswith("| 4 | synchronous, rungs, 1 per rung | ")
    assert row.count("|") == text.splitlines()[0].count("|")


@pytest.mark.validation
def test_the_truth_is_found_once(tmp_path):
    path = tmp_path / "truth.json"
    found = truth(gain.PAPER, path, scale=0.0)
    assert truth(gain.PAPER, path, scale=0.0) == found
    # It is 0.91; here there are some sixty draws.
    assert found.error["birth"] < 0.2
    assert abs(found.mean["birth"] - 0.912) < 4 * found.error["birth"] * found.sd["birth"]
