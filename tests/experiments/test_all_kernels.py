"""The table of all kernels: slopes are those of the densities, and what is kept is read again."""

from __future__ import annotations

import json
import math
from argparse import Namespace

import numpy as np
import pytest

import aptmc
from aptmc.warmup import found as warmup_found
from experiments.known_targets import gradients, kernels

STEP = 1e-5


def plain(function):
    """Not compiled, which would take longer than all of this."""
    return getattr(function, "py_func", function)


def by_differences(log_density, theta):
    found = np.empty(theta.size)
    for i in range(theta.size):
        aside = np.zeros(theta.size)
        aside[i] = STEP
        found[i] = (log_density(theta + aside) - log_density(theta - aside)) / (2.0 * STEP)
    return found


def is_slope(slope, log_density, theta):
    # Rounding of a log density of up to 1e5, over the step, and the third derivative by its square.
    wanted = by_differences(log_density, theta)
    return np.allclose(slope(theta), wanted, rtol=1e-5, atol=1e-4)


@pytest.fixture(autouse=True)
def no_compilation(monkeypatch):
    monkeypatch.setattr(gradients, "njit", lambda **_: lambda function: function)
    monkeypatch.setattr(
        "experiments.known_targets.smooth.njit", lambda **_: lambda function: function
    )


@pytest.mark.parametrize("name", gradients.SLOPES)
def test_slopes_are_those_of_the_densities(name):
    problem = kernels.PLAIN[name].make_problem()
    log_density = plain(
        problem.log_likelihood if isinstance(problem, aptmc.Tempered) else problem.log_density
    )
    slope = plain(gradients.SLOPES[name]())
    rng = np.random.default_rng(1)
    for _ in range(3):
        theta = rng.uniform(0.3, 0.9, problem.dimension)
        if name == "twenty modes":  # where two of them have a share
            theta = 0.5 * (gradients.densities.MODES[16] + gradients.densities.MODES[17])
            theta = theta + rng.normal(0.0, 0.05, 2)
        assert is_slope(slope, log_density, theta)
        assert not is_slope(lambda theta: 1.01 * slope(theta), log_density, theta)


def test_all_targets_have_slopes():
    assert set(gradients.SLOPES) == set(kernels.PLAIN) == set(kernels.ALONG)


def options(folder, **more):
    return Namespace(kept=folder, scale=None, runs=4, **more)


def keep(folder, kernel, means, scale=0.3):
    for seed, mean in enumerate(means, start=1):
        line = {
            "scale": scale, "seed": seed, "sums": [[mean, 1.0]] * 3, "rungs": 3,
            "swap_rates": [0.4], "round_trips": 5,
        }  # fmt: skip
        with kernels.file_of(folder, "gamma mixture", kernel).open("a") as lines:
            lines.write(json.dumps(line) + "\n")


def test_what_is_kept_is_not_done_again(tmp_path):
    keep(tmp_path, "automatic, gradient", [1.0, 2.0])
    cells = [("gamma mixture", "automatic, gradient"), ("gamma mixture", "walk")]
    tasks = kernels.missing(cells, tmp_path, options(tmp_path))
    assert {(task.kernel, task.seeds) for task in tasks} == {
        ("automatic, gradient", (3, 4)),
        ("walk", (1, 2, 3, 4)),
    }
    longer = Namespace(scale=0.5, runs=1)  # runs of another length are other runs
    assert [task.seeds for task in kernels.missing(cells[:1], tmp_path, longer)] == [(1,)]


def test_errors_that_are_half_as_large_are_worth_four_times_as_many_draws(tmp_path):
    target = kernels.PLAIN["gamma mixture"]
    truths = [
        quantity.truth**2 if quantity.is_root else quantity.truth for quantity in target.quantities
    ]
    for kernel, error in ((kernels.BEFORE, 0.02), (kernels.NOW, 0.01)):
        for seed, sign in enumerate((-1.0, 1.0), start=1):
            sums = [[truth + sign * error, (truth**2) + 1.0] for truth in truths]
            line = {
                "scale": 0.3, "seed": seed, "sums": sums, "rungs": 3, "swap_rates": [math.nan],
                "round_trips": 0,
            }  # fmt: skip
            with kernels.file_of(tmp_path, target.name, kernel).open("a") as lines:
                lines.write(json.dumps(line) + "\n")
    names = [kernels.BEFORE, kernels.NOW, "walk"]
    row = kernels.table([target.name], names, tmp_path, options(tmp_path)).splitlines()[-1]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:2] == [target.name, "2"]
    assert cells[4:] == ["-", "4.0"]


def test_a_kernel_of_the_table_stays_and_the_automatic_one_may_be_changed(monkeypatch):
    class Asks:
        budget, quantities = 1, ()

        @staticmethod
        def sample(_budget, _seed):
            return warmup_found.rival_of(aptmc.Nuts())

    monkeypatch.setitem(kernels.ALONG, "asks", Asks)
    monkeypatch.setattr(kernels, "measure_run", lambda run, _quantities: run)
    assert kernels.sampled("asks", "Nuts", 1.0, 1) is None
    other = kernels.sampled("asks", "automatic, gradient", 1.0, 1)
    assert isinstance(other, aptmc.EllipticalSlice)
