"""All modules of benchmarks and experiments can be loaded: other tests start few of them."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("benchmarks", "experiments")
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
]


def load(name: str) -> None:
    """Or skip, if it needs a library that is not installed."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "aptmc", "tests", "tools", *FOLDERS):
            raise
        pytest.skip(f"{name} needs {missing}")


@pytest.mark.parametrize("name", MODULES)
def test_it_can_be_loaded(name):
    load(name)


def test_what_has_rotten_would_be_seen(tmp_path, monkeypatch):
    (tmp_path / "rotten.py").write_text("from aptmc import something_that_has_gone\n")
    (tmp_path / "older.py").write_text("import benchmarks.something_that_has_gone\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("rotten", "older"):
        with pytest.raises(ImportError):
            load(name)


def test_tables_that_were_measured_are_shown(tmp_path, capsys):
    """On a machine that cannot measure them."""
    growth = importlib.import_module("benchmarks.lanes_growth")
    growth.draw(json.loads(growth.TABLE.read_text()), tmp_path / "growth.png")
    assert (tmp_path / "growth.png").stat().st_size > 1000
    precision = importlib.import_module("benchmarks.lanes_precision")
    precision.show(json.loads(precision.TABLE.read_text()))
    assert capsys.readouterr().out.count("\n| ") > 2
