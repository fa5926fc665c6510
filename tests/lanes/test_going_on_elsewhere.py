"""A run goes on with the compiler with which it began, where its last bits depend on that."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import aptmc
from aptmc.backends.lanes.c_here import _library
from aptmc.errors import InputError
from tests.lanes.problems import lanes, sampled, two_modes
from tests.lanes.test_lanes import LANES, density, draws_of, run_for


@pytest.mark.parametrize(
    ("begun", "other"), [("c", "numba"), pytest.param("numba", "c", marks=pytest.mark.validation)]
)
def test_a_density_goes_on_with_the_code_of_its_compiler(tmp_path, begun, other):
    """Logarithms and sums of two compilers may differ in their last bits."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler here")
    problem, store = density(), tmp_path / "run.zarr"

    def on(compiler):
        return lanes(60, compiler=compiler, settle=0.0)

    settings = {"kernel": aptmc.RandomWalk(1.5), "ladder": aptmc.Ladder.powers([1.0, 0.0])}
    run = sampled(problem, settings, budget=500, on=on(begun), store=store)
    names = {"c": "C", "numba": "numba"}
    with pytest.raises(InputError, match="begun with the code of " + names[begun]):
        aptmc.resume(store, problem, budget=100, on=on(other), progress=False)
    with pytest.raises(InputError, match="here lanes have that of " + names[other]):
        aptmc.replay(store, problem, on=on(other))
    assert aptmc.replay(store, problem, on=on(begun)).is_same
    further = aptmc.resume(store, problem, budget=100, on=on(begun), progress=False)
    assert further.completions > run.completions


@pytest.mark.validation
def test_without_its_compiler_a_simulator_goes_on_and_a_density_does_not(tmp_path, monkeypatch):
    """What simulators draw is computed by sums and products alone, which are the same for all."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler here")
    simulator, store = tmp_path / "simulator.zarr", tmp_path / "density.zarr"
    settings = {"kernel": aptmc.RandomWalk(1.5), "ladder": aptmc.Ladder.powers([1.0, 0.0])}
    on = lanes(LANES, settle=0.0)
    sampled(density(), settings, budget=500, on=on, store=store)
    whole = run_for(budget=1010)
    run_for(budget=505, store=simulator)
    _library.cache_clear()
    monkeypatch.setattr("aptmc.backends.lanes.c_here.COMPILERS", ("no-such-compiler",))
    fresh = two_modes()  # with nothing compiled
    left = aptmc.resume(simulator, fresh, budget=505, on=lanes(LANES, settle=0.0), progress=False)
    assert np.array_equal(draws_of(left), draws_of(whole))
    with pytest.raises(InputError, match="use a machine with a C compiler"):
        aptmc.resume(store, density(), budget=100, on=lanes(LANES), progress=False)
