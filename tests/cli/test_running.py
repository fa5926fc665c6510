"""The command that runs a user's problem: what reaches it, and how it ends."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

import aptmc
from aptmc.cli import main, named_backend
from aptmc.cli.command import FAILED, GOOD, INTERRUPTED, MISUSED
from aptmc.cli.tell_result import tell_result
from aptmc.errors import StopReason
from tests.support import seen

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("absent.py:problem", "there is no file absent.py"),
        ("absent_package:problem", "there is no module 'absent_package'"),
        ("{source}:porblem", "has no 'porblem'; there is problem"),
        ("{source}:number", "is 3, not a problem: use aptmc.Tempered or aptmc.Abc"),
        ("{source}", "names no problem: use file.py:name or package.module:name"),
        ("problem", "names no problem"),
        ("{source}:broken", "broken() raised ZeroDivisionError: division by zero"),
        ("{source}:needs_more", "needs_more() raised TypeError: "),
    ],
)
def test_a_problem_that_cannot_be_found_is_misuse(
    place: str, message: str, source: str, capsys: Captured
) -> None:
    assert main(["run", place.format(source=source), "--budget", "1 s"]) == MISUSED
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import absent_elsewhere", "ModuleNotFoundError: No module named 'absent_elsewhere'"),
        ("x = (", "SyntaxError: '(' was never closed"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_does_not_run_is_named_with_its_line(
    text: str, message: str, source: str, capsys: Captured
) -> None:
    Path(source).write_text(f"# mine\n{text}\n")
    assert main(["run", f"{source}:problem", "--budget", "1 s"]) == MISUSED
    error = capsys.readouterr().err
    assert message in error
    assert f"{Path(source).name}, line 2" in error


def test_a_budget_that_is_not_understood(source: str, capsys: Captured) -> None:
    assert main(["run", f"{source}:problem", "--budget", "10 minuts"]) == MISUSED
    error = capsys.readouterr().err
    assert "budget must be a positive duration, got '10 minuts'" in error
    assert '"10 min"' in error


def small(**changes: Any) -> Any:
    """Stands in for `sample`: a run in virtual time."""

    def sample(problem: Any, **arguments: Any) -> aptmc.Run:
        small.arguments = arguments  # type: ignore[attr-defined]
        return seen.sample(problem, **changes)

    return sample


def test_options_reach_the_run(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(aptmc, "sample", small(), raising=False)
    report = tmp_path / "here.html"
    options = [
        "--budget",
        "2h",
        "--workers",
        "3",
        "--seed",
        "7",
        "--keep",
        "all",
        "--store",
        "s.zarr",
        "--quiet",
        "--json",
    ]
    assert main(["run", f"{source}:make", *options, "--report", str(report)]) == GOOD
    given = small.arguments  # type: ignore[attr-defined]
    assert given["budget"] == "2h"
    assert given["on"].processors == 3
    assert (given["seed"], given["keep"], given["store"]) == (7, "all", "s.zarr")
    assert given["progress"] is False
    assert report.exists()
    captured = capsys.readouterr()
    assert json.loads(captured.out)["stopped"] == "budget_spent"  # and nothing else is there
    assert str(report) in captured.err


def test_an_interrupted_run_has_an_exit_code_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    run = seen.sample()
    run._usage = run._usage._replace(stopped=StopReason.INTERRUPTED)
    options = Namespace(json=False, report=None)
    assert tell_result(run, options) == INTERRUPTED
    assert "mean" in capsys.readouterr().out


def test_an_interruption_at_any_other_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(aptmc, "open", interrupt, raising=False)
    assert main(["summary", "run.zarr"]) == INTERRUPTED


@pytest.mark.parametrize(
    ("on", "workers", "expected"),
    [
        ("processes", None, None),
        ("processes", 3, ("Processes", 3)),
        ("dask:tcp://head:8786", None, ("Dask", "tcp://head:8786", None)),
        ("ray", 4, ("Ray", None, 4)),
        ("ray:auto", None, ("Ray", "auto", None)),
    ],
)
def test_a_cluster_can_be_named(
    on: str, workers: int | None, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Processes", "Dask", "Ray"):
        monkeypatch.setattr(named_backend, name, lambda *given, name=name: (name, *given))
    assert named_backend.find_backend(Namespace(on=on, workers=workers)) == expected


@pytest.mark.parametrize("on", ["dask", "slurm", ""])
def test_a_cluster_of_no_known_kind_is_refused(on: str, source: str, capsys: Captured) -> None:
    assert main(["run", f"{source}:problem", "--budget", "1 s", "--on", on]) == MISUSED
    assert (
        "--on must be processes, dask:ADDRESS, ray, ray:ADDRESS, lanes or lanes:NUMBER"
        in capsys.readouterr().err
    )


def test_a_run_that_fails_has_an_exit_code_of_its_own(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise aptmc.RunFailed("the disk is full")

    monkeypatch.setattr(aptmc, "sample", fail, raising=False)
    assert main(["run", f"{source}:problem", "--budget", "1 s"]) == FAILED
    assert capsys.readouterr().err == "aptmc: the disk is full\n"
