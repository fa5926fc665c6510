"""A first simulation, before there are workers: a problem whose data do not fit is refused at once.

A copy of the fork server simulates once, and a few times more to see whether simulations are
random, and tells the coordinating process what is wrong, if anything is. Nobody waits long for it:
a simulation that takes its time, or ends its process, is looked at by the workers. Where an engine
has the workers, a fork server is made for the look alone.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import MutableMapping
from contextlib import suppress
from typing import NoReturn, final

from aptmc.backends.processes.messages import FAULTY, NEWS, REPEATS
from aptmc.backends.processes.surroundings import can_fork, end_group, end_with_parent
from aptmc.backends.workers.payload import load
from aptmc.clock import WallClock, pause
from aptmc.problem import Problem

LONGEST = 2.0  # seconds of a look, while something else is done
PATIENCE = 0.1  # seconds for which one waits for it
FOUND_FAULT = 86  # the status with which it ends then, and users' functions hardly do
# Variables that make a process a rank of an MPI job: of MPICH, Open MPI, PMIx and their launchers.
OF_A_RANK = ("HYDI_", "HYDRA_", "MPIR_", "MPI_LOCAL", "OMPI_", "PALS_", "PMI", "PRTE_")


@final
class FirstLook:
    """A process that simulates once."""

    def __init__(self, problem: Problem, coordinator: socket.socket) -> None:
        """Start it. This process must have a single thread."""
        self._process = os.fork()
        if self._process == 0:
            _look(problem, coordinator)
        with suppress(OSError):  # whoever comes first, it or we
            os.setpgid(self._process, self._process)

    def has_found_fault(self, patience: float = PATIENCE) -> bool:
        """Whether it has told of a fault. It is ended, whatever it is at, and all that it began."""
        clock = WallClock()
        until = clock.now() + patience
        ended, status = os.waitpid(self._process, os.WNOHANG)
        while ended == 0 and clock.now() < until:
            pause(0.002)
            ended, status = os.waitpid(self._process, os.WNOHANG)
        end_group(self._process, signal.SIGKILL)
        if ended == 0:
            _, status = os.waitpid(self._process, 0)
        return os.waitstatus_to_exitcode(status) == FOUND_FAULT


def only_look(payload: bytes, coordinator: socket.socket) -> None:
    """Have a look at a problem that is sampled elsewhere, in silence from its loading on.

    What cannot be loaded here, or needs what only the other machines have, is left to them.
    """
    leave_job(os.environ)
    _be_silent()
    with suppress(Exception):
        mover, _ = load(payload)
        if can_fork():
            FirstLook(mover.problem, coordinator).has_found_fault(LONGEST)
        else:  # the problem has started threads, but this process has nothing else to do
            _look(mover.problem, coordinator)


def leave_job(environment: MutableMapping[str, str]) -> None:
    """Be no rank of an MPI job: a model that loads MPI would join as one that is there already."""
    for name in [name for name in environment if name.startswith(OF_A_RANK)]:
        del environment[name]


def _look(problem: Problem, coordinator: socket.socket) -> NoReturn:
    """Simulate, in silence: what a simulator prints is printed by the workers."""
    status = 0
    process = os.getpid()
    try:
        os.setpgid(0, 0)
        end_with_parent(signal.SIGKILL)
        signal.setitimer(signal.ITIMER_REAL, LONGEST)  # which ends it
        _be_silent()
        fault = problem.first_fault()
        repeats = fault is None and problem.repeats_itself()
        is_it = os.getpid() == process  # and not a copy that the simulator has made
        if fault is not None and is_it:
            text = fault.encode()
            coordinator.sendall(NEWS.pack(FAULTY, len(text), 0) + text)
            status = FOUND_FAULT
        elif repeats and is_it:
            coordinator.sendall(NEWS.pack(REPEATS, 0, 0))
    finally:
        os._exit(status)


def _be_silent() -> None:
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
