"""The examples: scripts that run, pages and notebooks made of them, and what they printed last."""

from __future__ import annotations

import ast
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

import aptmc
from tools import gallery

NAMES = sorted(path.stem for path in gallery.SCRIPTS.glob("*.py"))
# Rungs, tolerances and scales are rough: this is about code, not about posteriors.
SMALL: dict[str, dict[str, Any]] = {
    "decision": {
        "schedule": aptmc.Anytime(every=10),
        "on": aptmc.VirtualTime(2, hold=lambda theta, rung, rng: 1.0),
        "budget": 1800,
    },
    "epidemic": {
        "ladder": aptmc.Ladder.tolerances([6.0, 8.0, 12.0]),
        "kernel": aptmc.OneHit(0.5),
        "budget": 30,
    },
    "expensive_likelihood": {
        "ladder": aptmc.Ladder.powers([1, 0.1]),
        "kernel": aptmc.RandomWalk(0.05),
        "budget": 20,
    },
    "external_program": {
        "ladder": aptmc.Ladder.tolerances([2.0, 4.0, 8.0]),
        "kernel": aptmc.OneHit(0.5),
        "budget": 15,
    },
    "mixture": {
        "ladder": aptmc.Ladder.powers([1, 0.1, 0]),
        "kernel": aptmc.RandomWalk(0.5),
        "budget": 60,
    },
    "predators_and_prey": {
        "ladder": aptmc.Ladder.tolerances([10.0, 50.0]),
        "kernel": aptmc.OneHit(0.5),
        "budget": 60,
    },
}


def test_each_has_its_place() -> None:
    assert NAMES == sorted(gallery.ORDER) == sorted([*SMALL, "cluster"])


LONG = ("predators_and_prey",)  # is compiled


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.validation] if n in LONG else []) for n in SMALL],
)
def test_it_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a small budget in virtual time, and plain Python in place of compiled functions."""
    if name == "external_program" and shutil.which("awk") is None:
        pytest.skip("needs awk")
    example = gallery.read(name)
    njit, budgets = numba.njit, []

    def small(call: Any) -> Any:
        def called(problem: Any, *, budget: Any, **options: Any) -> Any:
            budgets.append(budget)
            usual = {
                "schedule": aptmc.Synchronous(),
                "on": aptmc.VirtualTime(hold=lambda theta, rung, rng: 1.0),
                "progress": False,
            }
            return call(problem, **(options | usual | SMALL[name]))

        return called

    def plain(function: Any = None, **options: Any) -> Any:
        is_ours = getattr(function, "__module__", None) == "__main__"
        return function if is_ours else njit(function, **options)

    monkeypatch.setattr(aptmc, "sample", small(aptmc.sample))
    monkeypatch.setattr(aptmc, "start", small(aptmc.start))
    monkeypatch.setattr(numba, "njit", plain)
    printed = gallery.run(example, tmp_path)
    assert len(budgets) == 1
    assert "r-hat" in "".join(printed)  # the summary
    for cell in example.cells:
        for picture in gallery.pictures_in(cell) if not cell.is_text else ():
            assert (tmp_path / picture).stat().st_size > 3000


def test_a_notebook_runs_cell_by_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Jupyter would: what is downloaded, in the names of one session, with its pictures."""
    sample, shown = aptmc.sample, []
    monkeypatch.setattr(
        aptmc,
        "sample",
        lambda problem, **more: sample(
            problem, **(more | SMALL["mixture"]), on=aptmc.VirtualTime(), progress=False
        ),
    )
    display = SimpleNamespace(Image=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.chdir(tmp_path)
    session = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", session)
    book = json.loads(gallery.notebook(gallery.read("mixture")))
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), session.__dict__)
    assert session.__dict__["run"].summary()
    assert shown
    assert all((tmp_path / name).stat().st_size > 3000 for name in shown)


def test_a_script_that_fails_names_its_line(tmp_path: Path) -> None:
    cell = gallery.Cell(is_text=False, source="x = 1\nx / 0", line=7)
    with pytest.raises(ZeroDivisionError) as failure:
        gallery.run(gallery.Example("mixture", "", "", [cell]), tmp_path)
    assert failure.traceback[-1].lineno == 7  # counted from 0


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_is_of_this_script(name: str) -> None:
    """Else: `make gallery`."""
    example = gallery.read(name)
    assert "r-hat" in "".join(gallery.printed_by(example)), "run `python -m tools.gallery`"
    for cell in example.cells:
        for picture in gallery.pictures_in(cell) if not cell.is_text else ():
            size = (gallery.KEPT / name / picture).stat().st_size
            assert 3000 < size < 250_000


@pytest.mark.parametrize("name", NAMES)
def test_what_is_shown_needs_no_warning(name: str) -> None:
    """An example whose draws should not be relied on is none."""
    assert "warning:" not in "".join(gallery.printed_by(gallery.read(name)))


@pytest.mark.parametrize("name", NAMES)
def test_pages_and_notebooks_are_the_script(name: str) -> None:
    example = gallery.read(name)
    code = [cell.source for cell in example.cells if not cell.is_text]
    page = gallery.page(example)
    assert page.startswith(f"# {example.title}\n")
    assert all(f"```python\n{one}\n```" in page for one in code)
    book = json.loads(gallery.notebook(example))
    inside = [one for one in book["cells"] if one["cell_type"] == "code"]
    for cell, one in zip(inside, code, strict=True):
        source = "".join(cell["source"])
        assert source.startswith(one)
        ast.parse(source)
    assert example.about in gallery.index()


def test_changed_code_has_no_output() -> None:
    """The planted error: output of another script must not be shown."""
    example = gallery.read("mixture")
    assert any(gallery.printed_by(example))
    cells = [one._replace(source=one.source.replace("1978", "1979")) for one in example.cells]
    assert not any(gallery.printed_by(example._replace(cells=cells)))


# --- what the simulators do ---------------------------------------------------------------------


@pytest.mark.validation  # compiles, and little that other tests do not show
def test_the_epidemic_is_the_same_compiled_and_not(tmp_path: Path) -> None:
    example = gallery.read("epidemic")
    namespace: dict[str, Any] = {}
    for cell in example.cells:
        if not cell.is_text and "def simulate" in cell.source:
            exec(cell.source, namespace)
    simulate, theta = namespace["simulate"], np.array([1.5, 0.5])
    first = simulate.py_func(theta, np.random.default_rng(3))
    assert first.shape == namespace["IN_BED"].shape
    assert (first == simulate(theta, np.random.default_rng(3))).all()
    assert (first == simulate.py_func(theta, np.random.default_rng(3))).all()


def test_the_queue_gives_the_same_for_the_same_generator() -> None:
    if shutil.which("awk") is None:
        pytest.skip("needs awk")
    namespace: dict[str, Any] = {}
    code = next(one.source for one in gallery.read("external_program").cells if not one.is_text)
    exec(code.partition("problem = ")[0], namespace)
    simulate, theta = namespace["simulate"], np.array([0.5, 0.8])
    first, again = (simulate(theta, np.random.default_rng(3)) for _ in range(2))
    assert first.shape == namespace["OBSERVED"].shape
    assert (first == again).all()


@pytest.mark.validation(shortest=0.1)
def test_the_cluster_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    sample, resume = aptmc.sample, aptmc.resume
    monkeypatch.setattr(
        aptmc, "sample", lambda problem, **more: sample(problem, **(more | {"budget": "15 s"}))
    )
    monkeypatch.setattr(
        aptmc, "resume", lambda *given, **more: resume(*given, **(more | {"budget": "5 s"}))
    )
    gallery.run(gallery.read("cluster"), tmp_path)
    assert (tmp_path / "cluster.png").stat().st_size > 5000
