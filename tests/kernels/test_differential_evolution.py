"""Differential evolution from a frozen archive leaves its target alone."""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc.errors import InputError
from aptmc.kernels import Archive, Seen, differential_evolution
from aptmc.kernels.differential_evolution import ARCHIVE, propose_way
from tests.kernels.contract import KernelContract
from tests.kernels.models import Density, Simulator

POINTS = np.random.default_rng(1).gamma(2.0, size=(3, 12, 1))  # not symmetric
ARCHIVED = Archive(POINTS, np.array([1.7, 1.5, 1.0]))


def only_upwards(rng, dimension, tuning, here, there):
    """A planted error: ways are taken from the lower state to the higher one only."""
    is_jump = propose_way.py_func(rng, dimension, tuning, here, there)
    there[0] = here[0] + abs(there[0] - here[0]) * (1.0 if rng.random() < 0.8 else -1.0)
    return is_jump


class TestDensity(KernelContract):
    model = Density()
    kernel = aptmc.DifferentialEvolution(ARCHIVED, steps=3)
    learning = aptmc.DifferentialEvolution()

    def plant(self, monkeypatch):
        """Steps up are likelier than steps down."""
        monkeypatch.setattr(differential_evolution, "propose_way", only_upwards)
        return self.kernel


@pytest.mark.validation(shortest=0.1)  # proposals and races keep theirs on their own
class TestSimulator(KernelContract):
    model = Simulator()
    kernel = aptmc.DifferentialEvolution(ARCHIVED, steps=3)
    learning = aptmc.DifferentialEvolution()

    def plant(self, monkeypatch):
        """What the prior refuses is simulated all the same."""
        monkeypatch.setattr(differential_evolution, "accepts", lambda log_ratio, uniform: True)
        return self.kernel


def test_steps_have_the_shape_of_the_archive_and_jumps_go_the_whole_way():
    # Two modes along the diagonal: no covariance has this shape.
    archive = np.array([[0.0, 0.0], [10.0, 10.0], [0.1, 0.0], [10.0, 10.1]])
    tuning = np.array([1.0, 0.5, 0.5, 0.0, *archive.ravel()])
    rng = np.random.default_rng(1)
    ways = {tuple(np.round(to - start, 6)) for start in archive for to in archive}
    jumps = 0
    for _ in range(500):
        there = np.zeros(2)
        is_jump = propose_way(rng, 2, tuning, np.zeros(2), there)
        scale = 1.0 if is_jump else 0.5
        assert tuple(np.round(there / scale, 6) + 0.0) in ways
        jumps += is_jump
    assert 200 < jumps < 300


def test_noise_goes_everywhere():
    archive = np.array([[0.0, 0.0], [1.0, 2.0]])
    tuning = np.array([1.0, 0.5, 0.0, 0.1, *archive.ravel()])
    rng = np.random.default_rng(1)
    points = np.zeros((500, 2))
    for there in points:
        propose_way(rng, 2, tuning, np.zeros(2), there)
    across = points @ np.array([2.0, -1.0])
    assert 0.01 < across.std() < 0.3


def test_the_archive_is_filled_by_what_each_rung_has_seen():
    model = Density()
    kernel = aptmc.DifferentialEvolution().at_first(np.ones(1), 3)
    draws = [np.full((n, 1), float(n)) for n in (300, 400, 250)]
    seen = Seen(
        model.ladder.levels,
        draws,
        np.full(3, 500.0),
        np.full(3, 500.0),
        np.array([400.0, 25.0, 500.0]),
        {name: np.zeros(3) for name in kernel.statistics},
        0.0,
    )
    archive = kernel.adapted(seen).archive
    assert archive.states.shape == (3, 200, 1)
    assert archive.states[:, 0, 0].tolist() == [300.0, 400.0, 250.0]
    # Accepted too often, too seldom, and on the rung that is the prior.
    before = kernel.archive.scales
    assert archive.scales[0] > before[0]
    assert archive.scales[1] < before[1]
    assert archive.scales[2] == before[2]
    row = kernel.adapted(seen).tuning(model.compiled, model.ladder)[1]
    assert row.size == ARCHIVE + 200


def test_wrong_arguments_are_refused():
    model = Density()
    with pytest.raises(InputError, match="archive must be"):
        aptmc.DifferentialEvolution("now")
    with pytest.raises(InputError, match="noise must be"):
        aptmc.DifferentialEvolution(noise=-1.0)
    with pytest.raises(InputError, match="filled in a warm-up"):
        aptmc.DifferentialEvolution().tuning(model.compiled, model.ladder)
    given = aptmc.DifferentialEvolution(ARCHIVED)
    with pytest.raises(InputError, match="for 3 rungs and 1 coordinates"):
        given.tuning(model.compiled, aptmc.Ladder.powers([1.0]))
