"""A run as a picture: how far it is, what it has found, what each processor is doing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from aptmc.progress.live import LiveState
from aptmc.progress.words import duration_text, level_text

if TYPE_CHECKING:
    from rich.console import RenderableType

LONG = 60.0  # a move under way for so many seconds is marked
QUIET = 10.0  # a run that tells something every second is marked when it has not for so long
MOST_WORKERS = 16
BARS = " ▁▂▃▄▅▆▇█"


def picture(live: LiveState) -> RenderableType:
    """What terminals and notebooks show of a run at one moment."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    head = Table.grid(padding=(0, 1), expand=True)
    head.add_column(ratio=1)
    head.add_column(justify="right")
    times = f"{duration_text(live.elapsed, live.unit)} / "
    times += duration_text(live.budget, live.unit)
    head.add_row(ProgressBar(total=1.0, completed=live.share), times)
    lines: list[RenderableType] = [Text(live.reached)] if live.reached else []
    lines += [head, Text(_numbers(live), no_wrap=True, overflow="ellipsis")]
    if len(live.levels) > 1:
        lines.append(Text(ladder_text(live), no_wrap=True, overflow="ellipsis"))
    if live.workers:
        lines.append(_workers(live))
    if live.silence > QUIET:
        words = f"no news from the run for {duration_text(live.silence)}"
        lines.append(Text(words, style="bold red"))
    return Group(*lines)


def _numbers(live: LiveState) -> str:
    if live.doing:
        return live.doing
    parts = []
    if live.round is not None:
        parts.append(f"warm-up, round {live.round} of {live.rounds}")
    else:
        parts.append(f"{live.draws:,} draws of the coldest rung")
        if not math.isnan(live.effective):
            rate = live.effective / max(live.elapsed, 1e-9)
            parts.append(f"{live.effective:,.0f} effective ({rate:.3g} per {live.unit})")
    parts.append(f"{live.moves:,} moves")
    if not math.isnan(live.utilisation):
        parts.append(f"{live.utilisation:.0%} busy")
    return " · ".join(parts)


def ladder_text(live: LiveState) -> str:
    """The swap rates of neighbours as a row of little bars, coldest first."""
    ends = [level_text(live.levels[0]), level_text(live.levels[-1])]
    bars = "".join(
        "·" if math.isnan(rate) else BARS[int(np.clip(rate, 0, 1) * (len(BARS) - 1) + 0.5)]
        for rate in live.swap_rates.tolist()
    )
    rates = live.swap_rates[np.isfinite(live.swap_rates)]
    scope = f"  swap rates {rates.min():.2f} to {rates.max():.2f}" if rates.size else ""
    return f"{ends[0]} ▕{bars}▏ {ends[1]}{scope}"


def _workers(live: LiveState) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column(no_wrap=True)
    for worker in live.workers[:MOST_WORKERS]:
        if worker.chain is None:
            doing = Text("idle", style="dim")
        else:
            style = "bold red" if worker.seconds > LONG else ""
            doing = Text(f"rung {worker.rung}, for {worker.seconds:.1f} s", style=style)
        name = Text(f"processor {worker.processor + 1}", style="dim")
        table.add_row(name, doing, Text("" if worker.process is None else f"pid {worker.process}"))
    if len(live.workers) > MOST_WORKERS:
        table.add_row(Text(f"… and {len(live.workers) - MOST_WORKERS} more", style="dim"))
    return table
