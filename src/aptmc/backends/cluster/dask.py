"""Workers of a Dask cluster."""

from __future__ import annotations

import weakref
from typing import Any, final

from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.backends.cluster.backend import ClusterBackend
from aptmc.backends.cluster.dask_dispatch import DaskDispatch
from aptmc.backends.cluster.dispatch import Dispatch
from aptmc.backends.workers.grouping import Ahead, Group, Grouping
from aptmc.backends.workers.workforce import MOST_DEATHS
from aptmc.checks import whole_number
from aptmc.errors import InputError


@class_named_clearly
@final
class Dask(ClusterBackend):
    """Workers of a Dask cluster: one for each of its workers' threads.

    Workers may join and leave in mid-run. Those that join are soon given work (where all
    chains share one queue); what was lost with those that leave is computed again elsewhere, with
    the same random keys. With functions that hold Python's lock, as most do, give each Dask worker
    one thread.

    :param client: a `distributed.Client`, a cluster, or the address of a scheduler
    :param workers: how many to plan for, if not those that are there now
    :param group: local steps that are sent as one move; by default ("auto") cheap moves are grouped
    :param ahead: how many moves wait at each worker; by default ("auto") as many as hide the time
        that messages take, if there are chains enough
    :param most_losses: a move that loses its worker so often ends the run (`WorkerDied`): it seems
        to kill whoever computes it. Allow more where workers are often taken away
    """

    def __init__(
        self,
        client: Any,
        workers: int | None = None,
        *,
        group: Group = "auto",
        ahead: Ahead = "auto",
        most_losses: int = MOST_DEATHS,
    ) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise InputError("Dask needs distributed: pip install 'aptmc[dask]'") from None
        if not isinstance(client, Client):
            try:
                client = Client(client, set_as_default=False)
            except Exception as error:
                raise InputError(
                    f"no Dask scheduler answers at {client!r} ({type(error).__name__}: {error}): "
                    "give a Client, a cluster, or an address such as 'tcp://127.0.0.1:8786'"
                ) from error
            self._end = weakref.finalize(self, client.close)
        if client.asynchronous:
            raise InputError(
                "an asynchronous Dask client cannot be used: leave out asynchronous=True"
            )
        self._client = client
        there = sum(client.nthreads().values())
        if workers is None and there == 0:
            raise InputError(
                "the Dask cluster has no workers yet: wait for them, client.wait_for_workers(4), "
                "say, or tell how many there will be, workers=4"
            )
        self.processors = there if workers is None else whole_number("workers", workers)
        self.grouping = Grouping(group, ahead)
        self.most_losses = whole_number("most_losses", most_losses)

    def __repr__(self) -> str:
        return f"Dask({self.processors})"

    @override
    def dispatch(self) -> Dispatch:
        return DaskDispatch(self._client)
