"""The pilot: what a run has measured of its moves, its messages and its coordinator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.errors import InputError
from aptmc.ladder import Ladder
from aptmc.planning.effective import Effective, effective_draws
from aptmc.pools import Pools, Shared
from aptmc.result.run import Run
from aptmc.schedule import Schedule

FEWEST_MOVES = 30  # of a rung: fewer say little about its hold times
# Of all gaps between moves, the longest are left out: a machine that slept, a run that was resumed.
SHARE_OF_GAPS = 0.999


class Transitions(NamedTuple):
    """Local moves of one rung, in the order in which they were made, chain by chain."""

    before: FloatTable  # parameters from which a move started
    after: FloatTable
    value: Floats  # after the move: what exchanges look at
    hold: Floats
    stayed: Integers  # 1 if nothing changed


@final
class Pilot(NamedTuple):
    """What the planner knows. Times are in seconds, or in units of virtual time."""

    ladder: Ladder
    schedule: Schedule
    pools: Pools
    names: tuple[str, ...]
    time_unit: str
    processors: int
    chains: int
    chains_per_rung: int
    coldest: int  # chains on the coldest rung
    hold: list[Floats]  # by rung, of completed moves
    hold_error: float  # of their mean over all rungs: relative, one standard error
    transitions: list[Transitions] | None  # by rung, if the draws of all rungs were kept
    latency: float  # from the end of a move until the next is there, without `cost`
    pause: float  # between moves although the next is there already: on busy machines
    cost: float  # the coordinator's time for each completion
    exchange_cost: float  # and for each chain in each round of exchanges
    ahead: int  # moves that waited at each processor
    utilisation: float
    moves_per_second: float
    effective: Effective  # draws of the coldest rung, per second
    warmup_moves: int  # completed in the warm-up, by all chains

    @property
    def movers(self) -> list[int]:
        """The rungs whose chains make local moves."""
        return [rung for rung in range(self.ladder.rungs) if rung not in self.ladder.idle_rungs]

    def shared(self, chains_per_rung: int) -> Shared:
        """One queue with so many chains on each rung, and as many times more on the coldest."""
        if self.coldest == self.chains_per_rung:
            return Shared(chains_per_rung)
        ratio = self.coldest / self.chains_per_rung
        return Shared(chains_per_rung, coldest=max(round(ratio * chains_per_rung), 1))

    def standing(self, chains_per_rung: int, rungs: Sequence[int]) -> Integers:
        """By rung of a part of the ladder: how many chains stand there then."""
        coldest = self.shared(chains_per_rung).coldest
        standing = np.full(len(rungs), chains_per_rung)
        if coldest is not None:
            standing[np.asarray(rungs) == 0] = coldest
        return standing

    @property
    def mean_hold(self) -> Floats:
        """By rung, how long a move takes; 0 where there are none."""
        return np.array([hold.mean() if hold.size > 0 else 0.0 for hold in self.hold])


def pilot_of(run: Run) -> Pilot:
    """What a run has measured, or an error if that is too little to plan with."""
    settings = run.settings
    if run.completions == 0:
        raise InputError("the pilot has completed no moves: run it for longer")
    hold = _hold_times(run)
    for rung, times in enumerate(hold):
        if rung not in settings.ladder.idle_rungs and times.size < FEWEST_MOVES:
            raise InputError(
                f"rung {rung} of the pilot has {times.size} moves with hold times, and a plan "
                f"needs at least {FEWEST_MOVES}: run the pilot for longer"
            )
    seconds = max(run.elapsed - run.counted_from, 0.0)
    standing = np.bincount(run.rung_of_chain)
    cost, exchange_cost = _costs(run)
    ahead = max(round(len(run.in_flight) / settings.on.processors) - 1, 0)
    latency, pause = _gaps(run, ahead, cost)
    cold = run.chains(0)
    times = np.concatenate([draws.time for draws in cold])
    states = np.concatenate([draws.state for draws in cold])
    return Pilot(
        ladder=settings.ladder,
        schedule=settings.schedule,
        pools=settings.pools,
        names=tuple(settings.problem.names),
        time_unit=settings.on.time_unit,
        processors=settings.on.processors,
        chains=int(standing.sum()),
        chains_per_rung=int(standing[-1]),
        coldest=int(standing[0]),
        hold=hold,
        hold_error=_hold_error(hold),
        transitions=_transitions(run),
        latency=latency,
        pause=pause,
        cost=cost,
        exchange_cost=exchange_cost,
        ahead=ahead,
        utilisation=run.utilisation,
        moves_per_second=run.completions / run.elapsed,
        effective=effective_draws(times, states[:, : settings.problem.dimension], seconds),
        warmup_moves=sum(part.completions for part in run.warmup_rounds),
    )


def _hold_times(run: Run) -> list[Floats]:
    """By rung, from the log of events or from the draws."""
    completions, rungs = run.events.completions, run.settings.ladder.rungs
    if completions.chain.size > 0:
        rung = run.rung_of_chain[completions.chain]
        times = completions.ended - completions.began
        counts = np.isfinite(times) & (completions.time > run.counted_from)
        return [times[counts & (rung == level)] for level in range(rungs)]
    if run.keeps_all:
        return [
            np.concatenate([d.hold_time[~d.exchanged] for d in run.chains(level)])
            for level in range(rungs)
        ]
    raise InputError(
        "the pilot holds no hold times of its warmer rungs: run it with log_events=True (which a "
        'run with store=... does by itself) or with keep="all"'
    )


def _hold_error(hold: list[Floats]) -> float:
    """The relative standard error of the mean over rungs; each rung's moves are autocorrelated."""
    means, variances = [], []
    for times in hold:
        if times.size > 0:
            means.append(float(times.mean()))
            numbers = np.arange(float(times.size))
            found = effective_draws(numbers, times.reshape(-1, 1), 1.0, are_states=False)
            draws = float(found.per_second[0])
            variances.append(times.var() / draws if np.isfinite(draws) else times.var())
    return float(np.sqrt(sum(variances))) / max(sum(means), 1e-300)


def _transitions(run: Run) -> list[Transitions] | None:
    """By rung, from which state to which state its moves led."""
    if not run.keeps_all or run.thin > 1:
        return None
    dimension = run.settings.problem.dimension
    found = []
    for rung in range(run.settings.ladder.rungs):
        parts = []
        for draws in run.chains(rung):
            # The draw before a move is the state that it started from, whatever led there.
            moved = np.flatnonzero(~draws.exchanged[1:]) + 1
            before, after = draws.state[moved - 1], draws.state[moved]
            stayed = (before[:, : dimension + 1] == after[:, : dimension + 1]).all(axis=1)
            parts.append(
                Transitions(
                    before[:, :dimension],
                    after[:, :dimension],
                    after[:, dimension],
                    draws.hold_time[moved],
                    stayed.astype(np.int64),
                )
            )
        found.append(
            Transitions(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        )
    return found


def _costs(run: Run) -> tuple[float, float]:
    """The coordinator's time for a completion, and for a chain in a round of exchanges."""
    overhead, schedule = run.overhead, run.settings.schedule
    cost = max(overhead.coordinator - overhead.exchanges, 0.0) / run.completions
    if schedule.moves_per_barrier is not None:
        rounds = run.completions / (schedule.moves_per_barrier * run.rung_of_chain.size)
    else:
        rounds = run.elapsed / schedule.interval
    return cost, overhead.exchanges / max(rounds, 1.0) / run.rung_of_chain.size


def _gaps(run: Run, ahead: int, cost: float) -> tuple[float, float]:
    """Between moves: how long until the next one is there, and how long even if it is."""
    done = run.events.completions
    known = np.isfinite(done.ended) & np.isfinite(done.began)
    order = np.lexsort((done.began[known], done.processor[known]))
    processor, began, ended = (
        column[known][order] for column in (done.processor, done.began, done.ended)
    )
    gap = _usual((began[1:] - ended[:-1])[processor[1:] == processor[:-1]])
    if ahead == 0 and run.settings.schedule.never_waits:
        return max(gap - cost, 0.0), 0.0
    # The next move was there, or had to wait for a barrier: only the way to the coordinator shows.
    latency = 2.0 * _usual(done.time[known] - done.ended[known])
    return latency, gap if ahead > 0 else 0.0


def _usual(times: Floats) -> float:
    """The mean of all but the longest, which are pauses of the machine."""
    if times.size == 0:
        return 0.0
    kept = np.sort(times)[: max(int(SHARE_OF_GAPS * times.size), 1)]
    return max(float(kept.mean()), 0.0)
