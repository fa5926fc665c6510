"""A process of the test run that dies ends the run, whatever it leaves behind.

pytest-xdist learns that one of its processes has died when the pipe to it closes. A child that the
process had forked may hold that pipe open, and then the run would wait for as long as the child
lives. So the process itself is watched too. `-p tests.support.lost_processes` is all it takes.
"""

from __future__ import annotations

import threading

import pytest
from xdist.workermanage import Marker

# What a process said before it ended is read to the end.
GRACE_IN_SECONDS = 5.0


@pytest.hookimpl
def pytest_testnodeready(node) -> None:
    """Watch a process of the test run from when it is there."""
    threading.Thread(target=tell_of_the_end, args=[node], daemon=True).start()


def tell_of_the_end(node) -> None:
    """Wait until a process has ended, and tell pytest-xdist unless it has noticed."""
    node.gateway._io.popen.wait()
    try:
        node.channel.waitclose(GRACE_IN_SECONDS)
    except node.channel.TimeoutError:
        node.process_from_remote(Marker.END)
    except (EOFError, node.channel.RemoteError):
        pass  # it is known already
