"""What the backends on engines have in common."""

from __future__ import annotations

from abc import abstractmethod

from typing_extensions import override

from aptmc.backends.cluster.dispatch import Dispatch
from aptmc.backends.cluster.first_look import has_something_to_see, look_first
from aptmc.backends.cluster.remote_workforce import RemoteWorkforce
from aptmc.backends.processes.ancestor_link import ANCESTORS
from aptmc.backends.workers.backend import WorkforceBackend, payload_of, wire_of
from aptmc.backends.workers.trials import ComputeTimed
from aptmc.session.control import Control
from aptmc.session.session import Session
from aptmc.session.units import Units


class ClusterBackend(WorkforceBackend):
    """A backend whose workers sit on the seats of an engine: an executor, Dask or Ray."""

    most_losses: int

    @abstractmethod
    def dispatch(self) -> Dispatch:
        """The engine, made ready to be spoken to during one run."""

    @override
    def start_early(self, *, compiles: bool) -> None:
        """A process for a first look; the engine's own workers come when they are asked for."""
        ANCESTORS.start_early(compiles=False)

    @override
    def look_first(self, session: Session, control: Control, until: float) -> None:
        if has_something_to_see(session.problem):
            look_first(payload_of(session), control, until)

    @override
    def units(self, session: Session, seconds: float, compute: ComputeTimed) -> Units:
        return self.grouping.units(session, seconds, compute)

    @override
    def workforce(self, session: Session) -> RemoteWorkforce:
        return RemoteWorkforce(
            payload_of(session),
            wire_of(session),
            session.problem,
            self.dispatch(),
            most_losses=self.most_losses,
        )
