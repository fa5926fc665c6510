"""Which view suits where the output goes: a terminal, a notebook, or a log."""

from __future__ import annotations

import sys
from typing import TextIO

from aptmc.progress.log_view import LogView
from aptmc.progress.notebook_view import NotebookView
from aptmc.progress.terminal_view import TerminalView
from aptmc.progress.view import View


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
