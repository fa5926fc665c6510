"""A Ray cluster: an actor on each of its processors."""

from __future__ import annotations

import math
from typing import final

from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.backends.cluster.backend import ClusterBackend
from aptmc.backends.cluster.dispatch import Dispatch
from aptmc.backends.cluster.ray_connection import connect, library, processors_of
from aptmc.backends.cluster.ray_dispatch import RayDispatch
from aptmc.backends.workers.grouping import Ahead, Group, Grouping
from aptmc.backends.workers.workforce import MOST_DEATHS
from aptmc.checks import whole_number
from aptmc.errors import InputError


@class_named_clearly
@final
class Ray(ClusterBackend):
    """Workers of a Ray cluster: one for each of its processors.

    Nodes may join and leave in mid-run. Those that join are given work (where all chains share one
    queue); what was lost with those that leave is computed again elsewhere, with the same random
    keys.

    :param address: of the cluster, "auto" or "ray://host:10001" say. By default the one that this
        process is connected to, or else a new one on this machine alone
    :param workers: how many; by default as many as the cluster has processors, and more if it grows
    :param group: local steps that are sent as one move; by default ("auto") cheap moves are grouped
    :param ahead: how many moves wait at each worker; by default ("auto") as many as hide the time
        that messages take, if there are chains enough
    :param most_losses: a move that loses its worker so often ends the run (`WorkerDied`): it seems
        to kill whoever computes it. Allow more where workers are often taken away
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        *,
        group: Group = "auto",
        ahead: Ahead = "auto",
        most_losses: int = MOST_DEATHS,
    ) -> None:
        self.grouping = Grouping(group, ahead)
        self.most_losses = whole_number("most_losses", most_losses)
        if workers is not None:
            workers = whole_number("workers", workers)
        ray = library()
        if not ray.is_initialized():
            connect(ray, address, workers)
        there = processors_of(ray)
        if workers is None and there == 0:
            raise InputError(
                "the Ray cluster has no processors yet: wait for its nodes, or tell how many there "
                "will be, workers=4, say"
            )
        self.processors = there if workers is None else workers
        self._most = math.inf if workers is None else workers

    def __repr__(self) -> str:
        return f"Ray({self.processors})"

    @override
    def dispatch(self) -> Dispatch:
        return RayDispatch(self.processors, self._most)
