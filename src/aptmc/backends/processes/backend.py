"""Worker processes on this machine, never idle, and a budget that is kept."""

from __future__ import annotations

from typing import final

from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.backends.processes.ancestor_link import ANCESTORS
from aptmc.backends.processes.local_workforce import LocalWorkforce
from aptmc.backends.workers.backend import WorkforceBackend, payload_of, wire_of
from aptmc.backends.workers.grouping import Ahead, Group, Grouping
from aptmc.backends.workers.trials import ComputeTimed
from aptmc.checks import whole_number
from aptmc.errors import InputError
from aptmc.processors import processors_available
from aptmc.session.control import Control
from aptmc.session.session import Session
from aptmc.session.units import Units

OTHER_FILES = 64  # that a process may have open besides
FULL_SOCKET = 64 * 1024  # a message of this size may have to wait for its reader


@class_named_clearly
@final
class Processes(WorkforceBackend):
    """Worker processes on this machine: the default.

    The budget is kept even if every simulation is under way: it counts from the call of `sample`,
    and what is in flight at its end is left. A worker that dies is replaced, and its move computed
    again with the same random key.

    Any Python function will do, also from a notebook or a script without a `__main__` guard.

    :param workers: how many; by default as many as this process may use processors
    :param group: local steps that are sent to a worker as one move, for all rungs or for each.
        By default ("auto") cheap moves are grouped until they last a few milliseconds, by
        a trial before the run begins
    :param ahead: how many moves wait at each worker. By default ("auto") one, if moves are short
        and there are chains enough: waiting there, they cannot be exchanged
    :param keep_warm: leave one process behind in which all libraries are loaded, so that the next
        run in this session begins at once. It ends after five minutes without a run, or with this
        process. Where processes cannot be copied, outside Linux, there is none

    >>> Processes(4)
    Processes(4)
    """

    compiles_aside = True

    def __init__(
        self,
        workers: int | None = None,
        *,
        group: Group = "auto",
        ahead: Ahead = "auto",
        keep_warm: bool = True,
    ) -> None:
        self.processors = (
            processors_available() if workers is None else whole_number("workers", workers)
        )
        _check_sockets(self.processors)
        self.grouping = Grouping(group, ahead, most_ahead=1)
        self.keep_warm = keep_warm

    def __repr__(self) -> str:
        return f"Processes({self.processors})"

    @override
    def workforce(self, session: Session) -> LocalWorkforce:
        return LocalWorkforce(
            payload_of(session), wire_of(session), session.problem, keep_warm=self.keep_warm
        )

    @override
    def start_early(self, *, compiles: bool) -> None:
        """Have libraries loaded in the process from which workers come."""
        if self.keep_warm:
            ANCESTORS.start_early(compiles=compiles)

    @override
    def look_first(self, session: Session, control: Control, until: float) -> None:
        """Nothing: the process that workers come from looks, before there are any."""

    @override
    def units(self, session: Session, seconds: float, compute: ComputeTimed) -> Units:
        """As wanted or found by a trial; nothing waits at a worker that a socket cannot hold."""
        grouping = self.grouping
        if wire_of(session).bytes_per_order > FULL_SOCKET:
            grouping = Grouping(grouping.group, 0)
        return grouping.units(session, seconds, compute)


def _check_sockets(workers: int) -> None:
    """May this process have so many?"""
    import resource  # which only a Unix has

    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and workers > most - OTHER_FILES:
        raise InputError(
            f"{workers} workers are more than the {most - OTHER_FILES} for which this process may "
            "open sockets: use fewer, or raise the limit, `ulimit -n`"
        )
