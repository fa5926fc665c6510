"""The tables at a glance: on each problem, this library beside the best of all others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scipy import stats

from experiments.comparison.cells import OURS, Cell
from experiments.comparison.table import NAMES, Row, count, least, rows, shown

LEVEL = 0.95  # of the ratio of two mean squared errors


def glance(cells: Sequence[Cell], kind: str) -> str:
    """A line for each problem."""
    seconds = "second of a processor" if kind == "evaluations" else "second"
    lines = [
        f"| problem | aptmc, a run | best other, a run | better | aptmc, a {seconds} "
        f"| best other, a {seconds} | better | aptmc, log Z off by | best other, log Z off by |",
        "| --- " * 9 + "|",
    ]
    for density, table in rows(cells):
        there = [each for each in table if shown(each) and each.runs]
        ours = [each for each in there if each.library.startswith(OURS)]
        others = [each for each in there if not each.library.startswith(OURS)]
        if not ours or not others:
            continue
        parts = [density.name]
        for worth in (least, per_second(kind)):
            mine, theirs = max(ours, key=worth), max(others, key=worth)
            parts += [words(mine, worth), words(theirs, worth), better(mine, theirs, worth)]
        parts += [nearest(ours), nearest(others)]
        lines.append("| " + " | ".join(parts) + " |")
    return "\n".join(lines)


def per_second(kind: str) -> Callable[[Row], float]:
    """Effective draws a second: of a processor, or of the time that was given."""

    def worth(each: Row) -> float:
        return least(each) / (each.sampling if kind == "evaluations" else each.elapsed[0])

    return worth


def words(each: Row, worth: Callable[[Row], float]) -> str:
    """How much, and by whom."""
    name = NAMES.get(each.library, each.library)
    way = name.removeprefix("aptmc").removeprefix(", ")
    return f"{count(worth(each))}{f' ({way})' if way else ''}"


def better(mine: Row, theirs: Row, worth: Callable[[Row], float]) -> str:
    """Who is, how many times; in brackets if so few runs do not tell two such errors apart."""
    ratio = worth(mine) / worth(theirs)
    if ratio >= 1.0:
        first, second, name = mine, theirs, "aptmc"
    else:
        first, second = theirs, mine
        name, ratio = NAMES.get(theirs.library, theirs.library), 1.0 / ratio
    chance = 0.5 * (1.0 + LEVEL)
    told = ratio > stats.f.ppf(chance, second.runs, first.runs)
    size = f"{ratio:.1f}" if ratio < 10.0 else count(ratio)
    return f"**{name}** {size}" if told else f"({name} {size})"


def nearest(table: Sequence[Row]) -> str:
    """Whose evidence is off by the least."""
    known = [each for each in table if each.evidence is not None]
    if not known:
        return "-"
    best = min(known, key=lambda each: each.evidence[0] if each.evidence else math.inf)
    assert best.evidence is not None
    name = NAMES.get(best.library, best.library)
    own = "" if best.library == OURS else f" ({name})"
    return f"{best.evidence[0]:.3f} ± {best.evidence[1]:.3f}{own}"
