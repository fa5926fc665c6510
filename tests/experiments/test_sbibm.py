"""The benchmark of simulation-based inference: what needs neither its data nor a classifier."""

from __future__ import annotations

import bz2
import json
import math

import numpy as np
import pytest

from experiments.sbibm import table
from experiments.sbibm.cells import Cell, sampled, sets_of_draws
from experiments.sbibm.data import observed, pack, reference_draws
from experiments.sbibm.published import BEST
from experiments.sbibm.tasks import TASKS
from experiments.sbibm.two_sample_test import from_real_line, to_real_line


def test_files_are_read_as_the_benchmark_has_them(tmp_path):
    files = tmp_path / "sir" / "files" / "num_observation_2"
    files.mkdir(parents=True)
    (files / "observation.csv").write_text("data_1,data_2\n1.5,2.0\n", encoding="utf-8")
    packed = bz2.compress(b"parameter_1\n0.25\n0.5\n")
    (files / "reference_posterior_samples.csv.bz2").write_bytes(packed)
    assert observed(tmp_path, "sir", 2).tolist() == [1.5, 2.0]
    assert reference_draws(tmp_path, "sir", 2).tolist() == [[0.25], [0.5]]
    pack(tmp_path, tmp_path / "elsewhere", [("sir", 2)])
    assert observed(tmp_path / "elsewhere", "sir", 2).tolist() == [1.5, 2.0]
    assert reference_draws(tmp_path / "elsewhere", "sir", 2).tolist() == [[0.25], [0.5]]


def test_bounds_are_kept_on_the_way_to_the_real_line_and_back():
    lower, upper = np.array([-1.0, 0.0, -math.inf]), np.array([1.0, math.inf, math.inf])
    draws = np.column_stack([np.linspace(-0.99, 0.99, 9), np.geomspace(0.1, 9, 9), np.arange(9)])
    real = to_real_line(draws, lower, upper)
    np.testing.assert_allclose(from_real_line(real, lower, upper), draws)
    far = from_real_line(real + 30.0, lower, upper)
    assert (far[:, 0] <= 1.0).all()


@pytest.mark.validation
def test_a_run_gives_as_many_draws_as_are_compared():
    cell = Cell("gaussian_mixture", 1000, 1, draws=50)
    run = sampled(TASKS[cell.task].problem(np.array([1.0, 2.0])), cell)
    sets = sets_of_draws(run, cell.draws, np.random.default_rng(1))
    assert {name: draws.shape for name, draws in sets.items()} == {
        "draws": (50, 2),
        "adjusted": (50, 2),
    }
    assert run.elapsed <= 1000


def test_the_table_has_what_was_measured_beside_what_was_published(tmp_path):
    asked = [Cell("sir", 10_000, observation) for observation in (1, 2, 3)]
    for cell, accuracy in zip(asked[:2], (0.5, 0.6), strict=True):
        cell.path(tmp_path).parent.mkdir(exist_ok=True)
        found = {"accuracy": dict.fromkeys(table.WAYS, accuracy), "tolerance": 2.0, "effective": 9}
        cell.path(tmp_path).write_text(json.dumps(found), encoding="utf-8")
    row = table.table(asked, tmp_path).splitlines()[-1]
    assert row == (
        "| sir | 10,000 | 1, 2 | 2, 2 | 9, 9 | 0.550 | 0.550 | 0.550 | 0.550 | 0.608 | 0.582 |"
    )


@pytest.mark.parametrize(
    "name",
    [
        # To compile it takes a second.
        pytest.param(name, marks=[pytest.mark.validation] if name == "sir" else [])
        for name in TASKS
    ],
)
def test_tasks_are_published_and_simulate_what_their_paper_says(name):
    assert {simulations for task, simulations in BEST if task == name} == {10**3, 10**4, 10**5}
    theta = np.full({"slcp": 5, "gaussian_linear": 10}.get(name, 2), 0.3)
    rng = np.random.default_rng(1)
    simulate = TASKS[name].simulate
    data = np.array([simulate(theta, rng) for _ in range(2000)])
    means = {
        "two_moons": [0.25 + 0.2 / math.pi - 0.6 / math.sqrt(2.0), 0.0],
        "gaussian_mixture": [0.3, 0.3],
        "slcp": [0.3] * 8,
        "gaussian_linear": [0.3] * 10,
    }
    if name in means:
        error = np.abs(data.mean(axis=0) - means[name]) / (data.std(axis=0) / math.sqrt(2000))
        assert error.max() < 4.5
    else:
        assert data.shape == (2000, 10)
        assert data[:, 0].max() <= 1  # one infected of a million
