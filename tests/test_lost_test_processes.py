"""The test run itself: what hangs or dies ends it, and is named."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("xdist")
ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 250  # seconds; a run that takes longer hangs
# The child that it has forked lives on, with all its pipes, until the gate opens.
DIES = """
import os, signal

def test_it():
    if os.fork() == 0:
        signal.alarm(1000)
        open("gate").read()
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)
"""
CRASHES = """
import ctypes

def test_it():
    ctypes.string_at(0)
"""
HANGS = """
import threading

def test_it():
    threading.Event().wait()
"""


def run_tests(folder, code):
    """What `make test` would print of a test, and the exit status."""
    (folder / "test_one.py").write_text(code)
    options = [
        *("-c", str(ROOT / "pyproject.toml"), "--rootdir", ".", "-p", "xdist", "test_one.py"),
        *("--numprocesses=1", "--max-worker-restart=0", "-p", "tests.support.lost_processes"),
        "--override-ini=faulthandler_timeout=2",
    ]
    output = folder / "output"
    with output.open("w") as file:  # a pipe would stay open for as long as any child lives
        result = subprocess.run(
            [sys.executable, "-m", "pytest", *options],
            cwd=folder,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)},
            stdout=file,
            stderr=file,
            timeout=PATIENCE,
        )
    return output.read_text(), result.returncode


@pytest.mark.parametrize(
    ("code", "seen"),
    [(CRASHES, "Fatal Python error"), (HANGS, "Timeout (0:00:02)!")],
    ids=["crashes", "hangs"],
)
def test_the_stacks_are_seen_and_the_run_ends(code, seen, tmp_path):
    output, status = run_tests(tmp_path, code)
    assert status == 1
    assert seen in output
    assert "in test_it" in output
    assert "crashed while running 'test_one.py::test_it'" in output


@pytest.mark.validation  # half a minute, in which it waits
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_run_ends_though_a_child_of_the_dead_lives_on(tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    try:
        output, status = run_tests(tmp_path, DIES)
    finally:
        with suppress(OSError):  # nobody waits
            os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
    assert status == 1
    assert "crashed while running 'test_one.py::test_it'" in output
