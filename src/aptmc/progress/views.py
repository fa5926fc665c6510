"""Views: in a terminal, in a notebook, or as lines in a log."""

from __future__ import annotations

import math
import os
import sys
from abc import ABC, abstractmethod
from html import escape
from typing import TYPE_CHECKING, Any, TextIO, final

import numpy as np

from aptmc.progress.live import LiveState

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

REFRESH = 0.25  # seconds, where one looks at it all the time
LINE_EVERY = 10.0  # seconds, in a log
LONG = 60.0  # a move under way for so many seconds is marked
QUIET = 10.0  # a run that tells something every second is marked when it has not for so long
MOST_WORKERS = 16
BARS = " ▁▂▃▄▅▆▇█"


class View(ABC):
    """Shows glances at a run."""

    period: float

    def begin(self, budget: float, unit: str) -> None:  # noqa: B027 (most need not do anything)
        """The run was called; it takes a while until there is something to show."""

    @abstractmethod
    def show(self, live: LiveState) -> None:
        """Show the run as it is now."""

    @abstractmethod
    def close(self, last_words: str) -> None:
        """The run is over."""


def choose_view(wanted: bool | None, stream: TextIO | None = None) -> View | None:
    """The view that suits where the output goes; None if nobody wants one."""
    if wanted is False:
        return None
    stream = sys.stderr if stream is None else stream
    if stream is None:  # a program without a console
        return None
    if _in_notebook():
        return NotebookView()
    if stream.isatty():
        return TerminalView(stream)
    return LogView(stream)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


@final
class LogView(View):
    """One line every few seconds."""

    period = LINE_EVERY

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._has_spoken = False

    def show(self, live: LiveState) -> None:
        """Write a line."""
        self._has_spoken = True
        print(one_line(live), file=self._stream, flush=True)

    def close(self, last_words: str) -> None:
        """Say how it ended, if anything was said before."""
        if self._has_spoken:
            print(f"aptmc: {last_words}", file=self._stream, flush=True)


@final
class TerminalView(View):
    """A picture that changes, below what was printed before."""

    period = REFRESH

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console: Console = Console(file=stream)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._live.start()
        self._shown: list[int] = []  # the lengths of the lines that are on the screen

    def begin(self, budget: float, unit: str) -> None:
        """Say that it starts."""
        self._draw(f"starting up; the budget is {duration_text(budget, unit)}")

    def show(self, live: LiveState) -> None:
        """Draw it anew."""
        self._draw(picture(live))

    def close(self, last_words: str) -> None:
        """Leave one line."""
        self._forget_what_was_wrapped()
        self._live.stop()
        self._console.print(f"aptmc: {last_words}", highlight=False, markup=False)

    def _draw(self, what: RenderableType) -> None:
        from rich.segment import Segment

        self._forget_what_was_wrapped()
        lines = self._console.render_lines(what, pad=False)
        self._shown = [Segment.get_line_length(line) for line in lines]
        self._live.update(what, refresh=True)

    def _forget_what_was_wrapped(self) -> None:
        """If the window got so narrow that lines were wrapped, remove them all.

        rich goes back by as many rows as it has printed lines. Terminals that wrap lines anew when
        their size changes have more rows by then, whose rest would stay on the screen for good.
        """
        width = max(self._console.width, 1)
        rows = sum(max(-(-length // width), 1) for length in self._shown)
        if rows == len(self._shown) or not _wraps_anew():
            return
        self._console.file.write(f"\r\x1b[{rows - 1}A\x1b[J")
        self._live._live_render._shape = None  # nothing is there to go back over
        self._shown = []


def _wraps_anew() -> bool:
    """Most terminals do; these cut lines off, and below the cursor is somebody else's text."""
    return "XTERM_VERSION" not in os.environ and os.environ.get("TERM") != "linux"


@final
class NotebookView(View):
    """The same picture in the output of a cell."""

    period = 1.0

    def __init__(self) -> None:
        from IPython.display import display

        self._handle: Any = display(display_id=True)

    def begin(self, budget: float, unit: str) -> None:
        """Say that it starts."""
        self._say(f"starting up; the budget is {duration_text(budget, unit)}")

    def show(self, live: LiveState) -> None:
        """Draw it anew."""
        from io import StringIO

        from rich.console import Console

        # Not forced, rich would see the notebook and add an output of its own to the cell.
        console = Console(record=True, width=90, file=StringIO(), force_jupyter=False)
        console.print(picture(live))
        self._put(console.export_html(inline_styles=True, code_format="<pre>{code}</pre>"))

    def close(self, last_words: str) -> None:
        """Leave one line."""
        self._say(f"aptmc: {last_words}")

    def _say(self, words: str) -> None:
        self._put(f"<pre>{escape(words)}</pre>")

    def _put(self, html: str) -> None:
        from IPython.display import HTML

        self._handle.update(HTML(html))


def one_line(live: LiveState) -> str:
    """A run in one line."""
    phase = "" if live.round is None else f"warm-up {live.round}/{live.rounds}, "
    parts = [
        f"aptmc: {phase}{duration_text(live.elapsed, live.unit)} of "
        f"{duration_text(live.budget, live.unit)}",
        f"{live.draws:,} draws",
    ]
    if not math.isnan(live.effective):
        parts.append(f"{live.effective:,.0f} effective")
    parts.append(f"{live.moves:,} moves")
    if not math.isnan(live.utilisation):
        parts.append(f"{live.utilisation:.0%} busy")
    stuck = [worker for worker in live.workers if worker.seconds > LONG]
    parts += [f"processor {one.processor + 1} at one move for {one.seconds:.0f} s" for one in stuck]
    if live.silence > QUIET:
        parts.append(f"no news for {duration_text(live.silence)}")
    return ", ".join(parts)


def picture(live: LiveState) -> RenderableType:
    """A run as a picture for a terminal."""
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
    lines: list[RenderableType] = [head, Text(_numbers(live), no_wrap=True, overflow="ellipsis")]
    if len(live.levels) > 1:
        lines.append(Text(ladder_text(live), no_wrap=True, overflow="ellipsis"))
    if live.workers:
        lines.append(_workers(live))
    if live.silence > QUIET:
        words = f"no news from the run for {duration_text(live.silence)}"
        lines.append(Text(words, style="bold red"))
    return Group(*lines)


def _numbers(live: LiveState) -> str:
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
    ends = [_level(live.levels[0]), _level(live.levels[-1])]
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


def duration_text(seconds: float, unit: str = "s") -> str:
    """A time as people say it.

    >>> duration_text(42.3), duration_text(312.0), duration_text(7500.0), duration_text(3e7, "unit")
    ('42 s', '5 min 12 s', '2 h 05 min', '3e+07 units')
    """
    if unit != "s":
        return f"{seconds:.4g} units"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _level(level: float) -> str:
    return "∞" if math.isinf(level) else f"{level:.3g}"
