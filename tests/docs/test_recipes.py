"""The recipes run, each where what it needs is installed."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

import aptmc

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"
RECIPE = re.compile(
    r"^<!-- needs: (?P<needs>\w+) -->\n```python no-run\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
RECIPES = {found["needs"]: found["code"] for found in RECIPE.finditer(PAGE.read_text("utf-8"))}
PROGRAM = re.compile(r"^```python no-run\n(# r_model\.py\n.*?)^```$", re.MULTILINE | re.DOTALL)
IN_R, IN_JULIA = '["Rscript", "-e", SCRIPT]', '["julia", "--startup-file=no", "-e", SCRIPT]'
JULIA = re.compile(r'^## Julia$.*?^SCRIPT = """\n(.*?)^"""$', re.MULTILINE | re.DOTALL)
A_FUNCTION = "simulate(rng, birth, death) = (birth + death * randn(rng), death * rand(rng), 0.0)\n"
# Counted, so that a machine with much else to do takes longer, and nothing else.
SIMULATIONS = 200


def test_all_of_them_are_found() -> None:
    assert set(RECIPES) == {"Rscript", "elfi", "gillespy2", "mesa", "sbi", "starsim"}
    assert all('budget="20 s"' in code for code in RECIPES.values())


@pytest.mark.validation
@pytest.mark.parametrize("needs", RECIPES)
def test_a_recipe_runs(needs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which(needs) is None and find_spec(needs) is None:
        pytest.skip(f"needs {needs}")
    script = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", script)
    said = f'budget="{SIMULATIONS} simulations", seed=1, progress=False'
    code = RECIPES[needs].replace('budget="20 s"', said)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        exec(compile(code, str(PAGE), "exec"), script.__dict__)
    run: aptmc.Run = script.__dict__["run"]
    _check(run)


@pytest.mark.validation(shortest=0.1)
def test_a_program_of_r_is_started_once_in_each_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes of a seed and parameters depends on nothing that a process computed before."""
    if shutil.which("Rscript") is None:
        pytest.skip("needs Rscript")
    found = PROGRAM.search(PAGE.read_text("utf-8"))
    assert found is not None
    (tmp_path / "r_model.py").write_text(found[1])
    monkeypatch.syspath_prepend(str(tmp_path))
    r_model = importlib.import_module("r_model")
    first, *_, again = (r_model.simulate([4.0, 1.5], np.random.default_rng(k)) for k in (1, 2, 1))
    assert np.array_equal(first, again)
    prior = aptmc.Prior(mean=stats.uniform(0, 10), size=stats.uniform(0.1, 5))
    distance = aptmc.distance.p_norm(2)
    problem = aptmc.Abc(r_model.simulate, prior, observed=first, distance=distance)
    run = aptmc.sample(
        problem, budget=f"{5 * SIMULATIONS} simulations", seed=1, on=aptmc.Processes(2),
        progress=False,
    )  # fmt: skip
    _check(run)
    r_model.program(os.getpid()).communicate()  # the end of its input is its end


def test_the_program_in_julia_is_julia() -> None:
    """Its syntax, by a parser: Julia itself is seldom at hand."""
    grammar = pytest.importorskip("tree_sitter_julia")
    parser = importlib.import_module("tree_sitter")
    read = parser.Parser(parser.Language(grammar.language())).parse
    program = _in_julia()
    assert not read(program.encode()).root_node.has_error
    assert read(program.removesuffix("end\n").encode()).root_node.has_error


def test_a_program_of_julia_is_started_once_in_each_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file for R with another command and another program, as the page says."""
    text = PAGE.read_text("utf-8")
    found = PROGRAM.search(text)
    assert found is not None
    assert f"`{IN_JULIA}`" in text
    assert IN_R in found[1]
    code = re.sub(r'(?s)^SCRIPT = """\n.*?^"""$', "SCRIPT = PROGRAM", found[1], flags=re.MULTILINE)
    code = f"PROGRAM = {_in_julia()!r}\n{code.replace(IN_R, IN_JULIA)}"
    compile(code, "julia_model.py", "exec")
    if shutil.which("julia") is None:
        pytest.skip("needs julia")
    (tmp_path / "julia_model.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    model = importlib.import_module("julia_model")
    first, *_, again = (model.simulate([4.0, 1.5], np.random.default_rng(k)) for k in (1, 2, 1))
    assert np.array_equal(first, again)
    model.program(os.getpid()).communicate()


def _in_julia() -> str:
    found = JULIA.search(PAGE.read_text("utf-8"))
    assert found is not None
    return A_FUNCTION + found[1]


def _check(run: aptmc.Run) -> None:
    assert run.simulations > SIMULATIONS // 10  # most may go to finding a tolerance
    assert run.stopped is aptmc.StopReason.BUDGET_SPENT
    assert len(run.draws["posterior"].data_vars) == 2
