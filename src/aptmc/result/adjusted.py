"""Draws of a likelihood-free run, moved by regression to where their simulations meet the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aptmc.compiled import Floats
from aptmc.diagnostics import (
    Summary,
    adjust,
    epanechnikov,
    from_real_line,
    summarise,
    to_real_line,
)
from aptmc.errors import InputError
from aptmc.problem.chain_state import state_width, value_column
from aptmc.result.older_arviz import teach_older_arviz
from aptmc.result.sources import source_of, values_of
from aptmc.result.tree import arrays_of, as_tree, with_the_rest
from aptmc.settings import Settings
from aptmc.store import Draws

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

# Fewer effective draws than this for each slope, and the slopes are noise.
DRAWS_PER_SLOPE = 10


@final
@dataclass(frozen=True, repr=False, eq=False)
class Adjusted:
    """Adjusted draws with weights, made by `run.adjusted()`."""

    run: Run
    chains: list[Draws]
    """The draws of each chain on the coldest rung, adjusted."""
    weights: list[Floats]
    """For each chain, how much its draws count."""
    method: str
    """How they were adjusted, in words."""

    def __repr__(self) -> str:
        draws = sum(weights.size for weights in self.weights)
        return f"<aptmc adjusted draws: {draws} on rung 0, {self.method}>"

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self.run.settings

    def series(self, name: str) -> list[Floats]:
        """One parameter's adjusted draws, an array for each chain; `weights` belong to them.

        :param name: of a parameter, or of one place of a vector: `beta[3]`
        """
        source = source_of(self.settings.problem, name)
        return [values_of(draws, source) for draws in self.chains]

    def summary(self) -> Summary:
        """Mean, sd, interval, effective sample size and more, for each parameter, with weights."""
        draws = {label: self.series(label) for label in self.settings.problem.labels}
        elapsed = max(self.run.elapsed - self.settings.warmup, 0.0)
        unit = self.settings.on.time_unit
        table = summarise(
            draws,
            elapsed,
            unit=unit,
            times=[chain.time for chain in self.chains],
            apart=self.settings.pools.apart,
            weights=self.weights,
        )
        return replace(table, notes=(f"{self.method}; r-hat is without weights", *self._doubts()))

    @cached_property
    def draws(self) -> xarray.DataTree:
        """The adjusted draws in ArviZ's layout, their weights as `weight` in `sample_stats`."""
        teach_older_arviz()
        groups = arrays_of(self.settings.problem, self.chains)
        length = groups["sample_stats"]["time"].shape[1]
        groups["sample_stats"]["weight"] = np.stack([each[:length] for each in self.weights])
        tree = as_tree(self.settings.problem, groups)
        return with_the_rest(tree, self.settings.problem, self.chains, weight=self.weights)

    def plot(self) -> Figure:
        """Each parameter's posterior, adjusted and as it was."""
        from aptmc.plots import adjusted_marginals

        return adjusted_marginals(self)

    def _doubts(self) -> list[str]:
        """What speaks against the result."""
        slopes = kept_numbers(self.settings.problem)
        table = self.run.summary()
        effective = min(np.nan_to_num(row.ess) for row in table.values())
        if effective >= DRAWS_PER_SLOPE * slopes:
            return []
        return [
            f"{effective:.0f} effective draws are few for a regression on {slopes} numbers: run "
            "for longer or at a wider tolerance, use ridge=0.1, or compare fewer numbers by way "
            "of summary"
        ]


def kept_numbers(problem: Any) -> int:
    """How many numbers of each simulation are kept with a state."""
    return int(problem.width - state_width(problem.dimension))


def adjusted(run: Run, *, ridge: float, heteroscedastic: bool) -> Adjusted:
    """See `Run.adjusted`."""
    if not isinstance(ridge, int | float | np.number) or not 0.0 <= ridge < np.inf:
        raise InputError(f"ridge must be a number from 0 on, got {ridge!r}: 0.01 is little")
    problem = run.settings.problem
    observed = _observed(problem)
    chains = run.chains()
    rows = np.concatenate([draws.state for draws in chains])
    if len(rows) == 0:
        raise InputError("there are no draws to adjust: run for longer")
    if np.isnan(rows[:, state_width(problem.dimension) :]).any():
        raise InputError(
            "to adjust draws one needs their simulations, and lanes keep no simulated data: use "
            "on=aptmc.Processes()"
        )
    dimension, tolerance = problem.dimension, run.settings.ladder.levels[0]
    lower, upper = problem.support
    weights = epanechnikov(rows[:, value_column(dimension)], tolerance)
    moved = adjust(
        to_real_line(rows[:, :dimension], lower, upper),
        rows[:, state_width(dimension) :],
        observed,
        weights,
        ridge=float(ridge),
        heteroscedastic=heteroscedastic,
    )
    rows[:, :dimension] = from_real_line(moved, lower, upper)
    ends = np.cumsum([draws.time.size for draws in chains])[:-1]
    numbers = f"{observed.size} number{'' if observed.size == 1 else 's'}"
    words = f"adjusted by linear regression on {numbers} at tolerance {tolerance:.3g}"
    words += ", heteroscedastic" if heteroscedastic else ""
    words += f", ridge {ridge:g}" if ridge else ""
    states = np.split(rows, ends)
    return Adjusted(
        run,
        [draws._replace(state=state) for draws, state in zip(chains, states, strict=True)],
        np.split(weights, ends),
        words,
    )


def _observed(problem: Any) -> Floats:
    """The data that kept simulations belong to, or a clear error."""
    observed: Floats | None = problem.kept_data
    if observed is not None:
        return observed
    if problem.ladder_kind != "tolerances":
        raise InputError(
            "there is nothing to adjust: draws of a problem with a likelihood are those of its "
            "posterior"
        )
    raise InputError(
        "to adjust draws one needs their simulations, which were not kept: use aptmc.Abc with "
        "keep_simulated=True, and a summary that reduces the data to a few numbers (Abc.early "
        "gives no simulations)"
    )
