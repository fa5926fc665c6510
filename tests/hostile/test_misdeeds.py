"""Whatever a user's function does, the run goes on or says what was wrong, and nothing is left.

Not left are processes (told by a mark in their environment), files, and shared memory.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
from contextlib import suppress
from pathlib import Path

import pytest

from tests.backends.contract import eventually
from tests.hostile.misdeeds import MISDEEDS
from tests.support.scripts import running_script

SCRIPT = """
import runpy, sys
sys.argv = ["one_run", {name!r}, sys.argv[1]]
runpy.run_module("tests.hostile.one_run", run_name="__main__")
"""
# One of each kind; all of them in the validation.
SELECTION = ("garbage into descriptors, once", "fork, and both return", "a daemon")
MAY_BE_LEFT = {"script.py", "outcome.json", "done"}
SHARED = Path("/dev/shm")


def check(name: str, folder: Path) -> None:
    """Run with one misdeed, and see that what must come of it does."""
    misdeed = MISDEEDS[name]
    shared_before = shared_memory()
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
    assert {path.name for path in folder.iterdir()} <= MAY_BE_LEFT
    eventually(lambda: not shared_memory() - shared_before - in_use())


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
