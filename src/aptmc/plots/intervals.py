"""Vectors: an interval for each of their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.errors import InputError
from aptmc.plots.chosen import pooled
from aptmc.plots.style import BLUE, DARK, LIGHT, SKY, WIDTH, checked_width, figure, of_runs
from aptmc.problem.prior_shape import PriorShape, prior_shapes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.problem.variables import Variable
    from aptmc.result.run import Run

MOST_PLACES = 60  # of one vector; more would be too thin
MOST_NAMES = 30  # on an axis as wide as a page


def vectors(run: Run) -> list[Variable]:
    """The parameters that are more than one number."""
    return [one for one in run.settings.problem.variables if one.size > 1]


@of_runs
def intervals(
    run: Run, *, names: Sequence[str] | None = None, prior: bool = True, width: float | None = None
) -> Figure:
    """Each vector's places side by side: 50 % and 90 % intervals, the median, and grey the prior.

    :param names: of the vectors that are wanted; by default all
    :param prior: whether to draw the prior's 90 % interval, if it is known
    :param width: of the figure, in inches: 3.4 is one column of a paper, 7 is two
    """
    there = {one.name: one for one in vectors(run)}
    for name in names or ():
        if name not in there:
            raise InputError(f"there is no vector {name!r}: there are {', '.join(there) or 'none'}")
    if not there:
        raise InputError("no parameter is a vector: use marginals")
    wanted = list(there.values()) if names is None else [there[name] for name in names]
    shapes = prior_shapes(run.settings.problem) if prior else {}
    broad = checked_width(width, WIDTH)
    with figure(0.3 + 2.0 * len(wanted), broad) as new:
        axes = new.subplots(len(wanted), 1, squeeze=False)[:, 0]
        for panel, variable in zip(axes, wanted, strict=True):
            _draw(panel, run, variable, shapes)
            _name_places(panel, variable, broad)
        if any(label in shapes for one in wanted for label in one.labels):
            new.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
    return new


def _draw(panel: Any, run: Run, variable: Variable, shapes: Mapping[str, PriorShape]) -> None:
    labels = variable.labels[:MOST_PLACES]
    thick = float(np.clip(140.0 / len(labels), 1.5, 6.0))
    is_first = True
    for place, label in enumerate(labels):
        values = pooled(run, label)
        if values.size == 0:
            continue
        low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])

        def said(words: str, is_first: bool = is_first) -> str:
            return words if is_first else ""

        if label in shapes:
            ends = [shapes[label].quantile(share) for share in (0.05, 0.95)]
            panel.fill_between(
                [place - 0.4, place + 0.4], *ends, color=LIGHT, alpha=0.3, linewidth=0,
                label=said("prior, 90 %"),
            )  # fmt: skip
        panel.plot(
            [place] * 2, [low, high], color=SKY, linewidth=0.45 * thick, solid_capstyle="butt",
            label=said("90 %"),
        )  # fmt: skip
        panel.plot(
            [place] * 2, [first, third], color=BLUE, linewidth=thick, solid_capstyle="butt",
            label=said("50 %"),
        )  # fmt: skip
        panel.plot(
            [place], [middle], "o", color="white", markeredgecolor=DARK, markeredgewidth=0.5,
            markersize=max(0.6 * thick, 2.0),
        )  # fmt: skip
        is_first = False
    panel.set_xlim(-0.7, len(labels) - 0.3)
    left_out = len(variable.labels) - len(labels)
    panel.set_title(f"the first {len(labels)} of {len(variable.labels)}" if left_out else "")
    panel.set_ylabel(variable.name)


def _name_places(panel: Any, variable: Variable, width: float) -> None:
    labels = variable.labels[:MOST_PLACES]
    names = [label[len(variable.name) + 1 : -1] for label in labels]
    longest = max(map(len, names))
    most = max(int(MOST_NAMES * width / WIDTH), 2)
    step = -(-len(names) // most)
    panel.set_xticks(range(0, len(names), step), names[::step])
    if longest * len(names[::step]) > 16.0 * width:
        panel.tick_params(axis="x", rotation=60)
    is_named = any(variable.coords)
    panel.set_xlabel(", ".join(variable.dims) if is_named else f"place in {variable.name}")
