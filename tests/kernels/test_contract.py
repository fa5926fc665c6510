"""The kernels of the library, each with an error planted in it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import aptmc
from aptmc.kernels import Students, base, one_hit, random_walk
from aptmc.kernels import slice as slice_module
from aptmc.kernels.parts import Parts
from aptmc.problem.chain_state import accepts
from tests.kernels.contract import ALIKE, KernelContract, MoveContract, moved
from tests.kernels.models import Density, Simulator

DENSITY, SIMULATOR = Density(), Simulator()


def too_lenient(log_ratio, uniform):
    return accepts(log_ratio + 1.0, uniform)


def too_low(rng, log_density):
    return log_density + math.log1p(-rng.random()) - 1.0


def narrow(parts):
    def draw(rng, row):
        row[0] = math.sqrt(2.5) * rng.standard_normal()

    return draw


class TestRandomWalk(KernelContract):
    model = DENSITY
    kernel = aptmc.RandomWalk(1.5, spread=0.5, steps=3)
    learning = aptmc.RandomWalk("auto")

    def plant(self, monkeypatch):
        """Accepts too often, by a factor of e."""
        monkeypatch.setattr(random_walk, "accepts", too_lenient)
        return self.kernel


class TestSlice(KernelContract):
    model = DENSITY
    kernel = aptmc.Slice(1.0, stretches=3, steps=3)
    learning = aptmc.Slice("auto")

    def plant(self, monkeypatch):
        """Slices at too low a height, by a factor of e."""
        monkeypatch.setattr(slice_module, "draw_height", too_low)
        return self.kernel


class TestMixture(KernelContract):
    model = DENSITY
    kernel = aptmc.Mixture(aptmc.RandomWalk(1.5), aptmc.Slice(5.0), 0.3, steps=3)
    learning = aptmc.Mixture(aptmc.RandomWalk("auto"), aptmc.Slice(5.0), 0.3)

    def plant(self, monkeypatch):
        """One of the two accepts too often."""
        monkeypatch.setattr(random_walk, "accepts", too_lenient)
        return self.kernel


def test_a_move_that_runs_the_stages_is_the_one_that_runs_the_step(monkeypatch):
    def of(kernel):
        return moved(kernel, DENSITY, 0, compiled=False, number=ALIKE)

    slices = TestSlice.kernel, aptmc.EllipticalSlice(Students.one([1.0], [[2.0]]), steps=2)
    in_stages = [of(kernel) for kernel in slices]
    monkeypatch.setattr(base, "stages_of", lambda step: None)
    for one, kernel in zip(in_stages, slices, strict=True):
        for mine, theirs in zip(one, of(kernel), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.validation  # little that the one above does not show
class TestMixtureOfMixtures(KernelContract):
    model = DENSITY
    kernel = aptmc.Mixture(TestMixture.kernel, aptmc.RandomWalk(0.5), 0.5, steps=2)
    learning = aptmc.Mixture(TestMixture.learning, aptmc.RandomWalk("auto"), 0.5)

    def plant(self, monkeypatch):
        """All walks in it accept too often."""
        monkeypatch.setattr(random_walk, "accepts", too_lenient)
        return self.kernel


class TestOneHit(KernelContract):
    model = SIMULATOR
    kernel = aptmc.OneHit(1.5, cap=3, steps=3)
    learning = aptmc.OneHit("auto")

    def plant(self, monkeypatch):
        """Proposals race although the prior refuses them."""
        monkeypatch.setattr(one_hit, "accepts", lambda log_ratio, uniform: True)
        return self.kernel


class TestJumps(KernelContract):
    model = SIMULATOR
    kernel = aptmc.OneHit(
        1.5, cap=3, steps=3, reference=Students.one([1.0], [[2.0]], degrees=5.0), jumps=0.7
    )
    learning = aptmc.OneHit("auto")

    def plant(self, monkeypatch):
        """Takes a reference for as high everywhere."""
        monkeypatch.setattr(one_hit, "log_mixture", lambda *_: 0.0)
        return self.kernel


class TestFreshProposals(KernelContract):
    model = SIMULATOR
    kernel = aptmc.OneHit(math.inf, cap=5, steps=3)
    learning = aptmc.OneHit("auto")

    def plant(self, monkeypatch):
        """Draws from too narrow a prior."""
        monkeypatch.setattr(Parts, "draw", property(narrow))
        return self.kernel


# --- a move of the user's own ---------------------------------------------------------------------

MEMORY = 0.6


def autoregression(level, theta, rng):
    """A part of where one is, and a part of a fresh draw from the target of the rung."""
    precision = 0.25 + level
    mean, fresh = 3.0 * level / precision, rng.standard_normal(1) / math.sqrt(precision)
    return mean + MEMORY * (theta - mean) + math.sqrt(1.0 - MEMORY * MEMORY) * fresh


class TestOwnMove(MoveContract):
    model = DENSITY
    kernel = aptmc.OwnMove(autoregression)
    is_stored = False

    def plant(self, monkeypatch):
        """A move for the target of another rung."""
        return aptmc.OwnMove(lambda level, theta, rng: autoregression(0.5 * level, theta, rng))
