"""Whatever a user's function does, the run goes on or says what was wrong, and nothing is left.

Not left are processes (told by a mark in their environment), files (in the folder where it ran and
which it has for temporary ones, and half-written ones in the cache), shared memory, and sockets.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from tests.backends.contract import eventually
from tests.hostile.misdeeds import ITS_OWN, MISDEEDS
from tests.support.scripts import running_script

SCRIPT = """
import runpy, sys
sys.argv = ["one_run", {name!r}, sys.argv[1]]
runpy.run_module("tests.hostile.one_run", run_name="__main__")
"""
# One of each kind; all of them in the validation.
SELECTION = ("garbage into descriptors, once", "fork, and both return")
MAY_BE_LEFT = {"script.py", "outcome.json", "done"}
SHARED = Path("/dev/shm")
SOCKETS = Path("/proc/net/unix")


def check(name: str, folder: Path) -> None:
    """Run with one misdeed, and see that what must come of it does."""
    misdeed = MISDEEDS[name]
    shared_before, sockets_before, halves_before = shared_memory(), sockets(), half_written()
    with running_script(folder, SCRIPT.format(name=name), own_temporary_files=True) as script:
        _, errors = script.process.communicate(timeout=300)
        eventually(lambda: not script.processes())
    assert (folder / "outcome.json").exists(), errors[-3000:]
    found = json.loads((folder / "outcome.json").read_text())
    if misdeed.outcome == "fails":
        assert "error" in found, found
        assert re.search(misdeed.says, found["message"]), found
        assert found["is named"]
        assert len(found["message"]) < 2000
    elif misdeed.outcome == "goes on":
        assert found.get("stopped") == "STOPPED", found
        assert found["same when replayed"]
    else:
        assert found.get("stopped") in ("BUDGET_SPENT", "TOO_SHORT"), found
    names = {path.name for path in folder.iterdir() if not path.name.startswith(ITS_OWN)}
    assert names <= MAY_BE_LEFT
    eventually(lambda: not shared_memory() - shared_before - in_use())
    eventually(lambda: not sockets() - sockets_before - held_sockets())
    eventually(lambda: not half_written() - halves_before)


def shared_memory() -> set[str]:
    """The names of what there is of it."""
    return {path.name for path in SHARED.iterdir()} if SHARED.exists() else set()


def in_use() -> set[str]:
    """Of shared memory, what living processes have: those of the run have all ended by now.

    By its number: semaphores are made under other names than they end up with.
    """
    numbers = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            numbers |= set(re.findall(rf" (\d+) +{SHARED}/", maps.read_text()))
    found = set()
    for path in SHARED.glob("*"):
        with suppress(OSError):
            if str(path.stat().st_ino) in numbers:
                found.add(path.name)
    return found


def sockets() -> set[str]:
    """The numbers of all Unix sockets, those with a name and those without."""
    if not SOCKETS.exists():
        return set()
    return {line.split()[6] for line in SOCKETS.read_text().splitlines()[1:]}


def held_sockets() -> set[str]:
    """Those that living processes have: whoever may not look at all processes says all."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*/fd"):
        try:
            descriptors = list(folder.iterdir())
        except PermissionError:
            return sockets()
        except OSError:  # gone meanwhile
            continue
        for descriptor in descriptors:
            with suppress(OSError):
                kind, _, number = os.readlink(descriptor).partition(":")
                if kind == "socket":
                    found.add(number.strip("[]"))
    return found


def half_written() -> set[str]:
    """Files of machine code that somebody has begun to write beside those that are kept."""
    cache = os.environ.get("NUMBA_CACHE_DIR")
    return {str(path) for path in Path(cache).glob("moves/tmp*")} if cache else set()


def test_a_socket_that_nobody_has_is_seen(tmp_path: Path) -> None:
    """It is where another one can still be asked for it: on the way, that is, and never fetched."""
    if not SOCKETS.exists():
        pytest.skip("there is no such list here")
    before = sockets()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert len(sockets() - before) >= 2
        assert {str(os.fstat(one.fileno()).st_ino) for one in (ours, theirs)} <= held_sockets()
        sent, other = socket.socketpair()
        number = str(os.fstat(sent.fileno()).st_ino)
        socket.send_fds(ours, [b"!"], [sent.fileno()])
        sent.close()
        other.close()
        left = sockets() - before - held_sockets()
        assert number in left or held_sockets() == sockets()
    eventually(lambda: number not in sockets())


def test_only_what_is_used_by_nobody_was_left() -> None:
    if not SHARED.exists():
        pytest.skip("there is no such folder here")
    before = shared_memory()
    lock = multiprocessing.get_context("spawn").Lock()
    assert shared_memory() - before <= in_use()
    left = SHARED / f"aptmc-left-{os.getpid()}"
    left.touch()
    try:
        assert left.name in shared_memory() - before - in_use()
    finally:
        left.unlink()
    del lock


@pytest.mark.parametrize("name", SELECTION)
def test_some_misdeeds(name, tmp_path):
    check(name, tmp_path)


@pytest.mark.validation
@pytest.mark.parametrize("name", sorted(set(MISDEEDS) - set(SELECTION)))
def test_all_misdeeds(name, tmp_path):
    check(name, tmp_path)
