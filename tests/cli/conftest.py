"""A store and a user's file that commands are tried on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support import seen

SOURCE = """
from scipy import stats
import aptmc

def log_likelihood(theta):
    return -0.5 * theta[0] ** 2

problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.norm(0, 3)))
number = 3

def make():
    return problem

def broken():
    return 1 / 0

def needs_more(data):
    return problem
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(seen.stored(tmp_path_factory.mktemp("commands")))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A user's file; what it leaves behind in this process is removed."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / "model_of_mine.py"
    path.write_text(SOURCE)
    monkeypatch.delitem(sys.modules, path.stem, raising=False)
    monkeypatch.setitem(sys.modules, "tests.support.seen", seen)
    yield str(path)
    sys.modules.pop(path.stem, None)
