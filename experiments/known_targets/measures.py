"""Independent runs of a target, tempered with defaults and as a plain random walk."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import aptmc
from experiments.estimates import Estimate
from experiments.known_targets.quantities import (
    Floats,
    Quantity,
    Sums,
    effective_draws,
    found,
)
from experiments.known_targets.target import Target
from experiments.parallel import in_parallel


class RunMeasure(NamedTuple):
    """What one run says."""

    sums: list[Sums]  # of each quantity
    rungs: int
    swap_rates: Floats
    round_trips: int


class Measured(NamedTuple):
    """Independent runs of one target."""

    target: Target
    budget: float
    tempered: list[RunMeasure]
    walks: list[RunMeasure] | None  # none if a random walk finds no start

    def estimate(self, place: int, *, tempered: bool = True) -> Estimate:
        """Of a quantity."""
        return found(self.target.quantities[place], self._sums(place, tempered=tempered))

    def off_by(self, place: int, *, tempered: bool = True) -> float:
        """Standard errors from the truth."""
        return self.target.quantities[place].off_by(self.estimate(place, tempered=tempered))

    def effective_draws(self, place: int, *, tempered: bool = True) -> float:
        """Of a run, by the mean squared error."""
        quantity, variance = self.target.quantities[place], self._variance(place)
        return effective_draws(quantity, self._sums(place, tempered=tempered), variance)

    def _variance(self, place: int) -> float:
        """Of the function under the target: as the reference has it, or else the tempered runs."""
        known = self.target.quantities[place].variance
        if known is not None:
            return known
        runs = self._sums(place, tempered=True)
        mean = float(np.mean([run.mean for run in runs]))
        return float(np.mean([run.square for run in runs])) - mean**2

    def _sums(self, place: int, *, tempered: bool) -> list[Sums]:
        runs = self.tempered if tempered else self.walks or []
        return [run.sums[place] for run in runs]


def measure_run(run: aptmc.Run, quantities: tuple[Quantity, ...]) -> RunMeasure:
    """Read off a run what is kept of it."""
    dimension = run.settings.problem.dimension
    theta = np.concatenate([draws.state[:, :dimension] for draws in run.chains()])
    sums = [Sums.over(quantity.of(theta)) for quantity in quantities]
    return RunMeasure(sums, run.settings.ladder.rungs, run.swap_rates.neighbours, run.round_trips)


def measure(
    target: Target, *, scale: float = 1.0, runs: int, seed: int = 1, walks: bool = True
) -> Measured:
    """Independent runs, tempered and (if `walks`) as random walks, at equal work."""
    budget, quantities = scale * target.budget, target.quantities
    tempered = in_parallel(
        lambda seed: measure_run(target.sample(budget, seed), quantities), range(seed, seed + runs)
    )
    plain = walked(target, scale=scale, runs=runs, seed=seed) if walks else None
    return Measured(target, budget, tempered, plain)


def walked(
    target: Target, *, scale: float = 1.0, runs: int, seed: int = 1
) -> list[RunMeasure] | None:
    """Independent runs as random walks; none if these find no start."""
    budget, quantities = scale * target.budget, target.quantities
    try:
        return in_parallel(
            lambda seed: measure_run(target.random_walk(budget, seed), quantities),
            range(seed, seed + runs),
        )
    except aptmc.AptmcError:
        return None


def off_by_table(results: list[Measured]) -> str:
    """Estimates, how far off they are, and what a run is worth, in Markdown."""
    lines = [
        "| target | quantity | truth | automatic | off by | effective draws of a run "
        "| random walk | off by | effective draws |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for measured in results:
        numbered = []  # one of many alike: the worst of them stands for all
        for place, quantity in enumerate(measured.target.quantities):
            if quantity.name.startswith("mode "):
                numbered.append(place)
                continue
            cells = [measured.target.name, quantity.name, _number(quantity.truth)]
            for tempered in (True, False):
                if not tempered and measured.walks is None:
                    cells += ["finds no start", "-", "-"]
                    continue
                value = measured.estimate(place, tempered=tempered)
                cells += [
                    f"{_number(value.value)} ± {value.error:.2g}",
                    f"{measured.off_by(place, tempered=tempered):.1f} se",
                    _count(measured.effective_draws(place, tempered=tempered)),
                ]
            lines.append("| " + " | ".join(cells) + " |")
        if numbered:
            cells = [measured.target.name, f"worst of {len(numbered)} modes", "-"]
            for tempered in (True, False):
                off = max(measured.off_by(place, tempered=tempered) for place in numbered)
                worth = min(
                    measured.effective_draws(place, tempered=tempered) for place in numbered
                )
                cells += ["-", f"{off:.1f} se", _count(worth)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ladder_table(results: list[Measured]) -> str:
    """What the warm-up found, in Markdown."""
    lines = [
        "| target | parameters | runs | work of a run | rungs | swap rates | round trips |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for measured in results:
        runs = measured.tempered
        rungs = sorted({run.rungs for run in runs})
        rates = np.concatenate([run.swap_rates for run in runs])
        low, middle, high = np.nanquantile(rates, [0.0, 0.5, 1.0])
        cells = [
            measured.target.name,
            str(measured.target.problem.dimension),
            str(len(runs)),
            f"{measured.budget * 4:,.0f}",
            f"{rungs[0]}" if len(rungs) == 1 else f"{rungs[0]} to {rungs[-1]}",
            f"{middle:.2f} ({low:.2f} to {high:.2f})",
            f"{np.mean([run.round_trips for run in runs]):,.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _number(value: float) -> str:
    digits = 4 if value == 0.0 else max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 10.0 else f"{value:.1f}"
