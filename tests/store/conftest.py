"""Stores that tests begin with."""

from __future__ import annotations

import pytest

from tests.support.stores import sampled


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.zarr"


@pytest.fixture
def stored(path, monkeypatch):
    sampled(path, monkeypatch)
    return path
