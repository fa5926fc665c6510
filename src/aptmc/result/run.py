"""A finished run, as users hold it: draws, diagnostics, exports, and why it stopped."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from typing_extensions import override

from aptmc.compiled import Floats, FloatTable
from aptmc.coordinator.state import Coordinator
from aptmc.diagnostics import Evidence, Summary, summarise
from aptmc.keys import Key
from aptmc.record.record import Record
from aptmc.result.adjusted import Adjusted, adjusted
from aptmc.result.advice import advise, describe, vital_signs
from aptmc.result.chosen_kernel import about_kernel
from aptmc.result.course import Course
from aptmc.result.exports import to_dataframe, to_inference_data, to_netcdf
from aptmc.result.kept_draws import KeptDraws
from aptmc.result.lazy_tree import lazy_tree
from aptmc.result.model_probabilities import Probability, about_models, model_probabilities
from aptmc.result.older_arviz import teach_older_arviz
from aptmc.result.one_advice import Advice
from aptmc.result.rerun import Rerun, Trace, rerun
from aptmc.result.run_evidence import run_evidence
from aptmc.result.snapshot import snapshot
from aptmc.result.sources import source_of, values_of
from aptmc.result.tree import eager_tree
from aptmc.session.descent import Reached
from aptmc.session.orders import Order
from aptmc.session.session import Usage
from aptmc.settings import Settings
from aptmc.store import Draws, Store
from aptmc.warmup import WarmUp

if TYPE_CHECKING:
    import pandas
    import xarray


@final
class Run(Course):
    """A finished run: draws, diagnostics, and why it stopped."""

    def __init__(
        self,
        settings: Settings,
        machine: Coordinator,
        record: Record,
        store: Store,
        usage: Usage,
        tuning: FloatTable,
        warmup: WarmUp | None = None,
        first_states: FloatTable | None = None,
        statistics: tuple[str, ...] = (),
        reached: Reached | None = None,
        draws_globally: bool = False,
        failed: Order | None = None,
    ) -> None:
        super().__init__(
            settings, machine, record, store, usage, tuning, warmup, statistics, reached
        )
        self._first_states = first_states
        self.draws_globally = draws_globally  # from generators that moves were not given
        self._failed = failed  # the move that ended the run
        self._kept = KeptDraws(settings, machine, record, store, warmup)

    def __repr__(self) -> str:
        draws = self._kept.lengths().sum()
        return f"<aptmc.Run: {draws} draws on rung 0; {self.stopped}>"

    @property
    @override
    def counted_from(self) -> float:
        """From when on draws count, in seconds or units of virtual time.

        Those from before, of the warm-up that was asked for or of the first sweeps, in which the
        run settles, are none of the posterior.
        """
        return self._kept.counted_from

    def chains(self, rung: int = 0, *, warmup: bool = False) -> list[Draws]:
        """The draws of each chain on a rung, in order; their lengths may differ."""
        return self._kept.of_rung(rung, warmup=warmup)

    def series(self, name: str, rung: int = 0, *, warmup: bool = False) -> list[Floats]:
        """One parameter's draws, an array for each chain on a rung.

        :param name: of a parameter, or of one place of a vector: `beta[3]`
        """
        source = source_of(self.settings.problem, name)
        return [values_of(draws, source) for draws in self.chains(rung, warmup=warmup)]

    def summary(self) -> Summary:
        """Mean, sd, interval, effective sample size and more, for each parameter.

        Printed, it also says how far down a likelihood-free run came and what is wrong, above the
        table; below it, which settings were found or given, and what could be better.
        """
        advice = self.advice
        far = () if self.reached is None else (str(self.reached),)
        above = (*far, *(str(one) for one in advice if one.serious))
        kernel = about_kernel(self)
        of_run = filter(None, [about_models(self), describe(self), kernel])
        said = (*of_run, *self.settings.problem.notes)
        notes = (*said, *(str(one) for one in advice if not one.serious))
        return replace(self._table, notes=notes, above=above)

    @property
    def advice(self) -> list[Advice]:
        """What could be better, and how: nothing for a good run. Serious things come first."""
        with self._kept.remembering():
            return advise(vital_signs(self, self._table))

    @cached_property
    def _table(self) -> Summary:
        return summarise(
            {label: self.series(label) for label in self.settings.problem.labels},
            max(self.elapsed - self.counted_from, 0.0),
            unit=self.settings.on.time_unit,
            times=[chain.time for chain in self.chains()],
            apart=self.settings.pools.apart,
            may_be_missing=True,
        )

    def log_evidence(self) -> Evidence:
        """The log evidence (log marginal likelihood) of a `Tempered` problem, with its error.

        The ladder must end at power 0, the prior, and the draws of all rungs must be kept
        (keep="all"). What is left out of the log likelihood is left out of the evidence.
        """
        return run_evidence(self)

    def model_probabilities(self) -> dict[int, Probability]:
        """By model, its posterior probability and standard error, after `ReversibleJump`."""
        return model_probabilities(self)

    def adjusted(self, *, ridge: float = 0.0, heteroscedastic: bool = False) -> Adjusted:
        """Likelihood-free draws, moved by regression to where their simulations meet the data.

        Linear regression with weights by distance; adjusted draws stay in the prior's support.
        Needs the simulations of the draws, which `Abc` keeps if they are few numbers.

        :param ridge: a penalty on slopes, for many or redundant numbers: 0.01 is little, 1 is much
        :param heteroscedastic: correct how far the draws spread, too
        """
        return adjusted(self, ridge=ridge, heteroscedastic=heteroscedastic)

    @cached_property
    def draws(self) -> xarray.DataTree:
        """The coldest rung's draws in ArviZ's layout.

        ArviZ wants chains of equal length: what longer ones have beyond the shortest is in groups
        of its own, `beyond_posterior` and `beyond_sample_stats`. From a store on disk, numbers are
        read when they are asked for. Functions of ArviZ take it, those before version 1, too.
        """
        teach_older_arviz()
        kept, store = self._kept, self._store
        if store.path is not None and kept.knows_lengths:
            chains, before = kept.recorded_on(0).tolist(), kept.lengths_before().tolist()
            lengths = kept.lengths().tolist()
            return lazy_tree(self, store, chains, before, lengths, with_warmup=kept.has_warmup)
        return eager_tree(self, with_warmup=kept.has_warmup)

    def to_dataframe(self, rung: int = 0) -> pandas.DataFrame:
        """All draws of a rung as a table of pandas, with chain, time and statistics."""
        return to_dataframe(self, rung)

    def to_netcdf(self, path: str | os.PathLike[str]) -> None:
        """Write the draws to a netCDF file, in ArviZ's layout."""
        to_netcdf(self.draws, path)

    def to_inference_data(self) -> Any:
        """The draws as the installed ArviZ has them: `InferenceData`, from version 1 on a DataTree.

        `run.draws` itself works in the functions of both.
        """
        return to_inference_data(self.draws)

    def report(
        self,
        path: str | os.PathLike[str] = "report.html",
        *,
        title: str | None = None,
        beside: Run | None = None,
    ) -> Path:
        """Write a report to one HTML file that opens offline, and give its path.

        :param title: its headline; by default the file's name, if that says something, or the
            names of the parameters
        :param beside: another run, whose processors are shown below those of this one
        """
        from aptmc.result.report import write_report  # plots are imported when they are wanted

        return write_report(self, path, beside=beside, title=title)

    @property
    def is_settled(self) -> bool:
        """Whether states are draws of the posterior by now, as `snapshot` needs."""
        return self.completions > 0 and bool(self._machine.is_settled[0])

    def snapshot(self) -> xarray.Dataset:
        """Draws of one moment: where the chains of the coldest rung stand that wait there.

        They are exact and independent of each other; those in flight, which are more often slow,
        are left out. Of a run under way, `handle.snapshot()`.

        >>> import scipy.stats, aptmc
        >>> run = aptmc.sample(
        ...     aptmc.Tempered(
        ...         lambda theta: -0.5 * theta[0] ** 2, aptmc.Prior(x=scipy.stats.norm(0, 5))
        ...     ),
        ...     budget=500,
        ...     ladder=[1],
        ...     kernel=aptmc.RandomWalk(3.0),
        ...     schedule=aptmc.Anytime(every=10),
        ...     pools=aptmc.Shared(chains_per_rung=8),
        ...     on=aptmc.VirtualTime(3),
        ...     seed=1,
        ... )
        >>> run.snapshot()["x"].size
        5
        """
        return snapshot(self)

    def rerun(self, move: Key, *, compiled: bool | None = None) -> Rerun:
        """Compute a single move of this run again, in this process, with the same randomness.

        Any move whose chain's draws were kept (all of them, not thinned), and any that was under
        way at the end. A failed one, by `error.run.rerun(error.key)`, of whatever phase.

        :param move: its random key, as errors and `run.in_flight` name it
        :param compiled: False runs it in plain Python, for a debugger
        """
        trace = Trace(
            self._machine, self._record, self._store, self._tuning, self._first_states, self._failed
        )
        return rerun(self.settings, trace, move, compiled=compiled)
