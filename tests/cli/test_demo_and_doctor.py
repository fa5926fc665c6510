"""Commands that need no problem of the user's: demo, doctor and reproduce."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.__about__ import __version__
from aptmc.cli import machine_test, main, reproduce
from aptmc.cli.command import FAILED, GOOD, MISUSED
from aptmc.cli.demo import judgement
from aptmc.problem.weights import power_log_weight, tolerance_log_weight
from tests.support import seen

Captured = pytest.CaptureFixture[str]


# --- demo ---------------------------------------------------------------------------------------


def test_the_demonstration_compares_two_schedules_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    given: list[dict[str, Any]] = []

    def simulated_distance(theta: Any, rng: Any, tolerance: float) -> float:
        return abs(theta[0]) + rng.standard_exponential()

    def sample(problem: Any, **arguments: Any) -> aptmc.Run:
        given.append(arguments)
        prior = aptmc.Prior(**{name: stats.norm(0, 1) for name in problem.names})
        return seen.sample(
            aptmc.Abc.early(simulated_distance, prior),
            ladder=aptmc.Ladder.tolerances([1.0, 2.0, 4.0, 8.0]),
            kernel=aptmc.OneHit(1.0),
            schedule=arguments.get("schedule", aptmc.Anytime(every=4.3)),
        )

    monkeypatch.setattr(aptmc, "sample", sample, raising=False)
    report = tmp_path / "demo.html"
    assert main(["demo", "--budget", "10 s", "--workers", "3", "--report", str(report)]) == GOOD
    anytime, waiting = given
    assert anytime["ladder"].coldest == 1.0
    assert (anytime["budget"], anytime["warmup"], waiting["budget"]) == (10.0, 4.0, 3.0)
    assert anytime["on"].processors == 3
    assert isinstance(waiting["schedule"], aptmc.Synchronous)
    text = capsys.readouterr().out
    assert "Rejection, with forty million simulations" in text
    assert "with the synchronous schedule" in text
    assert f"The report is {report}" in text
    assert "Processors" in report.read_text(encoding="utf-8")


def test_the_demonstration_says_where_it_did_not_come_down_to() -> None:
    assert judgement(1.0).startswith("Rejection, with forty million simulations")
    assert "at 1.2, which is wider. Use more" in judgement(1.2)


def test_a_demonstration_too_short_for_draws_says_so_and_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    calls: list[dict[str, Any]] = []

    def sample(problem: Any, **arguments: Any) -> Any:
        calls.append(arguments)
        return SimpleNamespace(completions=0, summary=lambda: "too short: starting took it all")

    monkeypatch.setattr(aptmc, "sample", sample, raising=False)
    assert main(["demo", "--budget", "1 s"]) == GOOD
    text = capsys.readouterr().out
    assert "too short: starting took it all" in text
    assert text.endswith("More time shows more: aptmc demo --budget 2min\n")
    assert "inf" not in text
    assert len(calls) == 1


# --- doctor and reproduce -----------------------------------------------------------------------


def modes(share: float, shift: float, size: int) -> Any:
    """Stands in for `sample`: two modes, with some share of the draws in the right one."""
    rng = np.random.default_rng(1)
    places = np.where(rng.random(size) < share, 8.0, -8.0) * (1.0 + shift)

    def sample(_: Any, *, on: Any, **arguments: Any) -> Any:
        return SimpleNamespace(
            series=lambda name: [places + rng.standard_normal(size)],
            chains=lambda: [SimpleNamespace(time=np.arange(float(size)))],
            elapsed=arguments["budget"], completions=1000, utilisation=0.9,
            steps_per_move=np.array([3, 5]), overhead=SimpleNamespace(startup=1.5),
        )  # fmt: skip

    return sample


@pytest.mark.parametrize(
    ("share", "shift", "size", "verdict"),
    [
        (0.5, 0.0, 2000, "passed"),
        (0.6, 0.0, 2000, "FAILED: please report this"),
        (0.5, 0.1, 2000, "FAILED: please report this"),
        (0.5, 0.0, 30, machine_test.NOT_JUDGED),
    ],
    ids=["right", "weights", "places", "few"],
)
def test_the_doctor_tells_right_from_wrong(
    share: float, shift: float, size: int, verdict: str, monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:  # fmt: skip
    monkeypatch.setattr(aptmc, "sample", modes(share, shift, size), raising=False)
    code = FAILED if verdict.startswith("FAILED") else GOOD
    assert main(["doctor", "--seconds", "1", "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] is (code == GOOD)
    assert [test["verdict"] for test in found["tests"].values()] == [verdict] * 2
    assert found["versions"]["aptmc"] == __version__
    assert found["processors"] >= 1
    assert main(["doctor", "--seconds", "1"]) == code
    text = capsys.readouterr().out
    assert f"versions: aptmc {__version__}, " in text
    assert f"test of worker processes: {verdict}" in text


def test_the_doctor_finds_compiled_code_in_order() -> None:
    finding = machine_test.examined("compiled", 20_000.0, 5.0, aptmc.VirtualTime(2))
    assert finding.is_good, finding
    assert finding.numbers["moves per second"] > 1000


def test_a_run_that_fails_is_no_sign_of_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise aptmc.RunFailed("a worker process died 20 times in a row")

    monkeypatch.setattr(aptmc, "sample", fail, raising=False)
    finding = machine_test.examined("workers", 1.0, "2 ms", aptmc.Processes(2))
    assert finding.verdict == "FAILED: a worker process died 20 times in a row"
    assert not finding.is_good


def test_on_a_busy_machine_the_doctor_takes_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def sample(problem: Any, *, budget: float, **arguments: Any) -> Any:
        asked.append(budget)
        size = 30 if budget < 2.0 else 2000
        return modes(0.5, 0.0, size)(problem, budget=budget, **arguments)

    monkeypatch.setattr(aptmc, "sample", sample, raising=False)
    finding = machine_test.examined("workers", 1.0, "2 ms", aptmc.Processes(2))
    assert finding.verdict == "passed"
    assert asked == [1.0, machine_test.MORE_TIME]


def test_the_sampler_is_compiled_in_advance(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    few = [power_log_weight, tolerance_log_weight]
    folder = few[0].cache_folder  # type: ignore[attr-defined]
    monkeypatch.setattr("aptmc.targets.compile_ahead.all_functions", lambda: few)
    assert main(["compile"]) == GOOD
    text = capsys.readouterr().out
    assert f"of 2 functions are to be compiled, into {folder}" in text
    assert re.search(rf"all is compiled, in \d+\.\d s, and kept in {folder}", text)
    assert main(["compile", "--json"]) == GOOD
    found = json.loads(capsys.readouterr().out)
    assert (found["compiled"], found["lost"], found["folder"]) == (0, 0, str(folder))
    # A folder that cannot be written keeps nothing.
    monkeypatch.setattr("aptmc.compiled.AtFirstUse.is_on_disk", lambda _: False)
    assert main(["compile"]) == FAILED
    assert f"2 functions could not be kept in {folder}" in capsys.readouterr().out


def test_the_paper_is_reproduced_in_a_checkout_only(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(reproduce.importlib.util, "find_spec", lambda _: None)
    assert main(["reproduce", "gamma"]) == MISUSED
    assert "clone it, and call aptmc reproduce from there" in capsys.readouterr().err


@pytest.mark.parametrize(("codes", "expected"), [([0, 0], GOOD), ([1], FAILED)])
def test_experiments_run_one_after_the_other(
    codes: list[int], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []

    def call(command: list[str], **_: Any) -> Namespace:
        called.append(command[1:])
        return Namespace(returncode=codes[len(called) - 1])

    monkeypatch.setattr(reproduce.subprocess, "run", call)
    assert main(["reproduce", "gamma", "--scale", "0.5"]) == expected
    assert called[0] == ["-m", "experiments.gamma_mixture", "bias", "--scale", "0.5"]
    assert len(called) == len(codes)
