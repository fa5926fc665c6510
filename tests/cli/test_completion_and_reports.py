"""What a shell completes, and what is refused before a run that wants a report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import aptmc
from aptmc.cli import main
from aptmc.cli.command import GOOD, MISUSED
from aptmc.cli.completion import SHELLS, script

ASK = """
source {script}
COMP_WORDS=({words}); COMP_CWORD={last}
_aptmc; echo "${{COMPREPLY[@]}}"
"""


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["aptmc", "re"], "resume replay report reproduce"),
        (["aptmc", "run", "--bu"], "--budget"),
        (["aptmc", "run", "--keep", "''"], "coldest all"),
        (["aptmc", "completion", "''"], "bash zsh fish"),
        (["aptmc", "run", "mod"], ""),  # a file, which the shell knows
    ],
)
def test_bash_completes(words: list[str], expected: str, tmp_path: Path) -> None:
    file = tmp_path / "aptmc.bash"
    file.write_text(script("bash"))
    ask = ASK.format(script=file, words=" ".join(words), last=len(words) - 1)
    found = subprocess.run(["/bin/bash", "-c", ask], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_know_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == GOOD
    text = capsys.readouterr().out
    for command in ("run", "resume", "doctor", "completion"):
        assert command in text
    assert "until" in text


def test_completion_in_python_shows_parts_and_no_internals() -> None:
    names = dir(aptmc)
    assert {"distance", "models", "plots", "sample"} <= set(names)
    assert not {"coordinator", "session", "arguments", "annotations", "Any"} & set(names)
    assert all(hasattr(aptmc, name) for name in names)


def test_a_report_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("it ran")

    monkeypatch.setattr("aptmc.cli.named_problem.find_problem", never)
    for path in (tmp_path / "none" / "run.html", tmp_path):
        code = main(["run", "model.py:problem", "--budget", "5", "--report", str(path)])
        assert code == MISUSED
        assert "name a file, --report run.html" in capsys.readouterr().err


def test_one_without_figures_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from aptmc.cli.options import check_report

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    check_report(str(tmp_path / "run.html"))
    assert "no figures, which need matplotlib" in capsys.readouterr().err
