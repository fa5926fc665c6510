"""The contract of backends whose workers are other processes, here or elsewhere."""

from __future__ import annotations

import threading

import aptmc
from aptmc.session.control import Control
from tests.backends.contract import (
    LONG,
    MOVES,
    BriefContract,
    Contract,
    RaisesInTheEnd,
    eventually,
)


class BriefProcessContract(BriefContract):
    schedule: aptmc.Anytime | aptmc.Synchronous = aptmc.Anytime(every="1 ms")
    # Far enough apart that moves come between, on a busy machine too.
    failing_schedule: aptmc.Anytime | aptmc.Synchronous = aptmc.Anytime(
        every="50 ms", exchange=RaisesInTheEnd()
    )


class ProcessContract(BriefProcessContract, Contract):
    def run_until_the_budget_ends(self, session):
        """How long workers need to start is not known, so the end comes nearer when they have."""
        control = Control()

        def spend(loop):
            loop.until = loop.clock.now()

        def watch():
            try:
                eventually(lambda: control.ask(lambda _: session.machine.completed.sum()) >= MOVES)
            finally:
                control.ask(spend)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            return self.backend().run(session, LONG, control)
        finally:
            control.end()
            watcher.join()


class BriefEngineContract(BriefProcessContract):
    """For workers to whom messages take longer."""


class EngineContract(BriefEngineContract, ProcessContract):
    """The same in full."""
