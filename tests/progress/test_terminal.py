"""A run in a real terminal that changes its size and is interrupted."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240.0  # seconds, on a machine that is busy with something else: usually two
SCRIPT = """
from scipy import stats
import aptmc

problem = aptmc.Tempered(lambda theta: -0.5 * theta[0] ** 2, aptmc.Prior(x=stats.norm(0, 3)))
run = aptmc.sample(
    problem,
    budget="1 h",
    ladder=aptmc.Ladder.powers([1, 0.3, 0]),
    kernel=aptmc.RandomWalk(1.0),
    schedule=aptmc.Anytime(every="2 ms"),
    on=aptmc.InProcess(),
    store="run.zarr",
    seed=1,
)
print(f"result: {run.stopped}, {run.chains()[0].time.size > 0}")
"""


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, script: str, folder: Path) -> None:
        self.master, other = pty.openpty()
        self.resize(80)
        search = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=other,
            stdout=other,
            stderr=other,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": search, "TERM": "xterm-256color", "COLUMNS": ""},
            start_new_session=True,
        )
        os.close(other)
        self.text = ""
        self._end = time.monotonic() + PATIENCE

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read_until(self, is_there: Callable[[str], object]) -> str:
        """What has come since, once it is as it should be."""
        start = len(self.text)
        while not is_there(self.text[start:]):
            left = self._end - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                pytest.fail(f"nothing of the kind in {PATIENCE} s, only {self.text[start:]!r}")
            try:
                data = os.read(self.master, 65536)
            except OSError as error:  # the program has gone, and its terminal with it
                if error.errno != errno.EIO:
                    raise
                data = b""
            if not data:
                break
            self.text += data.decode(errors="replace")
        return self.text[start:]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self.master)


def plain(text: str) -> str:
    """Without colours and movements of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


@pytest.mark.validation
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs pseudo-terminals")
def test_a_terminal_may_change_its_size_and_interrupt_the_run(tmp_path: Path) -> None:
    terminal = Terminal(SCRIPT, tmp_path)
    try:
        terminal.read_until(lambda text: text.count("draws of the coldest rung") >= 2)
        for columns in (44, 120):
            terminal.resize(columns)
            # One whole picture after one that may have been under way.
            shown = terminal.read_until(lambda text: text.count("1 ▕") >= 3)
            last = plain(shown).rsplit("1 ▕", 2)[1].splitlines()
            assert max(map(len, last)) <= columns
        os.killpg(terminal.process.pid, signal.SIGINT)
        ending = plain(terminal.read_until(lambda _: False))
        assert terminal.process.wait(PATIENCE) == 0
    finally:
        terminal.close()
    assert "Traceback" not in terminal.text
    lines = [line for line in ending.splitlines() if line.strip()]
    told = " ".join(" ".join(lines).split())
    assert "aptmc: interrupted from the keyboard; to go on, aptmc.resume('run.zarr'" in told
    assert lines[-1] == "result: interrupted from the keyboard, True"
    # The cursor that was hidden is back.
    assert terminal.text.rfind("\x1b[?25h") > terminal.text.rfind("\x1b[?25l")
