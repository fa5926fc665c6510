"""A run as a picture in a terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO, final

from typing_extensions import override

from aptmc.progress.live import LiveState
from aptmc.progress.picture import picture
from aptmc.progress.view import View
from aptmc.progress.words import duration_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

REFRESH = 0.25  # seconds


@final
class TerminalView(View):
    """A picture that changes, below what was printed before."""

    period = REFRESH
    ticks = True

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console: Console = Console(file=stream)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._live.start()
        self._shown: list[int] = []  # the lengths of the lines that rich has put on the screen

    @override
    def begin(self, budget: float, unit: str) -> None:
        self._draw(f"starting up; the budget is {duration_text(budget, unit)}")

    @override
    def tell(self, words: str, *, is_news: bool) -> None:
        from rich.text import Text

        self._draw(Text(words, no_wrap=True, overflow="ellipsis"))

    @override
    def show(self, live: LiveState) -> None:
        self._draw(picture(live))

    @override
    def close(self, last_words: str) -> None:
        """Leave one line in place of the picture."""
        self._forget_what_was_wrapped()
        self._live.stop()
        if last_words:
            self._console.print(f"aptmc: {last_words}", highlight=False, markup=False)

    def _draw(self, what: RenderableType) -> None:
        from rich.segment import Segment

        self._forget_what_was_wrapped()
        # What does not fit on the screen is not shown.
        lines = self._console.render_lines(what, pad=False)[: self._console.height]
        self._shown = [Segment.get_line_length(line) for line in lines]
        self._live.update(what, refresh=True)

    def _forget_what_was_wrapped(self) -> None:
        """If the window got so narrow that lines were wrapped, remove them all.

        rich goes back by as many rows as it has printed lines. Terminals that wrap lines anew when
        their size changes have more rows by then, whose rest would stay on the screen for good.
        Empty lines take their place, as many as rich believes that there are.
        """
        width = max(self._console.width, 1)
        rows = sum(max(-(-length // width), 1) for length in self._shown)
        if rows == len(self._shown) or not _wraps_anew():
            return
        self._console.file.write(f"\r\x1b[{rows - 1}A\x1b[J" + "\n" * (len(self._shown) - 1))
        self._shown = [0] * len(self._shown)


def _wraps_anew() -> bool:
    """Most terminals do; these cut lines off, and below the cursor is somebody else's text."""
    return "XTERM_VERSION" not in os.environ and os.environ.get("TERM") != "linux"
