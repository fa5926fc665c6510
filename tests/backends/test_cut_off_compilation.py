"""What a budget cuts off while it is compiled is compiled to the end, for the next run."""

from __future__ import annotations

import os
import select

import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.processes.fork_server_link import ForkServerLink
from aptmc.backends.processes.messages import COMPILING
from aptmc.backends.workers.payload import pack
from aptmc.backends.workers.wire import Wire


@njit
def log_likelihood(theta):
    return -0.5 * theta[0] ** 2


@pytest.mark.validation
def test_it_goes_on_when_nobody_waits_and_then_ends(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # of a process that is started now
    problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.norm(0, 1)))
    kernel = aptmc.RandomWalk(1.0)
    link = ForkServerLink(pack((problem, kernel), Wire(1, problem.width)))
    while link.hear().kind != COMPILING:
        pass
    process = os.dup(link._handle)
    link.end()  # which used to kill it, before anything was kept
    select.select([process], [], [])  # until it has ended
    os.close(process)
    assert list(tmp_path.glob("moves/*.code"))
