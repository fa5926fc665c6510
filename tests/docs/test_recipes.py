"""The recipes run, each where what it needs is installed."""

from __future__ import annotations

import re
import shutil
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import aptmc

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"
RECIPE = re.compile(
    r"^<!-- needs: (?P<needs>\w+) -->\n```python no-run\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
RECIPES = {found["needs"]: found["code"] for found in RECIPE.finditer(PAGE.read_text("utf-8"))}
BUDGETS = ("10 s", "90 s")  # the second for a machine with much else to do


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
    for budget in BUDGETS:
        code = RECIPES[needs].replace('"20 s"', f'"{budget}", seed=1, progress=False')
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # theirs
            exec(compile(code, str(PAGE), "exec"), script.__dict__)
        run: aptmc.Run = script.__dict__["run"]
        if run.simulations > 50:
            break
    assert run.simulations > 50
    assert run.stopped is aptmc.StopReason.BUDGET_SPENT
    assert len(run.draws["posterior"].data_vars) == 2
