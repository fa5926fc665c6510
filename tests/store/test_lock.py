"""The lock of a store: one writer at a time, and the dead hold nothing."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from aptmc.errors import InputError
from aptmc.store import being_written
from aptmc.store.lock import LOCK, lock

HOLD = """
import sys
from pathlib import Path
from aptmc.store.lock import lock
held = lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_only_one_writes(tmp_path: Path) -> None:
    assert not being_written(tmp_path)  # nobody ever has
    held = lock(tmp_path)
    assert being_written(tmp_path)
    with pytest.raises(InputError, match="is being written by another run: wait until it has"):
        lock(tmp_path)
    held.release()
    assert not being_written(tmp_path)
    lock(tmp_path).release()


def test_any_thread_may_let_go(tmp_path: Path) -> None:
    held = lock(tmp_path)
    thread = threading.Thread(target=held.release)
    thread.start()
    thread.join()
    assert not being_written(tmp_path)


def test_whoever_asks_is_not_in_the_way(tmp_path: Path) -> None:
    lock(tmp_path).release()
    for _ in range(100):
        assert not being_written(tmp_path)
        held = lock(tmp_path)
        assert being_written(tmp_path)
        held.release()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_lock_dies_with_its_process(number: int, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert being_written(tmp_path)
        with pytest.raises(InputError):
            lock(tmp_path)
        process.send_signal(number)
        process.wait()
        assert (tmp_path / LOCK).exists()  # the file stays, and says nothing
        assert not being_written(tmp_path)
        lock(tmp_path).release()


def test_a_file_system_without_locks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(descriptor: int, what: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(InputError, match=r"cannot be locked .* put it on another file system"):
        lock(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_store_of_somebody_else_can_be_asked(tmp_path: Path) -> None:
    held = lock(tmp_path)
    (tmp_path / LOCK).chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert being_written(tmp_path)
        held.release()
        assert not being_written(tmp_path)
    finally:
        tmp_path.chmod(0o755)
