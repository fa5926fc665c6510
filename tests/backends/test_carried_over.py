"""What this process has set is set in its workers."""

from __future__ import annotations

import decimal
import locale
import os
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special, stats

import aptmc
from aptmc.backends.workers.carried_arrays import SpecialFunctions
from aptmc.backends.workers.carried_over import seen_here, take_over
from aptmc.backends.workers.carried_python import Environment, Warnings
from tests.backends.contract import run_until
from tests.support import simulators


def settings():
    """All that is looked at, as it is in the process that asks."""
    return {
        "arguments": list(sys.argv),
        "depth": sys.getrecursionlimit(),
        "variable": os.environ.get("MINE"),
        "folder": os.getcwd(),
        "path": sys.path[0],
        "errors": np.geterr(),
        "printing": np.get_printoptions()["precision"],
        "locale": locale.setlocale(locale.LC_ALL),
        "digits": decimal.getcontext().prec,
        # Libraries that are loaded later put filters of their own before it.
        "filter": ("error", None, BytesWarning, None, 0) in warnings.filters,
    }


class Demanding:
    """A log density that refuses to compute where anything is set otherwise."""

    def __init__(self, wanted):
        self.wanted = wanted

    def __call__(self, theta):
        found = settings()
        if found != self.wanted:
            raise ArithmeticError(f"{found} is not {self.wanted}")
        return -0.5 * theta[0] ** 2


@pytest.fixture
def changed(monkeypatch, tmp_path):
    before = locale.setlocale(locale.LC_ALL), np.get_printoptions(), sys.getrecursionlimit()
    monkeypatch.setattr(sys, "argv", ["program", "--fast"])
    monkeypatch.setenv("MINE", "yes")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    locale.setlocale(locale.LC_ALL, "C.UTF-8")
    np.set_printoptions(precision=3)
    sys.setrecursionlimit(before[2] + 123)
    errors = np.errstate(under="warn", over="raise")
    with errors, decimal.localcontext(prec=60), warnings.catch_warnings():
        warnings.simplefilter("error", BytesWarning)
        yield settings()
    locale.setlocale(locale.LC_ALL, before[0])
    np.set_printoptions(**before[1])
    sys.setrecursionlimit(before[2])


@pytest.mark.filterwarnings("default")
def test_workers_have_what_this_process_has_set(changed):
    problem = simulators.problem(Demanding(changed))
    run = run_until(problem=problem, on=aptmc.Processes(2, group=1))
    assert run.completions >= 60


def test_a_run_in_the_background_has_what_its_caller_has_set(changed):
    problem = aptmc.Tempered(Demanding(changed), aptmc.Prior(x=stats.norm(0.0, 5.0)))
    with aptmc.start(problem, budget=100, on=aptmc.VirtualTime(1), seed=1, progress=False) as run:
        assert run.wait().completions > 0


def test_only_what_was_changed_in_the_environment_travels_to_other_machines(monkeypatch):
    monkeypatch.setenv("MINE", "yes")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    found = Environment().seen(os)
    assert found["MINE"] == "yes"
    assert found["HOME"] is None
    assert found.keys().isdisjoint({"OMP_NUM_THREADS", "PYTHONPATH", "PATH"})
    monkeypatch.setenv("MINE", "no")
    monkeypatch.setenv("HOME", "/somewhere")
    Environment().set(found)
    assert os.environ["MINE"] == "yes"
    assert "HOME" not in os.environ


def test_filters_of_warnings_are_the_same_again():
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", "some words", UserWarning, "a_module", 7)
        warnings.simplefilter("error", np.exceptions.RankWarning)
        warnings.filters.append(("default", None, DeprecationWarning, "__main__", 0))
        known = Warnings().seen(warnings)
        warnings.resetwarnings()
        Warnings().set([*known, ("ignore", "", ("no_such_library", "ItsWarning"), "", 0)])
        assert Warnings().seen(warnings) == [*known[:2], (*known[2][:3], r"__main__\Z", 0)]
        with pytest.raises(np.exceptions.RankWarning):
            warnings.warn("rank", np.exceptions.RankWarning, stacklevel=1)


def test_the_digits_of_mpmath_are_carried_over(monkeypatch):
    ours, theirs = SimpleNamespace(mp=SimpleNamespace(prec=200)), SimpleNamespace(prec=53)
    monkeypatch.setitem(sys.modules, "mpmath", ours)
    known = seen_here()
    assert known["mpmath"] == 200
    monkeypatch.setitem(sys.modules, "mpmath", SimpleNamespace(mp=theirs))
    take_over({"mpmath": known["mpmath"]})
    assert theirs.prec == 200
    monkeypatch.setitem(sys.modules, "mpmath", None)  # as where it is not installed
    take_over({"mpmath": known["mpmath"]})


def test_errors_of_special_functions_travel_only_if_somebody_has_set_them():
    kind = SpecialFunctions()
    assert kind.seen(special) is None
    with special.errstate(domain="raise"):
        settings = kind.seen(special)
    assert settings["domain"] == "raise"
    with special.errstate():
        kind.set(settings)
        with pytest.raises(special.SpecialFunctionError):
            special.log_ndtr(special.spence(-1.0))
        kind.set({"of another version": "raise"})
    assert special.geterr()["domain"] == "ignore"


def test_settings_of_torch_are_carried_over():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads(), torch.get_default_dtype()
    torch.set_num_threads(3)
    torch.set_default_dtype(torch.float64)
    try:

        def log_density(theta):
            import torch as there

            if there.get_num_threads() != 3 or there.get_default_dtype() != there.float64:
                raise ArithmeticError("other settings")
            return -0.5 * theta[0] ** 2

        assert run_until(problem=simulators.problem(log_density), on=aptmc.Processes(2, group=1))
    finally:
        torch.set_num_threads(before[0])
        torch.set_default_dtype(before[1])
