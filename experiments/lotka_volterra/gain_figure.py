"""What the anytime schedule buys, in one picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from experiments.figures import BLUE, DARK, GREEN, ORANGE, VERMILLION, style
from experiments.lotka_volterra.comparison import Result, precision_of
from experiments.lotka_volterra.gain import BY_DEFAULT
from experiments.lotka_volterra.precision import Range
from experiments.lotka_volterra.truth import Truth


class Line(NamedTuple):
    """Samplers that differ in the number of processors alone."""

    label: str
    parts: tuple[str, ...]  # of their names
    colour: str
    marker: str


LINES = (
    Line("synchronous, pairs", ("synchronous, rungs",), DARK, "s"),
    Line("synchronous, reassignment", ("synchronous, reassignment",), ORANGE, "v"),
    Line("anytime, a pool for each processor, pairs", ("rungs, partitioned",), GREEN, "^"),
    Line("anytime, one queue, pairs", ("rungs, shared", ", 1 sweeps"), BLUE, "o"),
    Line(
        "anytime, one queue, reassignment (default)",
        ("reassignment, shared", f", {BY_DEFAULT:g} sweeps"),
        VERMILLION,
        "D",
    ),
)


class Panel(NamedTuple):
    """Results of one setting."""

    title: str
    results: list[Result]
    true: Truth


def draw_gains(panels: list[Panel], path: Path) -> None:
    """Effective draws of equal work, the more processors share it."""
    with style() as pyplot:
        figure, axes = pyplot.subplots(
            1, len(panels), figsize=(2.3 * len(panels), 2.9), sharey=True, squeeze=False,
            layout="constrained",
        )  # fmt: skip
        for axis, panel in zip(axes[0], panels, strict=True):
            for place, line in enumerate(LINES):
                _draw_line(axis, panel, line, shift=1.0 + 0.07 * (place - 2))
            axis.set(xscale="log", yscale="log", title=panel.title, xlabel="processors")
            axis.set_xticks([4, 16, 64], ["4", "16", "64"])
            axis.minorticks_off()
        axes[0, 0].set_ylabel("effective draws per 10⁹ events")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(path)
        pyplot.close(figure)


def _draw_line(axis: Any, panel: Panel, line: Line, *, shift: float) -> None:
    best: dict[int, Range] = {}  # by processors: of samplers with few and with many chains
    for result in panel.results:
        if all(part in result["name"] for part in line.parts):
            found, count = precision_of(result, panel.true).typical("by_mean"), result["processors"]
            best[count] = max(found, best.get(count, found), key=lambda one: one.value)
    ranges = best.values()
    middle = [one.value for one in ranges]
    below = [one.value - one.low for one in ranges]
    above = [one.high - one.value for one in ranges]
    # Side by side, so that ranges can be told apart.
    axis.errorbar(
        [count * shift for count in best], middle, yerr=[below, above], label=line.label,
        color=line.colour, marker=line.marker, markersize=4, linewidth=1.2, capsize=0,
    )  # fmt: skip
