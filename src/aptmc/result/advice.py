"""Advice: what a finished run shows that its user should know, each with one remedy.

`vital_signs` takes the numbers from a run; `advise` judges the numbers, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aptmc.checks import counted
from aptmc.compiled import Floats, FloatTable
from aptmc.diagnostics import Summary
from aptmc.errors import StopReason
from aptmc.pools import Groups
from aptmc.problem.chain_state import value_column
from aptmc.problem.in_steps import WholeBecause
from aptmc.result.chosen_kernel import more_steps
from aptmc.result.divergence_advice import about_divergences, share_astray
from aptmc.result.idle_advice import about_idle_processors
from aptmc.result.ladder_advice import about_one_hill, is_mostly_cold, modes_seen
from aptmc.result.lane_advice import about_whole_simulations, why_whole
from aptmc.result.no_draws import no_draws
from aptmc.result.one_advice import Advice
from aptmc.result.prior_sketch import known_sketches, like_the_prior
from aptmc.result.swap_advice import RARE_SWAPS, about_swaps, ends_short_at
from aptmc.result.tolerance_advice import about_tolerance
from aptmc.session.descent import Reached
from aptmc.session.start_up import Spent

if TYPE_CHECKING:
    from aptmc.result.run import Run

UNEVEN_SWAPS = 0.3  # the largest rate less the smallest, on a ladder that was meant to be even
USEFUL_DRAWS, FEW_DRAWS = 400, 100
DISAGREEMENT, STRONG_DISAGREEMENT = 1.05, 1.2  # of chains, by r-hat
FORGOTTEN = 20.0  # accepted moves after which a chain is elsewhere: measured, docs/lanes.md
MANY_FAILURES = 0.1  # of all simulations
LONG_START = 1 / 3  # of the budget
FEW_SWEEPS = 16
LEAST_TIME = 1e-9  # of a run, so that one can divide by it


class VitalSigns(NamedTuple):
    """The numbers by which a run is judged."""

    kind: str  # of the ladder: powers or tolerances
    levels: tuple[float, ...]
    swap_rates: Floats  # of neighbours; NaN where they never met
    round_trips: int
    draws: int  # on the coldest rung
    distinct: int  # different states among them
    effective_draws: float  # of the parameter that has the fewest; NaN for too few draws
    r_hat: float  # of the parameter that has the largest
    utilisation: float
    has_barriers: bool  # do processors wait for each other?
    simulations: int
    failures: int
    started_late: float  # the share of the budget, or of the time, in which no moves counted
    last_rungs: int | None  # in the last round of the warm-up, if it looked for a ladder
    sweeps: float = math.inf  # moves in all for each chain, if they are of different lengths
    stopped: StopReason = StopReason.BUDGET_SPENT
    start_up: tuple[Spent, ...] = ()  # what came before the first moves
    reached: Reached | None = None  # how far down a likelihood-free run came
    parameters: int = 0
    alike: tuple[str, ...] = ()  # parameters whose draws cannot be told from the prior's
    astray: float = 0.0  # the share of trajectories along gradients that diverged
    accepted_each: float = math.inf  # moves of a chain of the coldest rung, of lanes
    only_distance: float | None = None  # of likelihood-free draws, if all have the same
    draws_globally: str | None = None  # the function that draws from generators it is not given
    repeats_itself: str | None = None  # the simulator that gives the same data again and again
    more_steps: str = "more local steps per move"  # how to say so to `sample`
    is_grouped: bool = True  # whether moves have several local steps
    modes_seen: int = 0  # on a rung, at most; 0 where nobody has looked
    is_mostly_cold: bool = (
        False  # whether most chains of a ladder of powers are on the coldest rung
    )
    whole_because: WholeBecause | None = None  # of lanes that ran whole simulations
    ends_short_at: float | None = None  # the hottest power, if the prior lies beyond it
    budget_is: str = "budget"  # what start-up is a share of: the time, if a budget is a count
    kernel_was_left: bool = False  # to aptmc, so that nobody can ask for another of the kind
    moves_each: float = math.inf  # of a processor
    move_length: float = math.inf  # of the mean one
    others: float = 0.0  # processes that wanted each processor of the machine meanwhile

    @property
    def wanted_draws(self) -> float:
        """How many effective draws are enough: as many as the run was asked for."""
        asked = None if self.reached is None else self.reached.effective_draws
        return USEFUL_DRAWS if asked is None else asked

    @property
    def is_tolerance_chosen(self) -> bool:
        """Whether the tolerance is the run's own, or one that could hardly be wider."""
        return self.reached is not None and (self.reached.is_chosen or self.reached.is_wide)


def advise(signs: VitalSigns) -> list[Advice]:
    """All that is worth saying, serious things first."""
    if signs.draws == 0:  # there is nothing to judge but why
        return [no_draws(signs.stopped, signs.start_up)]
    found = [
        *about_tolerance(signs.reached, signs.alike, signs.parameters, signs.only_distance),
        *about_swaps(
            signs.swap_rates,
            signs.round_trips,
            was_searched=signs.last_rungs is not None,
            ends_short_at=signs.ends_short_at,
            is_mostly_cold=signs.is_mostly_cold,
        ),
        *about_one_hill(len(signs.levels), signs.modes_seen, is_mostly_cold=signs.is_mostly_cold),
        *_about_draws(signs),
        *about_divergences(signs.astray),
        *_about_warmup(signs),
        *_about_time(signs),
        *about_whole_simulations(signs.whole_because),
        *_about_randomness(signs),
    ]
    return sorted(found, key=lambda advice: not advice.serious)


def _about_draws(signs: VitalSigns) -> Iterator[Advice]:
    """Why the draws are too few: one reason, the deepest that is known."""
    if signs.r_hat > DISAGREEMENT:
        yield Advice(
            f"chains of the coldest rung, or their halves, do not agree (r-hat {signs.r_hat:.2f})",
            "Use a longer budget; if that does not help, look for modes that few rungs reach",
            serious=signs.r_hat > STRONG_DISAGREEMENT,
        )
    if signs.accepted_each < FORGOTTEN:
        yield Advice(
            f"each chain of the coldest rung has accepted {signs.accepted_each:.1f} moves, too few "
            "to forget where it began, however many chains there are",
            "Use fewer lanes, which make more moves each, or a longer budget",
            serious=True,
        )
    effective = min(signs.effective_draws, signs.distinct)
    wanted = signs.wanted_draws
    if effective >= wanted:
        return
    # So that NaN, for draws too few to tell, is serious.
    serious = not effective >= wanted * FEW_DRAWS / USEFUL_DRAWS
    size = "unknown" if math.isnan(effective) else f"{effective:.0f}"
    worth = f"{signs.draws} draws have an effective size of {size}"
    if signs.kind == "tolerances" and not signs.is_tolerance_chosen:
        yield Advice(
            f"the tolerance {signs.levels[0]:.3g} is too tight for this budget: {worth}",
            _larger_tolerance(signs, effective),
            serious,
        )
    elif signs.kind == "powers" and signs.distinct < FEW_DRAWS:
        yield Advice(
            f"the coldest rung hardly moves: {signs.draws} draws hold {signs.distinct} different "
            "states",
            "Use a longer budget"
            if signs.kernel_was_left
            else 'Use a longer budget, or smaller proposals there, which kernel="auto" looks for',
            serious=True,
        )
    else:
        times = wanted / effective
        need = "were asked for" if wanted != USEFUL_DRAWS else "good means and intervals need"
        yield Advice(
            f"{worth}, less than the {wanted:.0f} that {need}",
            f"Use a budget {times:.0f} times as long" if times >= 2 else "Use a longer budget",
            serious,
        )


def _about_warmup(signs: VitalSigns) -> Iterator[Advice]:
    if signs.last_rungs is None:
        return
    rungs, rates = len(signs.levels), signs.swap_rates[~np.isnan(signs.swap_rates)]
    remedy = (
        "Use a longer warm-up, or give the ladder that was found to the next run, "
        "ladder=run.settings.ladder"
    )
    if abs(rungs - signs.last_rungs) > max(2, rungs / 4):
        yield Advice(
            "the warm-up was too short to settle the ladder, which went from "
            f"{signs.last_rungs} to {rungs} rungs at its end",
            remedy,
            serious=False,
        )
    # Where swaps are rare one has said so already.
    elif rates.size > 1 and rates.min() >= RARE_SWAPS and np.ptp(rates) > UNEVEN_SWAPS:
        yield Advice(
            "the warm-up was too short to make the ladder even: neighbours swap from "
            f"{_percent(rates.min())} to {_percent(rates.max())} of the time",
            remedy,
            serious=False,
        )


def _about_time(signs: VitalSigns) -> Iterator[Advice]:
    long_start = signs.started_late > LONG_START
    yield from about_idle_processors(
        signs.utilisation,
        has_barriers=signs.has_barriers,
        others=signs.others,
        moves_each=signs.moves_each,
        move_length=signs.move_length,
        long_start=long_start,
        more_steps=signs.more_steps,
    )
    if long_start:
        yield Advice(
            f"starting up took {_percent(signs.started_late)} of the {signs.budget_is}",
            "Use a longer budget, or on=aptmc.InProcess() for a short run",
            serious=False,
        )
    if signs.sweeps < FEW_SWEEPS:
        yield Advice(
            f"each chain has made only {signs.sweeps:.1f} moves in all, the first of them to "
            "settle: states may be too rare from which moves take long, and those that are close "
            "to where chains began too frequent",
            "Use a longer budget, or fewer chains, pools=aptmc.Shared(1)"
            + (", or fewer local steps per move, on=aptmc.Processes(group=1)" * signs.is_grouped),
            serious=False,
        )
    if signs.failures > MANY_FAILURES * max(signs.simulations, 1):
        share = signs.failures / max(signs.simulations, 1)
        yield Advice(
            f"{_percent(share)} of the simulations failed, and count as misses",
            'Use on_error="raise" to see one of them, and mend the simulator or narrow the prior',
            serious=share > 0.5,
        )


def _about_randomness(signs: VitalSigns) -> Iterator[Advice]:
    if signs.repeats_itself is not None:
        yield Advice(
            f"{signs.repeats_itself} gives the same data again for the same parameters, whatever "
            "random numbers it is given",
            "If that is not meant to be, look for a generator that it makes itself from a fixed "
            "seed, and draw from the one that it is given, rng",
            serious=True,
        )
    if signs.draws_globally is not None:
        yield Advice(
            f"{signs.draws_globally} draws from np.random, random or torch, which are seeded from "
            "the key of each move, so that its draws are sound and can be computed again",
            "Draw from the generator that it is given, rng, which is quicker and also holds in "
            "threads",
            serious=False,
        )


def _larger_tolerance(signs: VitalSigns, effective: float) -> str:
    """The smallest tolerance of the ladder that would have been worth enough draws.

    A swap succeeds if the warmer rung's simulation lies within the colder tolerance. So the rate is
    the ratio of their masses, and an effective draw costs about as much as its mass is small.
    """
    with np.errstate(divide="ignore"):
        gain = 1.0 / np.cumprod(signs.swap_rates)
    for tolerance, factor in zip(signs.levels[1:], gain.tolist(), strict=True):
        if effective * factor >= signs.wanted_draws and tolerance < math.inf:
            return f"Use a tolerance of {tolerance:.3g} or more, or a longer budget"
    return "Use a larger tolerance, or a longer budget"


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


# --- from a run -------------------------------------------------------------------------------


def vital_signs(run: Run, summary: Summary) -> VitalSigns:
    """The numbers by which a run is judged."""
    settings, rounds = run.settings, run.warmup_rounds
    moves_each = run.completions / settings.on.processors
    # Coordinates are continuous: states that share the first of them are one state. If it is the
    # number of a model it is not, and values are.
    columns = (0, value_column(settings.problem.dimension))
    states = np.concatenate([draws.state[:, columns] for draws in run.chains()])
    firsts = states[:, 0]
    rows = list(summary.values())
    labels = settings.problem.labels
    sketches = known_sketches(settings.problem) if firsts.size > 0 else {}
    alike = like_the_prior(summary, {one: run.series(one) for one in labels}, sketches)
    searched = any(part.ladder != settings.ladder for part in rounds)
    return VitalSigns(
        kind=settings.ladder.kind,
        levels=settings.ladder.levels,
        swap_rates=run.swap_rates.neighbours,
        round_trips=run.round_trips,
        draws=firsts.size,
        distinct=max(np.unique(column).size for column in states.T),
        effective_draws=float(np.min([row.ess for row in rows])),
        r_hat=float(np.fmax.reduce([row.r_hat for row in rows])),
        utilisation=run.utilisation,
        has_barriers=not settings.schedule.never_waits,
        simulations=run.simulations,
        failures=run.failures,
        started_late=run.overhead.startup / _whole_time(run),
        last_rungs=rounds[-1].ladder.rungs if searched else None,
        sweeps=run.sweeps if settings.schedule.never_waits else math.inf,
        stopped=run.stopped,
        start_up=run.start_up,
        reached=run.reached,
        parameters=len(rows),
        alike=alike,
        astray=share_astray(run),
        accepted_each=_accepted_each(run),
        only_distance=_only_distance(states) if settings.ladder.kind == "tolerances" else None,
        draws_globally=settings.problem.its_function if run.draws_globally else None,
        repeats_itself=settings.problem.its_function if run.repeats_itself else None,
        more_steps=more_steps(settings),
        is_grouped=bool(run.steps_per_move.max() > 1),
        modes_seen=modes_seen(settings),
        is_mostly_cold=is_mostly_cold(settings, run.rung_of_chain),
        whole_because=why_whole(settings),
        ends_short_at=ends_short_at(settings),
        budget_is="budget" if settings.quota is None else "time",
        kernel_was_left=settings.chosen != "",
        moves_each=moves_each,
        move_length=run.utilisation * run.elapsed / max(moves_each, 1.0),
        others=run.wanted_by_others,
    )


def _whole_time(run: Run) -> float:
    """The budget, or what a run that counts something else has taken with its start-up."""
    if run.settings.quota is None:
        return run.settings.budget
    return max(run.elapsed + run.overhead.startup, LEAST_TIME)


def _only_distance(states: FloatTable) -> float | None:
    """The distance of all draws, the second of these columns, if there is but one and it is not 0,
    which is as near as can be."""
    distances = states[:, 1]
    is_one = distances.size > 1 and distances[0] > 0.0 and bool((distances == distances[0]).all())
    return float(distances[0]) if is_one else None


def _accepted_each(run: Run) -> float:
    """Of lanes only: where chains are few, their own lengths tell whether they suffice."""
    if not isinstance(run.settings.pools, Groups):
        return math.inf
    chains = int(np.count_nonzero(run.rung_of_chain == 0))
    return float(run.statistics["accepted"][0]) / chains


def describe(run: Run) -> str:
    """The settings that were found or given, in one line."""
    ladder, schedule = run.settings.ladder, run.settings.schedule
    chains, steps = len(run.chains()), run.steps_per_move
    rungs = "1 rung" if ladder.rungs == 1 else f"{ladder.rungs} rungs"
    level = ladder.kind.removesuffix("s")
    ends = sorted({ladder.levels[0], ladder.levels[-1]}, key=ladder.levels.index)
    parts = [f"{rungs}, {level} {' to '.join(f'{end:.3g}' for end in ends)}"]
    parts.append(_chains_in_words(run, chains))
    if isinstance(run.settings.pools, Groups) and run.settings.pools.why:
        parts.append(run.settings.pools.why)
    if schedule.moves_per_barrier is not None:
        moves = schedule.moves_per_barrier
        parts.append(f"exchanges after {moves} move{'' if moves == 1 else 's'} of every chain")
    elif schedule.interval < np.inf and ladder.rungs > 1:
        # Lanes count ticks between deadlines, also where a budget is in seconds.
        has_lanes = isinstance(run.settings.pools, Groups)
        unit = "tick" if has_lanes else run.settings.on.time_unit
        words = unit if unit == "s" else f"{unit}s of time"
        parts.append(f"deadlines every {schedule.interval:.3g} {words}")
    if steps.max() > 1:
        several = steps.min() < steps.max()
        parts.append(f"{steps.min()} to {steps.max()}" if several else f"{steps.max()}")
        parts[-1] += " local steps per move"
    if run.settings.on.remark:
        parts.append(run.settings.on.remark)
    return ", ".join(parts)


def _chains_in_words(run: Run, recorded: int) -> str:
    """How many chains stand where; of lanes, of which each has two, how many are recorded."""
    on_rungs = np.bincount(run.rung_of_chain)
    if isinstance(run.settings.pools, Groups):
        on_rungs //= 2
    coldest, others = int(on_rungs[0]), on_rungs[1:]
    if (others == coldest).all():
        return f"{counted(recorded, 'chain')} on each"
    fewest, most = int(others.min()), int(others.max())
    each = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return f"{counted(coldest, 'chain')} on the coldest and {each} on each other"
