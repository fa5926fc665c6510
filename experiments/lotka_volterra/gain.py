"""What does the anytime schedule buy? A tolerance of 0.4, which the paper could not afford.

All samplers do the same work in all; processors differ in number. The measure is the mean squared
error of the posterior means over independent runs, beside the autocorrelation time, which flatters
whoever swaps the same states to and fro.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import aptmc
from aptmc.models import lotka_volterra as model
from experiments.lotka_volterra.measures import Measured, measure
from experiments.lotka_volterra.samplers import PARAMETERS, Sampler

RUNGS = 12
TOLERANCES = 0.4 * (3.0 / 0.4) ** (np.arange(RUNGS) / (RUNGS - 1))
# The paper's variances grow about as the square of the tolerance: 0.008 at 1.
SETTINGS = model.Settings(TOLERANCES, np.outer(0.008 * TOLERANCES**2, [1.0, 1e-2, 1.0]), upper=3.0)
WORK = 4e8  # events of a run on all processors together
MEDIAN_OF_NORMAL = 0.6745  # of the absolute value of a standard normal variable
RESAMPLED = 600

RULES: dict[str, type[aptmc.Rule]] = {
    "pairs": aptmc.Alternating,
    "rungs": aptmc.NeighbouringRungs,
    "rung parity": aptmc.RungParity,
    "reassignment": aptmc.Reassignment,
}


def sweep_time(processors: int, pools: Any, cap: int | None) -> float:
    """Time in which so many moves are completed as there are chains, from a pilot run."""
    pilot = Sampler("pilot", SETTINGS, processors, pools, aptmc.Anytime(1e5), cap=cap)
    run = pilot.run(2e7 / processors, seed=0)
    chains = RUNGS * pools.chains_per_rung
    return run.elapsed * chains / max(run.completions, 1)


def anytime(
    rule: str, processors: int, pools: Any, *, cap: int | None, stretch: float = 1.0
) -> Sampler:
    """An anytime sampler whose deadlines are `stretch` sweeps apart."""
    every = stretch * sweep_time(processors, pools, cap)
    kind = "partitioned" if isinstance(pools, aptmc.Partitioned) else "shared"
    name = f"anytime, {rule}, {kind}, {pools.chains_per_rung} per rung, {stretch:g} sweeps, "
    schedule = aptmc.Anytime(every, exchange=RULES[rule]())
    return Sampler(name + f"cap {cap}", SETTINGS, processors, pools, schedule, cap=cap)


def synchronous(rule: str, processors: int, pools: Any, *, cap: int | None) -> Sampler:
    """Classical parallel tempering: everybody waits for the slowest move."""
    name = f"synchronous, {rule}, {pools.chains_per_rung} per rung, cap {cap}"
    schedule = aptmc.Synchronous(exchange=RULES[rule]())
    return Sampler(name, SETTINGS, processors, pools, schedule, cap=cap)


def samplers(cap: int | None) -> list[Sampler]:
    """The comparison, the most telling first."""
    one, two, four, six = (aptmc.Shared(chains) for chains in (1, 2, 4, 6))
    return [
        synchronous("pairs", 4, one, cap=cap),
        anytime("pairs", 4, one, cap=cap),
        anytime("reassignment", 4, one, cap=cap),
        anytime("reassignment", 4, two, cap=cap),
        anytime("pairs", 4, two, cap=cap),
        anytime("rung parity", 4, two, cap=cap),
        anytime("reassignment", 4, four, cap=cap),
        anytime("pairs", 4, aptmc.Partitioned(1), cap=cap),
        anytime("reassignment", 4, two, stretch=0.25, cap=cap),
        anytime("reassignment", 4, two, stretch=4.0, cap=cap),
        anytime("pairs", 4, one, stretch=0.25, cap=cap),
        synchronous("pairs", 16, two, cap=cap),
        anytime("pairs", 16, two, cap=cap),
        anytime("reassignment", 16, two, cap=cap),
        synchronous("rungs", 16, two, cap=cap),
        anytime("rungs", 16, two, cap=cap),
        anytime("rungs", 16, aptmc.Partitioned(3), cap=cap),
        synchronous("pairs", 64, six, cap=cap),
        anytime("pairs", 64, six, cap=cap),
        anytime("reassignment", 64, six, cap=cap),
        synchronous("rungs", 64, six, cap=cap),
        anytime("rungs", 64, six, cap=cap),
        anytime("rungs", 64, aptmc.Partitioned(11), cap=cap),
    ]


def capped_samplers() -> list[Sampler]:
    """One sampler with races of different lengths, each with deadlines a sweep of its own apart."""
    caps = (1, 3, 10, 30, 100, 300, 1000, None)
    return [anytime("pairs", 4, aptmc.Shared(1), cap=cap) for cap in caps]


def summary(measured: Measured) -> dict[str, Any]:
    """The numbers that the table needs, small enough to keep."""
    means = {
        name: [float(np.concatenate(run.series[name]).mean()) for run in measured.runs]
        for name in PARAMETERS
    }
    squares = {
        name: [float((np.concatenate(run.series[name]) ** 2).mean()) for run in measured.runs]
        for name in PARAMETERS
    }
    return {
        "name": measured.sampler.name,
        "processors": measured.sampler.processors,
        "budget": measured.budget,
        "idle": measured.idle.value,
        "round_trips": [run.round_trips for run in measured.runs],
        "completions": [run.completions for run in measured.runs],
        "draws": [run.draws for run in measured.runs],
        "means": means,
        "squares": squares,
        "ess": {name: measured.ess(name) for name in PARAMETERS},
    }


def run_all(chosen: list[Sampler], path: Path, *, scale: float, runs: int) -> list[dict[str, Any]]:
    """Measure all samplers; each result is kept in a line of a file as soon as it is there.

    What the file holds already is not measured again: hours need not be spent in one go.
    """
    known = {_identity(result): result for result in _kept(path)}
    results = []
    for sampler in chosen:
        budget = scale * WORK / sampler.processors
        result = known.get((sampler.name, sampler.processors, budget, runs))
        if result is None:
            result = summary(measure(sampler, budget=budget, runs=runs))
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
        results.append(result)
    return results


def _kept(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def _identity(result: dict[str, Any]) -> tuple[str, int, float, int]:
    return result["name"], result["processors"], result["budget"], len(result["completions"])


def table(results: list[dict[str, Any]]) -> str:
    """Per 10^9 events: effective draws by squared, by typical error, and by autocorrelation."""
    truth = {name: _pooled(results, "means", name) for name in PARAMETERS}
    variance = {name: _pooled(results, "squares", name) - truth[name] ** 2 for name in PARAMETERS}
    lines = [
        "| processors | sampler | idle | moves of a chain | round trips | effective draws by mean "
        "squared error | gain | by median error | gain | by autocorrelation |",
        "| --- " * 10 + "|",
    ]
    base: dict[int, Precision] = {}
    caps = {result["name"].rpartition(", ")[2] for result in results}
    common = f", {caps.pop()}" if len(caps) == 1 else ""
    for result in sorted(results, key=lambda result: int(result["processors"])):
        events = result["budget"] * result["processors"] / 1e9
        # In posterior standard deviations: [parameter, run].
        errors = np.array(
            [
                (np.array(result["means"][name]) - truth[name]) / np.sqrt(variance[name])
                for name in PARAMETERS
            ]
        )
        precision = Precision(errors, events)
        first = base.setdefault(result["processors"], precision)
        cells = [
            str(result["processors"]),
            result["name"].removesuffix(common),
            f"{result['idle']:.0%}",
            f"{_moves_of_a_chain(result) / events:.0f}",
            f"{np.mean(result['round_trips']) / events:.0f}",
            _slashed(precision.by_mean),
            precision.gain_over(first, "by_mean"),
            _slashed(precision.by_median),
            precision.gain_over(first, "by_median"),
            _slashed([result["ess"][name] for name in PARAMETERS]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


class Precision:
    """How many independent draws would give posterior means as precise as those of some runs."""

    def __init__(self, errors: npt.NDArray[np.float64], events: float) -> None:
        self.errors, self.events = errors, events

    @property
    def by_mean(self) -> list[float]:
        """From the mean squared error, in which one run that went astray counts for much."""
        return list(1.0 / np.mean(self.errors**2, axis=1) / self.events)

    @property
    def by_median(self) -> list[float]:
        """From the median error: what most runs are like."""
        typical = np.median(np.abs(self.errors), axis=1) / MEDIAN_OF_NORMAL
        return list(1.0 / typical**2 / self.events)

    def gain_over(self, other: Precision, measure: str) -> str:
        """The ratio of the geometric means, with the middle two thirds of its distribution."""
        if other is self:
            return "1"
        rng = np.random.default_rng(1)
        ratios = np.sort(
            [
                _geometric(getattr(self._again(rng), measure))
                / _geometric(getattr(other._again(rng), measure))
                for _ in range(RESAMPLED)
            ]
        )
        low, high = ratios[RESAMPLED // 6], ratios[-RESAMPLED // 6]
        ratio = _geometric(getattr(self, measure)) / _geometric(getattr(other, measure))
        return f"{ratio:.2g} ({low:.2g} to {high:.2g})"

    def _again(self, rng: np.random.Generator) -> Precision:
        """The same number of runs, drawn from these."""
        runs = self.errors.shape[1]
        return Precision(self.errors[:, rng.integers(runs, size=runs)], self.events)


def _geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def _moves_of_a_chain(result: dict[str, Any]) -> float:
    chains = RUNGS * int(result["name"].split(" per rung")[0].split()[-1])
    return float(np.mean(result["completions"]) / chains)


def _slashed(values: list[float]) -> str:
    return " / ".join(f"{value:.0f}" for value in values)


def _pooled(results: list[dict[str, Any]], kind: str, name: str) -> float:
    """Over all samplers, each weighed by the precision of its mean."""
    values = [np.array(result[kind][name]) for result in results]
    weights = np.array([1.0 / (value.var(ddof=1) / value.size) for value in values])
    return float(np.average([value.mean() for value in values], weights=weights))
