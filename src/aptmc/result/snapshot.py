"""A set of draws at one moment: the chains of the coldest rung that wait there.

Plain Anytime Monte Carlo (Murray, Singh, Jacob and Lee 2016): whoever looks at a moment that has
nothing to do with the moves finds slow states in flight more often than they should be. The chains
that wait are exact, and independent of each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aptmc.errors import InputError
from aptmc.result.sources import parameters
from aptmc.result.tree import coords_of, dims_of

if TYPE_CHECKING:
    import xarray

    from aptmc.result.run import Run


def snapshot(run: Run) -> xarray.Dataset:
    """The states of the coldest rung's waiting chains, as users know them."""
    import xarray

    machine, problem = run._machine, run.settings.problem
    if not run.is_settled:
        raise InputError(
            "there is no snapshot yet: the run has not settled, and its states are not draws of "
            f"the posterior (so far: {run.completions} moves, {run.stopped})"
        )
    cold = machine.rung == 0
    chains = np.flatnonzero(cold & machine.waiting)
    states = machine.states[machine.replica[chains]]
    own = dims_of(problem)
    variables = {
        name: (
            ["chain", *own.get(name, [])],
            source.shown(states if source.place is None else states[:, source.place]),
        )
        for name, source in parameters(problem).items()
    }
    return xarray.Dataset(
        variables,
        coords={"chain": chains, **coords_of(problem)},
        attrs={"time": run.elapsed, "in_flight": int(np.count_nonzero(cold)) - chains.size},
    )
