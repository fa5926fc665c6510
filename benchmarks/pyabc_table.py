"""The tables of `benchmarks.pyabc_budgets`: each row is a case on some workers, by one library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

ON_TIME = 1.02  # budgets


def effective_draws(means: Any, truth: tuple[Any, Any]) -> float:
    """As many independent draws from the posterior would have the same mean squared error.

    It is relative to each quantity's variance, and the mean of all quantities. What a tolerance
    leaves of bias counts like noise.

    :param means: estimates, one row for each run

    >>> rng = np.random.default_rng(1)
    >>> means = rng.normal(3.0, 2.0 / math.sqrt(50.0), (10_000, 1))
    >>> round(effective_draws(means, (np.array([3.0]), np.array([4.0]))))
    50
    """
    return float(1.0 / relative_errors(means, truth).mean())


def relative_errors(means: Any, truth: tuple[Any, Any]) -> Any:
    """Of each quantity: the mean squared error of its mean, in its variance."""
    expected, variances = truth
    return ((np.asarray(means) - expected) ** 2).mean(axis=0) / variances


def middle(values: Iterable[float | None], form: str = ".2f") -> str:
    """The median; None stands for never."""
    known = [math.inf if value is None else value for value in values]
    median = float(np.median(known)) if known else math.nan
    return f"{median:{form}}" if math.isfinite(median) else "never" if known else ""


def moment_of(found: dict[str, Any], goal: float) -> float | None:
    """When a tolerance was reached first."""
    return next((at for level, at in found.get("reached", []) if level <= goal), None)


def row(cell: Any, found: Sequence[dict[str, Any]]) -> str:
    """One row: medians over the runs, but effective draws of all of them together."""
    case = cell.case
    # Who has no draws that count has no means, or they are no numbers.
    answered = [each for each in found if np.isfinite(each.get("means", np.nan)).all()]
    draws = ""
    if answered:
        means = [each["means"] for each in answered]
        each = 1.0 / relative_errors(means, case.truth)
        words = ", ".join(f"{draws:.3g}" for draws in each)
        draws = f"{effective_draws(means, case.truth):.3g} ({words})"
    begin = f"| {cell.library} | {len(answered)} of {len(found)} "
    tolerance = f"{middle([each.get('tolerance') for each in found], '.3g')}"
    if cell.simulations:
        return f"{begin}| {tolerance} | {draws} |"
    idle = middle([1.0 - each["busy"] for each in found if "busy" in each])
    first = middle([moment_of(each, case.goal) for each in found], ".1f")
    latest = [each["returned"] for each in found if "returned" in each]
    in_time = sum(seconds <= ON_TIME * cell.seconds for seconds in latest)
    return (
        f"{begin}| {tolerance} | {draws} | {idle} | {first} | {in_time} of {len(found)}, "
        f"latest {max(latest, default=math.nan):.1f} |"
    )


def print_table(results: Sequence[tuple[Any, dict[str, Any]]]) -> None:
    """One table for each case, number of workers and kind of budget."""

    def which(result: tuple[Any, dict[str, Any]]) -> tuple[str, bool, int]:
        return result[0].case.name, result[0].simulations > 0, result[0].workers

    for (name, in_simulations, workers), group in groupby(sorted(results, key=which), which):
        some = list(group)
        case = some[0][0].case
        if in_simulations:
            print(f"### {name}: {case.simulations:,} simulations\n")
            print("| library | runs | tolerance | effective draws |\n| --- | --- | --- | --- |")
        else:
            print(f"### {name} ({case.says}): {workers} workers, {case.seconds[workers]:g} s\n")
            print(
                "| library | runs | tolerance | effective draws | idle share "
                f"| first answer at {case.goal:g}, s | returned in time |"
            )
            print("| --- " * 7 + "|")
        for _, mine in groupby(sorted(some, key=lambda each: each[0].library), lambda e: e[0][1]):
            each = list(mine)
            print(row(each[0][0], [found for _, found in each]))
        print()
