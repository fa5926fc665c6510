"""The examples: problems that are well-formed, and pictures that can be drawn."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

import aptmc
from aptmc.problem import Problem

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
PICTURES = {"epidemic": "epidemic.png", "external_program": "queue.png", "mixture": "mixture.png"}
# One or two chains would show nothing; rungs, tolerances and scales are rough.
SMALL: dict[str, dict[str, Any]] = {
    "epidemic": {
        "ladder": aptmc.Ladder.tolerances([6.0, 8.0, 12.0]),
        "kernel": aptmc.OneHit(0.5),
        "budget": 60,
    },
    "mixture": {
        "ladder": aptmc.Ladder.powers([1, 0.1, 0]),
        "kernel": aptmc.RandomWalk(0.5),
        "budget": 60,
    },
    "external_program": {
        "ladder": aptmc.Ladder.tolerances([2.0, 4.0, 8.0]),
        "kernel": aptmc.OneHit(0.5),
        "budget": 15,
    },
}


@pytest.fixture(params=NAMES)
def example(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The example as a module, without running it; plain Python is enough for a small run."""
    name = request.param
    if name == "external_program" and shutil.which("awk") is None:
        pytest.skip("needs awk")
    place = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(place)
    real = numba.njit

    def njit(function: Any, *arguments: Any, **options: Any) -> Any:
        if getattr(function, "__module__", None) == place.name:
            return function
        return real(function, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba, "njit", njit)
        patch.setitem(sys.modules, place.name, module)
        place.loader.exec_module(module)
        yield module


def test_there_is_a_test_for_each() -> None:
    assert NAMES == sorted(PICTURES) == sorted(SMALL)


def test_values_are_finite_all_over_the_prior(example: ModuleType) -> None:
    problem = example.problem
    assert isinstance(problem, Problem)
    assert len(problem.names) >= 2
    rng = np.random.default_rng(1)
    for _ in range(5):
        theta = problem.prior.draw(rng)
        if isinstance(problem, aptmc.Abc):
            simulate = getattr(example, "simulate", None) or example.simulate_sir
            observed = example.OBSERVED if hasattr(example, "OBSERVED") else example.IN_BED
            simulated = simulate(theta, rng)
            assert simulated.shape == observed.shape
            assert np.isfinite(simulated).all()
            distance = example.distance(simulated, observed)
            assert np.isfinite(distance)
            assert distance >= 0
            assert example.distance(observed, observed) == 0
        else:
            assert np.isfinite(example.log_likelihood(theta))


def test_the_same_generator_gives_the_same_simulation(example: ModuleType) -> None:
    if not isinstance(example.problem, aptmc.Abc):
        pytest.skip("has a likelihood")
    simulate = getattr(example, "simulate", None) or example.simulate_sir
    first, again = (simulate(np.array([1.5, 0.5]), np.random.default_rng(3)) for _ in range(2))
    assert (first == again).all()


@pytest.mark.parametrize("example", ["epidemic"], indirect=True)
def test_compiled_it_simulates_the_same(example: ModuleType) -> None:
    theta = np.array([1.5, 0.5])
    plain, fast = example.simulate_sir, numba.njit(example.simulate_sir)
    assert (plain(theta, np.random.default_rng(3)) == fast(theta, np.random.default_rng(3))).all()


def test_it_draws_its_picture(
    example: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = Path(example.__file__).stem
    sample = aptmc.sample

    def small(problem: Problem, *, budget: str, seed: int) -> aptmc.Run:
        assert budget == example.BUDGET
        return sample(
            problem,
            schedule=aptmc.Synchronous(),
            on=aptmc.VirtualTime(hold=lambda theta, rung, rng: 1.0),
            progress=False,
            seed=seed,
            **SMALL[name],
        )

    monkeypatch.setattr(aptmc, "sample", small)
    monkeypatch.chdir(tmp_path)
    example.main()
    assert (tmp_path / PICTURES[name]).stat().st_size > 5000
    assert f"the picture is {PICTURES[name]}" in capsys.readouterr().out
