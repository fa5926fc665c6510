"""Which parameters a figure shows, if there are more of them than it has room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.errors import InputError

if TYPE_CHECKING:
    from aptmc.result.run import Run

MOST_RANKED = 2000  # draws that correlations are computed of
MOST_COMPARED = 400  # parameters that correlations are computed of


def chosen(run: Run, names: Sequence[str] | None) -> tuple[str, ...]:
    """The parameters that were asked for, or all of them."""
    labels = run.settings.problem.labels
    if names is None:
        return tuple(labels)
    if isinstance(names, str):
        names = [names]
    for name in names:
        if name not in labels:
            raise InputError(f"there is no parameter {name!r}: there are {', '.join(labels)}")
    if not names:
        raise InputError("there is no parameter to draw: name at least one, or leave names out")
    return tuple(names)


def pooled(run: Run, name: str) -> Any:
    """All draws that have a parameter, one chain after the other."""
    values = np.concatenate(run.series(name))
    return values[np.isfinite(values)]


def slowest(run: Run, most: int) -> tuple[str, ...]:
    """The parameters that have the fewest effective draws, in the order of the problem."""
    labels = run.settings.problem.labels
    if len(labels) <= most:
        return tuple(labels)
    summary = run.summary()
    worst = set(
        sorted(labels, key=lambda label: np.nan_to_num(summary[label].ess, nan=np.inf))[:most]
    )
    return tuple(label for label in labels if label in worst)


def strongest_pairs(run: Run, most: int) -> tuple[tuple[str, ...], float]:
    """The parameters with the strongest correlations, in the order of the problem, and how strong
    the strongest is between two of which one is left out.

    Correlations are those of ranks, so that what is far out decides nothing.
    """
    labels = run.settings.problem.labels
    if len(labels) <= most:
        return tuple(labels), 0.0
    from scipy.stats import rankdata

    considered = labels[:MOST_COMPARED]
    columns = [np.concatenate(run.series(label)) for label in considered]
    step = max(columns[0].size // MOST_RANKED, 1)
    values = np.column_stack(columns)[::step]
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) < 3:
        return tuple(labels[:most]), 0.0
    with np.errstate(all="ignore"):  # a constant has no correlation
        strength = np.abs(np.nan_to_num(np.corrcoef(rankdata(values, axis=0).T)))
    np.fill_diagonal(strength, 0.0)
    taken: list[int] = []
    for place in np.argsort(-strength, axis=None):
        for one in divmod(int(place), len(considered)):
            if one not in taken and len(taken) < most:
                taken.append(one)
        if len(taken) == most:
            break
    rest = strength.copy()
    rest[np.ix_(taken, taken)] = 0.0
    return tuple(considered[one] for one in sorted(taken)), float(rest.max())
