"""A run as a picture in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any, final

from typing_extensions import override

from aptmc.progress.live import LiveState
from aptmc.progress.picture import picture
from aptmc.progress.view import View
from aptmc.progress.words import duration_text


@final
class NotebookView(View):
    """A picture in the output of a cell, which changes in its place."""

    period = 1.0

    def __init__(self) -> None:
        from IPython.display import display

        self._handle: Any = display(display_id=True)

    @override
    def begin(self, budget: float, unit: str) -> None:
        self._say(f"starting up; the budget is {duration_text(budget, unit)}")

    @override
    def tell(self, words: str, *, is_news: bool) -> None:
        self._say(words)

    @override
    def show(self, live: LiveState) -> None:
        from io import StringIO

        from rich.console import Console

        # Not forced, rich would see the notebook and add an output of its own to the cell.
        console = Console(record=True, width=90, file=StringIO(), force_jupyter=False)
        console.print(picture(live))
        self._put(console.export_html(inline_styles=True, code_format="<pre>{code}</pre>"))

    @override
    def close(self, last_words: str) -> None:
        """Leave one line in place of the picture."""
        self._say(f"aptmc: {last_words}" if last_words else "")

    def _say(self, words: str) -> None:
        self._put(f"<pre>{escape(words)}</pre>")

    def _put(self, html: str) -> None:
        from IPython.display import HTML

        self._handle.update(HTML(html))
