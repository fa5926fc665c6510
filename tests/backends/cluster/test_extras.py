"""Engines that are not installed are named, with what to do."""

from __future__ import annotations

import sys

import pytest

import aptmc


@pytest.mark.parametrize(
    ("library", "make", "extra"),
    [
        ("distributed", lambda: aptmc.Dask("tcp://127.0.0.1:1"), "dask"),
        ("ray", lambda: aptmc.Ray(workers=2), "ray"),
    ],
)
def test_an_extra_that_is_missing_is_named(library, make, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(aptmc.InputError, match=rf"pip install 'aptmc\[{extra}\]'"):
        make()
