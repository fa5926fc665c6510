"""What the backends on engines have in common."""

from __future__ import annotations

from abc import abstractmethod

from aptmc.backends.cluster.dispatch import Dispatch
from aptmc.backends.cluster.remote_workforce import RemoteWorkforce
from aptmc.backends.workers.backend import WorkforceBackend, payload_of, wire_of
from aptmc.session.session import Session


class ClusterBackend(WorkforceBackend):
    """Workers of an engine."""

    most_losses: int

    @abstractmethod
    def dispatch(self) -> Dispatch:
        """The engine, for one run."""

    def workforce(self, session: Session) -> RemoteWorkforce:
        """Workers on the seats of the engine."""
        return RemoteWorkforce(
            payload_of(session),
            wire_of(session),
            session.problem,
            self.dispatch(),
            most_losses=self.most_losses,
        )
