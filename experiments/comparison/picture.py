"""The picture: what a run is worth, for every problem and every library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.comparison.cells import OURS, Cell
from experiments.comparison.table import NAMES, Row, least, rows, shown
from experiments.figures import BLUE, DARK, GREEN, LIGHT, ORANGE, VERMILLION, style

# Of everybody else, always the same; no two alike.
PINK, SKY, BROWN, GREY, PURPLE = "#CC79A7", "#56B4E9", "#8C564B", "#7F7F7F", "#6A51A3"
LOOKS = {
    "emcee": ("s", VERMILLION), "zeus": ("D", GREEN), "reddemcee": ("^", ORANGE),
    "dynesty": ("P", SKY), "nautilus": ("X", PURPLE), "ultranest": ("*", BROWN),
    "blackjax": ("v", PINK), "numpyro": ("p", GREEN), "nutpie": (">", PURPLE),
    "pyabc": ("X", GREY), "elfi": ("v", BROWN),
    "sbi": ("h", ORANGE),
}  # fmt: skip
OPEN = {"ours_gradient": "D", "ours_adjusted": "s", "ours_draws": "h"}  # ways to use ours
LEFT = 0.1  # draws: whoever has fewer stands at the edge


def draw(cells: Sequence[Cell], path: Path) -> None:
    """A row for each problem, a mark for each library, further to the right is better."""
    table = [(density, [each for each in found if shown(each)]) for density, found in rows(cells)]
    table = [(density, found) for density, found in table if found]
    with style() as pyplot:
        figure, panel = pyplot.subplots(
            figsize=(7.2, 0.36 * len(table) + 1.5), layout="constrained"
        )
        for place, (_, found) in enumerate(table):
            panel.axhline(-place, color=LIGHT, linewidth=0.6, zorder=0)
            for each in found:
                _mark(panel, -place, each)
        panel.set_yticks(
            [-place for place in range(len(table))], [density.name for density, _ in table]
        )
        panel.set_xscale("log")
        panel.set_xlabel("effective draws of a run, of the quantity that it knows worst")
        panel.tick_params(axis="y", length=0)
        panel.spines[["left", "right", "top"]].set_visible(False)
        handles, labels = panel.get_legend_handles_labels()
        by_name = dict(zip(labels, handles, strict=True))
        names = sorted(by_name, key=lambda name: not name.startswith("aptmc"))
        figure.legend(
            [by_name[name] for name in names], names, loc="outside lower center", ncols=5,
            frameon=False, fontsize=7,
        )  # fmt: skip
        figure.savefig(path, dpi=160)
        pyplot.close(figure)


def _mark(panel: Any, height: float, each: Row) -> None:
    if not each.runs or not math.isfinite(least(each)):
        return
    ours = each.library.startswith(OURS)
    looks: dict[str, Any] = {"marker": "o", "s": 58, "color": BLUE, "zorder": 4}
    if not ours:
        marker, colour = LOOKS[each.library]
        looks = {"marker": marker, "s": 30, "zorder": 3, "color": colour}
    if each.library in OPEN:
        looks |= {"facecolors": "white", "edgecolors": BLUE, "linewidths": 1.4}
        looks["marker"] = OPEN[each.library]
        del looks["color"]
    name = NAMES.get(each.library, each.library).replace("`", "")
    panel.scatter([max(least(each), LEFT)], [height], label=name, **looks)
    panel.tick_params(colors=DARK)
