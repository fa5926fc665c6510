"""The garbage collector stands still while the compiler works, and then goes on as before."""

from __future__ import annotations

import gc

import pytest
from numba import njit

from aptmc.compiled import compiled_like
from aptmc.garbage import uncollected


def test_nothing_is_collected_inside_and_all_is_as_it_was_afterwards():
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_who_has_switched_it_off_has_it_off_afterwards():
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_function_that_cannot_be_compiled_leaves_it_on():
    def model(x: float) -> float:
        raise NotImplementedError

    seen = []
    dispatcher = njit(lambda x: x + "one")

    def kept() -> None:
        seen.append(gc.isenabled())

    class Cache:
        load_overload = save_overload = lambda self, *_: kept()

    with pytest.raises(Exception, match="Failed in nopython mode"):
        compiled_like(model, dispatcher.py_func, Cache())
    assert seen == [False]
    assert gc.isenabled()
