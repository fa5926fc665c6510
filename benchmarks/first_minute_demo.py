"""`aptmc demo` in a terminal of its own: what somebody who has just installed it sees, and when."""

from __future__ import annotations

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
from pathlib import Path
from typing import NamedTuple

PATIENCE = 300.0  # seconds
FIRST_HALF_IS_OVER = "Now the usual way"
CURSOR_AND_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What is seen of the live view, in the order in which it comes.
SEEN = {
    "words": re.compile(r"starting up"),
    "figures": re.compile(r"first states: \d|\d+ within \d|warm-up, round \d|\d draws of the cold"),
    "tolerance": re.compile(r"within [\d.]+|tolerance [\d.]+"),
    "draws": re.compile(r"[1-9][\d,]* draws of the coldest rung"),
}
EFFECTIVE = re.compile(r"([\d,]+) effective \(")
TOLERANCE = re.compile(r"tolerance ([\d.]+|∞)")


class Shown(NamedTuple):
    """What a demonstration has shown until its first half was over."""

    seconds: dict[str, float]  # from its start, of what was seen
    returned: float  # seconds, from its start to its summary
    tolerance: str  # as it says it; nothing, if there was none
    effective: str


def demonstration(budget: str, cache: Path, folder: Path) -> Shown:
    """Run it until its summary, and look on."""
    master, other = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "aptmc.cli", "demo", "--budget", budget, "--workers", "2"],
        stdin=other,
        stdout=other,
        stderr=other,
        cwd=folder,
        env=_surroundings(cache),
        start_new_session=True,
    )
    os.close(other)
    text, seconds = "", {}
    try:
        while FIRST_HALF_IS_OVER not in text and (more := _read(master, began)):
            text = CURSOR_AND_COLOURS.sub("", text + more)
            now = time.monotonic() - began
            for what, words in SEEN.items():
                if what not in seconds and words.search(text):
                    seconds[what] = now
        returned = time.monotonic() - began
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            _drain(master, process)
        process.wait()
        os.close(master)
    return Shown(seconds, returned, _last(TOLERANCE, text), _last(EFFECTIVE, text))


def _surroundings(cache: Path) -> dict[str, str]:
    """Of a terminal, and of the sources that this process has."""
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    own = {"NUMBA_CACHE_DIR": str(cache), "TERM": "xterm-256color", "PYTHONPATH": path}
    return {**os.environ, **own}


def _read(master: int, began: float) -> str:
    """What comes next; nothing, if the program has gone or takes too long."""
    left = PATIENCE - (time.monotonic() - began)
    if left <= 0.0 or not select.select([master], [], [], left)[0]:
        return ""
    try:
        return os.read(master, 65536).decode(errors="replace")
    except OSError:  # its terminal has gone with it
        return ""


def _drain(master: int, process: subprocess.Popen[bytes]) -> None:
    """Let it end, which it cannot while nobody reads what it says."""
    until = time.monotonic() + 10.0
    while process.poll() is None:
        if time.monotonic() > until:
            os.killpg(process.pid, signal.SIGKILL)
            return
        if select.select([master], [], [], 0.1)[0]:
            try:
                os.read(master, 65536)
            except OSError:
                return


def _last(words: re.Pattern[str], text: str) -> str:
    found = words.findall(text)
    return str(found[-1]) if found else ""
