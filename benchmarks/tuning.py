"""How good are the settings that the warm-up finds? In virtual time, so no timing noise.

Three questions: do neighbours swap as often as wanted; are the deadlines within reach of the best
ones; is the number of rungs? The measure of a run is how many independent draws would estimate the
posterior means as well, by the mean squared error over many runs; effective sample sizes from
autocorrelation are beside it. Its relative standard error is about sqrt(2 / runs) for one mean, and
less for the geometric mean over all parameters that is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

import aptmc
from aptmc.diagnostics import effective_sample_size
from aptmc.ladder import SWAP_RATE
from aptmc.models import gamma_mixture
from aptmc.settings import Settings
from aptmc.warmup import power_ladders
from experiments.known_targets import densities, simulators
from experiments.known_targets.quantities import Floats, Quantity, Sums, effective_draws
from experiments.known_targets.target import PROCESSORS, Target
from experiments.parallel import in_parallel

MARGIN = 0.1  # of swap rates around the wanted one
TARGETS = {target.name: target for target in (*densities.TARGETS, *simulators.TARGETS)}
FACTORS = (1 / 4, 1 / 2, 1.0, 2.0, 4.0, 16.0)
RUNG_FACTORS = (0.5, 0.75, 1.0, 1.5, 2.0)
WARMUP_SHARE = 0.1


@dataclass(frozen=True)
class Case:
    """A problem whose moves may take different times, and the means that are estimated."""

    name: str
    problem: aptmc.Problem
    means: tuple[tuple[Quantity, float], ...]  # each with its parameter's standard deviation
    budget: float
    runs: int
    on: aptmc.VirtualTime
    coldest: float | None = None

    @property
    def names(self) -> list[str]:
        """Of the parameters whose means are estimated."""
        return [mean.name.removeprefix("mean ") for mean, _ in self.means]


def case_of(target: Target, *, share: float, runs: int) -> Case:
    """A known target; moves take the time of their counted work."""
    quantities = {quantity.name: quantity for quantity in target.quantities}
    means = tuple(
        (quantities[f"mean {name}"], quantities[f"sd {name}"].truth)
        for name in target.problem.names
        if f"mean {name}" in quantities
    )
    on = aptmc.VirtualTime(PROCESSORS)
    budget = share * target.budget
    return Case(target.name, target.problem, means, budget, runs, on, target.coldest)


@cache
def gamma_case(power: int, budget: float, runs: int) -> Case:
    """The gamma mixture; a move from x takes a time of mean x ** power."""
    target = TARGETS["gamma mixture"]
    on = aptmc.VirtualTime(PROCESSORS, gamma_mixture.hold_time(power))
    case = case_of(target, share=1.0, runs=runs)
    return replace(case, name=f"{target.name}, p = {power}", budget=budget, on=on)


@dataclass(frozen=True)
class Worth:
    """What runs with one setting are worth, each: geometric means over the parameters."""

    by_error: float
    by_autocorrelation: float


def worth_of(case: Case, run: Callable[[int], aptmc.Run], runs: int) -> Worth:
    """Of independent runs with one setting."""

    def one(seed: int) -> tuple[list[Sums], list[float]]:
        result = run(seed)
        theta = np.concatenate(
            [draws.state[:, : case.problem.dimension] for draws in result.chains()]
        )
        sums = [Sums.over(mean.of(theta)) for mean, _ in case.means]
        return sums, [effective_sample_size(result.series(name)) for name in case.names]

    measured = in_parallel(one, range(1, runs + 1))
    by_error = [
        effective_draws(mean, [run[0][place] for run in measured], sd**2)
        for place, (mean, sd) in enumerate(case.means)
    ]
    sizes = np.array([run[1] for run in measured]).mean(axis=0)
    return Worth(_geometric_mean(by_error), _geometric_mean(sizes))


def _geometric_mean(values: Sequence[float] | Floats) -> float:
    return float(np.exp(np.mean(np.log(values))))


# --- swap rates -----------------------------------------------------------------------------------


def print_swap_rates(*, quick: bool) -> None:
    """How many pairs of neighbours swap about as often as wanted."""
    print(f"## Swap rates within {MARGIN} of {SWAP_RATE} after the warm-up\n")
    print("| target | runs | rungs | pairs | within | cannot be | lowest | median | highest |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    runs = 1 if quick else 8
    names = ("coin",) if quick else tuple(TARGETS)
    share = 0.1 if quick else 1.0
    counts = np.zeros(3, np.int64)
    for name in names:
        target = TARGETS[name]
        found = in_parallel(partial(_rates, target, share), range(1, runs + 1))
        rates = np.concatenate([one[0] for one in found])
        within = abs(rates - SWAP_RATE) <= MARGIN
        excused = np.concatenate([one[1] for one in found]) & ~within
        counts += [rates.size, within.sum(), excused.sum()]
        rungs = sorted({one[0].size + 1 for one in found})
        low, middle, high = np.nanquantile(rates, [0.0, 0.5, 1.0])
        print(
            f"| {name} | {runs} | {rungs[0]} to {rungs[-1]} | {rates.size} | {within.sum()} "
            f"| {excused.sum()} | {low:.2f} | {middle:.2f} | {high:.2f} |"
        )
    pairs, good, excused_pairs = counts.tolist()
    print(
        f"\n{good} of {pairs} pairs ({good / pairs:.0%}); of the {pairs - excused_pairs} that can "
        f"be, {good / (pairs - excused_pairs):.0%}\n"
    )


def _rates(target: Target, share: float, seed: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Rates of a run's neighbours, and which of them no ladder could bring nearer to the target.

    Few simulations from a prior may have a finite distance: then its rung has no near neighbour.
    And a short ladder may swap too often with so many rungs, and far too rarely with one less.
    """
    rates = target.sample(share * target.budget, seed).swap_rates.neighbours
    excused = np.zeros(rates.size, np.bool_)
    if isinstance(target.problem, aptmc.Abc):
        excused[-1] = finite_share(target.problem) < SWAP_RATE - MARGIN
    elif rates.size > 1:
        length = sum(power_ladders.distance(rate) for rate in rates)
        now, with_one_less = (2.0 * ndtr(-0.5 * length / (rates.size - less)) for less in (0, 1))
        is_best = abs(now - SWAP_RATE) < abs(with_one_less - SWAP_RATE)
        excused[:] = now > SWAP_RATE + 0.5 * MARGIN and is_best
    return rates, excused


@cache
def finite_share(problem: aptmc.Abc) -> float:
    """How many simulations from the prior have a finite distance."""
    return aptmc.rejection(problem, 1e300, simulations=10_000, seed=1).rate


# --- deadlines ------------------------------------------------------------------------------------


def print_deadlines(*, quick: bool) -> None:
    """The automatic time between deadlines beside multiples of it."""
    print("## Deadlines: effective draws of a run by mean squared error (by autocorrelation)\n")
    factors = (1 / 4, 1.0, 4.0) if quick else FACTORS
    print(
        "| problem | runs | automatic | best / automatic | "
        + " | ".join(f"{factor:g} times" for factor in factors)
        + " |"
    )
    print("| --- " * (4 + len(factors)) + "|")
    if quick:
        cases = [gamma_case(1, 1e3, 8)]
    else:
        cases = [
            gamma_case(1, 1e4, 400),
            gamma_case(2, 4e4, 400),
            case_of(TARGETS["twenty modes"], share=0.1, runs=100),
            case_of(TARGETS["predators 1"], share=0.1, runs=100),
        ]
    for case in cases:
        tuned = [_with_rungs(case, None)(seed).settings for seed in range(101, 105)]
        worths = [
            worth_of(case, _with_deadlines(case, tuned, factor), case.runs) for factor in factors
        ]
        every = [float(_anytime(settings).every) for settings in tuned]
        _print_row(case, f"{np.mean(every):.3g}", worths, factors.index(1.0))
    print()


def _anytime(settings: Settings) -> aptmc.Anytime:
    assert isinstance(settings.schedule, aptmc.Anytime)
    return settings.schedule


def _with_deadlines(case: Case, tuned: list[Settings], factor: float) -> Callable[[int], aptmc.Run]:
    """Runs with the settings that several warm-ups found, in turn, but for the deadlines."""

    def run(seed: int) -> aptmc.Run:
        settings = tuned[seed % len(tuned)]
        found = _anytime(settings)
        schedule = replace(found, every=factor * float(found.every))
        return aptmc.sample(
            case.problem,
            budget=case.budget,
            warmup=WARMUP_SHARE * case.budget,
            ladder=settings.ladder,
            kernel=settings.kernel,
            schedule=schedule,
            pools=settings.pools,
            on=case.on,
            seed=seed,
        )

    return run


# --- rungs ----------------------------------------------------------------------------------------


def print_rungs(*, quick: bool) -> None:
    """The automatic number of rungs beside fewer and more, spaced alike."""
    print("## Rungs: effective draws of a run by mean squared error (by autocorrelation)\n")
    factors = (0.5, 1.0, 2.0) if quick else RUNG_FACTORS
    print(
        "| problem | runs | automatic | best / automatic | "
        + " | ".join(f"{factor:g} times" for factor in factors)
        + " |"
    )
    print("| --- " * (4 + len(factors)) + "|")
    if quick:
        cases = [case_of(TARGETS["coin"], share=0.03, runs=8)]
    else:
        cases = [
            case_of(TARGETS["twenty modes"], share=0.2, runs=80),
            case_of(TARGETS["two modes"], share=0.3, runs=80),
            case_of(TARGETS["predators 1"], share=0.1, runs=80),
        ]
    for case in cases:
        found = [_with_rungs(case, None)(seed).settings.ladder.rungs for seed in range(101, 104)]
        automatic = int(np.median(found))
        numbers = [max(2, round(factor * automatic)) for factor in factors]
        worths = [worth_of(case, _with_rungs(case, rungs), case.runs) for rungs in numbers]
        _print_row(case, f"{automatic}", worths, factors.index(1.0))
    print()


def _with_rungs(case: Case, rungs: int | None) -> Callable[[int], aptmc.Run]:
    """Runs with so many rungs, all else automatic; with all automatic if there is no number."""

    def run(seed: int) -> aptmc.Run:
        ladder = aptmc.Ladder.auto(coldest=case.coldest, rungs=rungs)
        return aptmc.sample(case.problem, budget=case.budget, ladder=ladder, on=case.on, seed=seed)

    return run


def _print_row(case: Case, automatic: str, worths: list[Worth], place: int) -> None:
    best = max(worth.by_error for worth in worths)
    cells = [case.name, str(case.runs), automatic, f"{best / worths[place].by_error:.2f}"]
    cells += [f"{worth.by_error:.0f} ({worth.by_autocorrelation:.0f})" for worth in worths]
    print("| " + " | ".join(cells) + " |", flush=True)


def main(*, quick: bool) -> None:
    """Print three tables."""
    print_swap_rates(quick=quick)
    print_deadlines(quick=quick)
    print_rungs(quick=quick)
