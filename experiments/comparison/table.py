"""The tables: how far off, how often right, and what an evaluation is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.comparison.cells import Cell
from experiments.comparison.problem import Density
from experiments.comparison.problems import PROBLEMS
from experiments.comparison.simulators import Simulator

NAMES = {
    "ours": "aptmc",
    "ours_draws": "aptmc, no evidence",
    "ours_gradient": "aptmc, gradients",
    "ours_simulator": "aptmc",
    "ours_adjusted": "aptmc, `run.adjusted()`",
    "ultranest": "UltraNest",
    "blackjax": "BlackJAX, tempered SMC",
    "numpyro": "NumPyro, NUTS",
    "nutpie": "nutpie, NUTS",
    "pyabc": "pyABC",
    "elfi": "ELFI",
    "sbi": "sbi, one round of NPE",
}
ON_TIME = 1.02
NOT_RUN = "not run"
FEWEST = 3  # runs, of which a mean squared error says something


class Row(NamedTuple):
    """One library on one problem, over all its runs."""

    library: str
    runs: int
    failed: str
    worth: tuple[float, ...]  # effective draws of a run, by quantity
    off: tuple[float, ...]  # standard errors of each quantity's mean over runs
    weights: tuple[float, float] | None  # root mean squared error of weights of modes; its error
    evidence: tuple[float, float, float] | None  # of the log evidence: the same, and mean error
    evaluations: float
    elapsed: tuple[float, float]  # median and latest
    in_time: int  # runs that returned within 2 per cent of their budget
    idle: float | None  # share of the budget in which processors did not simulate
    processor: float  # seconds of a run, those of all processors added up, start-up included
    sampling: float  # the same, from the call to the answer
    lines: int
    note: str


def row(density: Density | Simulator, library: str, found: Sequence[dict[str, Any]]) -> Row:
    """From what the runs have found."""
    answered = [each for each in found if "means" in each]
    complaints = [each["failed"] for each in found if "failed" in each]
    if not answered:
        nothing = (math.nan,) * len(density.words)
        said = complaints[-1] if complaints else NOT_RUN
        return Row(library, 0, said, nothing, nothing, None, None, 0, (0, 0), 0, None, 0, 0, 0, "")
    truth = density.truth
    errors = np.array([each["means"] for each in answered]) - np.array(truth.means)
    worth = np.array(truth.variances) / np.maximum((errors**2).mean(axis=0), 1e-300)
    spread = errors.std(axis=0, ddof=1) / math.sqrt(len(errors)) if len(errors) > 1 else np.inf
    off = np.divide(errors.mean(axis=0), spread, where=spread > 0, out=np.full(len(worth), np.inf))
    modes = None
    if density.modes and len(errors) > 1:
        modes = _root((errors[:, list(density.modes)] ** 2).mean(axis=1))
    logs = np.array([e["log_evidence"] for e in answered if e["log_evidence"] is not None])
    evidence = None
    if logs.size > 1:
        away = logs - truth.log_evidence
        evidence = *_root(away**2), float(away.mean())
    elapsed = [each["elapsed"] for each in answered]
    idle = [each["idle"] for each in answered if each.get("idle") is not None]
    return Row(
        library, len(answered), complaints[-1] if complaints else "", tuple(worth), tuple(off),
        modes, evidence, float(np.mean([each["evaluations"] for each in answered])),
        (float(np.median(elapsed)), max(elapsed)),
        sum(each <= ON_TIME * density.seconds for each in elapsed),
        float(np.mean(idle)) if idle else None,
        float(np.mean([each.get("whole", each["processor"]) for each in answered])),
        float(np.mean([each["processor"] for each in answered])),
        max(each["lines"] for each in answered), answered[0]["note"],
    )  # fmt: skip


def _root(squares: Any) -> tuple[float, float]:
    """The root of the mean of squared errors, and its standard error."""
    root = math.sqrt(squares.mean())
    return root, float(squares.std(ddof=1) / math.sqrt(len(squares)) / (2.0 * root or 1.0))


def rows(cells: Sequence[Cell]) -> Iterator[tuple[Density | Simulator, list[Row]]]:
    """By problem."""
    for name in dict.fromkeys(cell.problem for cell in cells):
        these = [cell for cell in cells if cell.problem == name]
        table = []
        for library in dict.fromkeys(cell.library for cell in these):
            found = [cell.found() for cell in these if cell.library == library]
            table.append(row(PROBLEMS[name], library, [each for each in found if each]))
        yield PROBLEMS[name], table


def least(each: Row) -> float:
    """What a run is worth for the quantity that is known worst."""
    return min(each.worth)


def markdown(cells: Sequence[Cell], kind: str) -> str:
    """What it took, and a table for each problem, the best first."""
    found = [(density, [each for each in table if shown(each)]) for density, table in rows(cells)]
    found = [(density, table) for density, table in found if table]
    parts = [f"{cost([each for _, table in found for each in table], kind)}\n"]
    for density, table in found:
        what = "evaluations" if isinstance(density, Density) else "simulations"
        amount = {
            "evaluations": f"{density.evaluations:,} {what}",
            "seconds": f"{density.seconds:g} s on {cells[0].workers} processors",
            "processor": f"{density.seconds:g} s of one processor",
        }[kind]
        words = f"effective draws, worst ({', '.join(density.words)})"
        parts.append(
            f"### {density.name[0].upper()}{density.name[1:]}\n\n{density.says}; {amount}. "
            f"{cost(table, kind)}\n\n"
            f"| library | runs | {words} | furthest off | weights of modes off by | log Z off by "
            f"| evaluations | per 1,000 | {_of_time(kind)} | lines |\n"
            f"{'| --- ' * (9 + len(_of_time(kind).split('|')))}|"
        )
        for each in sorted(table, key=lambda each: -least(each) if each.runs else math.inf):
            parts.append(_line(density, each, kind))
        parts.append("")
    return "\n".join(parts)


def shown(each: Row) -> bool:
    """Whether it has runs enough, or a reason why there are none."""
    return each.runs >= FEWEST or (not each.runs and each.failed != NOT_RUN)


def cost(table: Sequence[Row], kind: str) -> str:
    """What runs took, and what ten of each would: of processors, or of the clock if that counts."""
    of_clock = kind == "seconds"
    each = np.array([r.elapsed[0] if of_clock else r.processor for r in table]) / 3600.0
    runs = np.array([r.runs for r in table])
    what = "one after the other" if of_clock else "of one processor, start-up included"
    ten = 10.0 * float(each.sum())
    return (
        f"{runs.sum():,} runs, {_hours(float(each @ runs))} {what}; ten of each row: {_hours(ten)}."
    )


def _hours(hours: float) -> str:
    minutes = 60.0 * hours
    if minutes < 2.0:
        return f"{60.0 * minutes:.0f} seconds"
    return f"{minutes:.0f} minutes" if minutes < 60.0 else f"{hours:.1f} hours"


def _line(density: Density | Simulator, each: Row, kind: str) -> str:
    name = NAMES.get(each.library, each.library)
    if not each.runs:
        empty = "|  " * (6 + len(_of_time(kind).split("|")))
        return f"| {name} | 0 | {each.failed.replace('|', '/')} {empty}|"
    worth = f"**{count(least(each))}** ({', '.join(map(count, each.worth))})"
    modes = "-" if each.weights is None else f"{each.weights[0]:.3f} ± {each.weights[1]:.3f}"
    logs = "-" if each.evidence is None else "{:.3f} ± {:.3f} (mean {:+.3f})".format(*each.evidence)
    off = max(each.off, key=abs)
    cells = [
        name, str(each.runs), worth, f"{off:+.1f} se", modes, logs,
        f"{each.evaluations:,.0f}" if each.evaluations else "-",
        count(1000.0 * least(each) / each.evaluations) if each.evaluations else "-",
    ]  # fmt: skip
    if kind == "evaluations":
        cells += [f"{each.sampling:.1f}", count(least(each) / each.sampling)]
    else:
        cells += [f"{each.elapsed[0]:.1f}", count(least(each) / each.elapsed[0])]
        cells += [f"{each.elapsed[1]:.1f}", f"{each.in_time} of {each.runs}"]
    if kind == "seconds":
        cells.append("-" if each.idle is None else f"{each.idle:.0%}")
    return "| " + " | ".join([*cells, str(each.lines)]) + " |"


def _of_time(kind: str) -> str:
    """Heads of the columns that speak of it."""
    return {
        "evaluations": "processor seconds | per second",
        "seconds": "seconds | per second | latest | in time | idle",
        "processor": "processor seconds | per second | latest | in time",
    }[kind]


def count(value: float) -> str:
    """Of draws, with two digits or three."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"
