"""Commands, in this process, on stores that were made in virtual time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import aptmc
from aptmc import clock
from aptmc.__about__ import __version__
from aptmc.cli import look, main
from aptmc.cli.command import DIFFERENT, FAILED, GOOD, INTERRUPTED, MISUSED
from aptmc.clock import time_of_day
from aptmc.errors import StopReason
from aptmc.sampling.replaying import Replay
from aptmc.sampling.status import STATUS, Status, read_status, remove_status, write_status
from aptmc.session.control import WorkerStatus
from tests.support import seen

COMMANDS = (
    "demo", "run", "resume", "replay", "summary", "report", "watch", "plan", "reproduce",
    "doctor", "compile",
)  # fmt: skip
Captured = pytest.CaptureFixture[str]

# --- help ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_names_every_command_and_exit_code(arguments: list[str], capsys: Captured) -> None:
    try:
        code = main(arguments)
    except SystemExit as exit:
        code = exit.code
    assert code == GOOD
    text = capsys.readouterr().out
    for command in COMMANDS:
        assert re.search(rf"^    {command} ", text, re.MULTILINE), command
    assert "aptmc run model.py:problem --budget 10min" in text
    for number in (GOOD, FAILED, MISUSED, DIFFERENT, INTERRUPTED):
        assert re.search(rf"\b{number} [a-z]", text)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(command: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as exit:
        main([command, "--help"])
    assert exit.value.code == GOOD
    text = capsys.readouterr().out
    assert f"usage: aptmc {command}" in text
    assert re.search(rf"examples?:\n(  .*\n)*  aptmc {command} ?", text)
    assert max(map(len, text.splitlines())) <= 100


def test_the_version_is_told(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["--version"])
    assert exit.value.code == GOOD
    assert capsys.readouterr().out == f"aptmc {__version__}\n"


@pytest.mark.parametrize("module", ["aptmc", "aptmc.cli"])
def test_the_module_is_the_command(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"aptmc {__version__}\n"


@pytest.mark.parametrize("arguments", [["sing"], ["run"], ["run", "a.py:b"], ["reproduce", "x"]])
def test_what_is_no_command_is_misuse(arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    assert exit.value.code == MISUSED
    assert "usage: aptmc" in capsys.readouterr().err


# --- looking at a store -------------------------------------------------------------------------


def test_a_summary_is_that_of_the_run(store: str, capsys: Captured) -> None:
    assert main(["summary", store]) == GOOD
    assert capsys.readouterr().out == f"{aptmc.open(store).summary()}\n"


def test_a_program_can_read_a_summary(store: str, capsys: Captured) -> None:
    assert main(["summary", store, "--json"]) == GOOD
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    run = aptmc.open(store)
    assert found["stopped"] == "budget_spent"
    assert found["completions"] == run.completions
    assert found["seed"] == 1
    assert found["levels"] == ["1.0", "0.3", "0.1", "0.0"]
    assert found["posterior"]["a"]["mean"] == run.summary()["a"].mean
    assert {"problem", "remedy", "serious"} == set(found["advice"][0])


def test_a_run_without_draws_is_json_too(tmp_path: Path, capsys: Captured) -> None:
    path = seen.stored(tmp_path, budget=0.001)
    assert main(["summary", str(path), "--json"]) == GOOD
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["posterior"]["a"]["mean"] is None


def test_a_report_is_written_where_it_was_wanted(
    store: str, tmp_path: Path, capsys: Captured
) -> None:
    target = tmp_path / "mine.html"
    assert main(["report", store, "--output", str(target)]) == GOOD
    assert capsys.readouterr().out.strip() == str(target)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_one_look_at_a_run(store: str, capsys: Captured) -> None:
    assert main(["watch", store, "--once"]) == GOOD
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("aptmc: 400 units of 400 units, ")
    assert f"{aptmc.open(store).completions} moves" in first
    assert last == "aptmc: the budget was spent"


def test_to_watch_a_run_that_is_over_ends(store: str, capsys: Captured) -> None:
    assert main(["watch", store]) == GOOD
    assert capsys.readouterr().out.endswith("the budget was spent\n")


def running_store(store: str, monkeypatch: pytest.MonkeyPatch) -> aptmc.Run:
    """A stored run as if it went on."""
    run = aptmc.open(store)
    run._usage = run._usage._replace(stopped=StopReason.STILL_RUNNING)
    monkeypatch.setattr(aptmc, "open", lambda _: run, raising=False)
    return run


def test_watching_goes_on_until_the_run_ends(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    run, waited = running_store(store, monkeypatch), []
    monkeypatch.setattr(look, "being_written", lambda _: True)

    def pause(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            run._usage = run._usage._replace(stopped=StopReason.INTERRUPTED)

    monkeypatch.setattr(clock, "pause", pause)
    assert main(["watch", store]) == GOOD
    lines = capsys.readouterr().out.splitlines()
    assert len(waited) == 3
    assert len(lines) == 5
    assert lines[-1] == "aptmc: interrupted from the keyboard"


def test_a_run_whose_process_was_killed_is_told_apart(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    running_store(store, monkeypatch)
    assert main(["watch", store]) == GOOD
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("aptmc: the process that computed it has gone; to go on, aptmc resume ")
    assert main(["watch", store, "--json"]) == GOOD
    assert json.loads(capsys.readouterr().out)["stopped"] == "gone"


def test_what_each_processor_does_is_seen_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    store = seen.stored(tmp_path)
    run = running_store(str(store), monkeypatch)
    stuck = WorkerStatus(1, 4711, 3, 2, 75.0)
    status = Status(time_of_day() - 30.0, 100.0, 600.0, 3, 10, [stuck])
    write_status(store, status)
    assert read_status(store) == status
    assert main(["watch", str(store), "--once"]) == GOOD
    text = capsys.readouterr().out
    assert "processor 2 at one move for 75 s" in text
    assert "warm-up 3/10" in text
    assert "no news for 30 s" in text
    assert main(["watch", str(store), "--json"]) == GOOD
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["workers"] == [stuck._asdict()]
    assert found["moves"] == run.completions > 0
    # Half a note, or one by another version, is none.
    for text in ("{", "{}", "[]", '{"workers": [{}]}'):
        (store / STATUS).write_text(text)
        assert read_status(store) is None
    remove_status(store)
    assert read_status(store) is None
    write_status(store / "absent", status)  # what cannot be written is no error


@pytest.mark.parametrize("command", [["summary"], ["report"], ["watch", "--once"]])
def test_what_is_no_store_is_misuse(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*command, "absent.zarr"]) == MISUSED
    captured = capsys.readouterr()
    assert captured.err == "aptmc: there is no store absent.zarr\n"
    assert captured.out == ""


def test_a_damaged_store_is_a_failure(tmp_path: Path, capsys: Captured) -> None:
    path = seen.stored(tmp_path)
    for file in path.rglob("*"):
        if file.is_file() and file.stat().st_size > 200:
            file.write_bytes(file.read_bytes()[:-7])
    assert main(["summary", str(path)]) == FAILED
    assert "is damaged" in capsys.readouterr().err


# --- replay -------------------------------------------------------------------------------------


def test_a_replay_is_the_same(store: str, capsys: Captured) -> None:
    assert main(["replay", store, "tests.support.seen:problem", "--json"]) == GOOD
    found = json.loads(capsys.readouterr().out)
    assert found["difference"] is None
    assert found["completions"] > 400
    assert main(["replay", store, "tests.support.seen:problem"]) == GOOD
    assert capsys.readouterr().out.strip().endswith("all the same")


def test_a_replay_that_differs_has_an_exit_code_of_its_own(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(
        aptmc,
        "replay",
        lambda *_, **__: Replay(10, 5, "draw 5 (chain 0, time 1.0): other"),
        raising=False,
    )
    assert main(["replay", store, "tests.support.seen:problem"]) == DIFFERENT
    assert "not the same: draw 5" in capsys.readouterr().out


def test_another_problem_is_refused(store: str, source: str, capsys: Captured) -> None:
    assert main(["replay", store, f"{source}:problem"]) == MISUSED
    assert "the problem is not the one that is stored" in capsys.readouterr().err
