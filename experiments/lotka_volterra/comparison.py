"""Many samplers with the same work, measured by the errors of their posterior means."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lotka_volterra.measures import Measured, measure
from experiments.lotka_volterra.precision import Precision
from experiments.lotka_volterra.samplers import PARAMETERS, Sampler
from experiments.lotka_volterra.truth import WARMUP_SHARE, Truth

WORK = 4e8  # events of a run on all processors together
BATCH = 20  # runs measured and kept together

CLASSICAL = "synchronous, rungs"  # parallel tempering as it is done elsewhere

Result = dict[str, Any]


def measure_all(chosen: Iterable[Sampler], path: Path, *, scale: float, runs: int) -> list[Result]:
    """Measure samplers, in batches of runs; each batch is a line of a file as soon as it is there.

    What the file holds already is not measured again: hours need not be spent in one go, and more
    runs can be asked for later.
    """
    known = {_identity(batch): batch for batch in _kept(path)}
    results = []
    for sampler in chosen:
        budget = scale * WORK / sampler.processors
        batches = []
        for first in range(1, runs + 1, BATCH):
            count = min(BATCH, runs + 1 - first)
            batch = known.get((sampler.name, sampler.processors, budget, first, count))
            if batch is None:
                measured = measure(
                    sampler, budget=budget, runs=count, seed=first, warmup_share=WARMUP_SHARE
                )
                batch = _summary(measured, first)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(batch) + "\n")
            batches.append(batch)
        results.append(_joined(batches))
    return results


def _summary(measured: Measured, first: int) -> Result:
    """The numbers that the table needs, small enough to keep."""
    settings, pools = measured.sampler.settings, measured.sampler.pools
    return {
        "name": measured.sampler.name,
        "processors": measured.sampler.processors,
        "chains": len(settings.tolerances) * pools.chains_per_rung,
        "budget": measured.budget,
        "first": first,
        "idle": [run.idle for run in measured.runs],
        "round_trips": [run.round_trips for run in measured.runs],
        "completions": [run.completions for run in measured.runs],
        "means": {
            name: [float(np.concatenate(run.series[name]).mean()) for run in measured.runs]
            for name in PARAMETERS
        },
        "ess": {name: [measured.ess(name)] for name in PARAMETERS},
    }


def _joined(batches: list[Result]) -> Result:
    """All runs of a sampler."""
    joined = dict(batches[0])
    for key in ("idle", "round_trips", "completions"):
        joined[key] = [value for batch in batches for value in batch[key]]
    for key in ("means", "ess"):
        joined[key] = {
            name: [value for batch in batches for value in batch[key][name]] for name in PARAMETERS
        }
    return joined


def _kept(path: Path) -> list[Result]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def _identity(batch: Result) -> tuple[str, int, float, int, int]:
    first, count = batch["first"], len(batch["completions"])
    return batch["name"], batch["processors"], batch["budget"], first, count


def table(results: list[Result], true: Truth) -> str:
    """Per 10^9 events: effective draws by squared, by typical error, and by autocorrelation.

    Gains are over the best classical sampler with as many processors, or over the first row.
    """
    lines = [
        "| processors | sampler | idle | moves of a chain | round trips | effective draws by mean "
        "squared error | gain | by median error | gain | by autocorrelation |",
        "| --- " * 10 + "|",
    ]
    precisions = [precision_of(result, true) for result in results]
    bases = {count: _base(results, precisions, count) for count in _processors(results)}
    caps = {result["name"].rpartition(", ")[2] for result in results}
    common = f", {caps.pop()}" if len(caps) == 1 else ""
    rows = zip(results, precisions, strict=True)
    for result, precision in sorted(rows, key=lambda row: int(row[0]["processors"])):
        events, base = precision.events, bases[result["processors"]]
        cells = [
            str(result["processors"]),
            result["name"].removesuffix(common),
            f"{np.mean(result['idle']):.0%}",
            f"{np.mean(result['completions']) / result['chains'] / events:.0f}",
            f"{np.mean(result['round_trips']) / events:.0f}",
            _slashed(precision.by_mean),
            precision.gain_over(base, "by_mean"),
            _slashed(precision.by_median),
            precision.gain_over(base, "by_median"),
            _slashed([np.mean(result["ess"][name]) for name in PARAMETERS]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _processors(results: list[Result]) -> set[int]:
    return {result["processors"] for result in results}


def _base(results: list[Result], precisions: list[Precision], processors: int) -> Precision:
    """What others with as many processors are compared with."""
    rivals = [
        (result["name"].startswith(CLASSICAL), precision)
        for result, precision in zip(results, precisions, strict=True)
        if result["processors"] == processors
    ]
    classical = [precision for is_classical, precision in rivals if is_classical]
    return max(classical, key=lambda one: one.typical("by_mean").value, default=rivals[0][1])


def precision_of(result: Result, true: Truth) -> Precision:
    """Of a sampler, from the errors of its runs."""
    means = np.array([result["means"][name] for name in PARAMETERS])
    centre, spread = (
        np.array([[values[name]] for name in PARAMETERS]) for values in (true.mean, true.sd)
    )
    return Precision((means - centre) / spread, result["budget"] * result["processors"] / 1e9)


def _slashed(values: Iterable[Any]) -> str:
    return " / ".join(f"{value:.0f}" for value in values)
