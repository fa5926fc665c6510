"""Views: what they write, whatever the width."""

from __future__ import annotations

import io
import math
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from aptmc.progress import LiveState, choose_view
from aptmc.progress.log_view import LogView, one_line
from aptmc.progress.notebook_view import NotebookView
from aptmc.progress.picture import LONG, MOST_WORKERS, ladder_text, picture
from aptmc.progress.terminal_view import TerminalView
from aptmc.progress.words import duration_text
from aptmc.session.control import WorkerStatus

WORKERS = [
    WorkerStatus(0, 4711, 2, 1, 0.3),
    WorkerStatus(1, 4712, None, None, 0.0),
    WorkerStatus(2, 4713, 5, 0, LONG + 12.0),
]
SAMPLING = LiveState(
    elapsed=312.0,
    budget=600.0,
    unit="s",
    draws=12_345,
    effective=678.9,
    moves=98_765,
    utilisation=0.987,
    levels=(1.0, 0.5, 0.1, 0.0),
    swap_rates=np.array([0.0, 0.5, math.nan]),
    workers=WORKERS,
    round=None,
    rounds=0,
)
WARMING_UP = SAMPLING._replace(
    draws=0, effective=math.nan, round=3, rounds=10, utilisation=math.nan
)
NOTHING = WARMING_UP._replace(levels=(), swap_rates=np.empty(0), workers=[], elapsed=0.0, moves=0)


class Terminal(io.StringIO):
    """Says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def rendered(live: LiveState, width: int) -> list[str]:
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    console.print(picture(live))
    return console.export_text().splitlines()


def test_one_line_says_it_all() -> None:
    assert one_line(SAMPLING) == (
        "aptmc: 5 min 12 s of 10 min 00 s, 12,345 draws, 679 effective, 98,765 moves, 99% busy, "
        "processor 3 at one move for 72 s"
    )
    assert one_line(WARMING_UP._replace(workers=[])) == (
        "aptmc: warm-up 3/10, 5 min 12 s of 10 min 00 s, 98,765 moves"
    )


def test_how_far_down_a_run_came_is_said_first() -> None:
    far = "tolerance 0.83, asked for 0.5, reached by 2 of 6 rungs: the nearest 1.3 %"
    live = SAMPLING._replace(reached=far)
    assert rendered(live, 120)[0].strip() == far
    assert "".join(rendered(live, 60)[:2]).replace(" ", "") == far.replace(" ", "")
    assert one_line(live).startswith(f"aptmc: {far}; 5 min 12 s of 10 min 00 s, 12,345 draws")
    assert "tolerance" not in one_line(SAMPLING) + "".join(rendered(SAMPLING, 120))


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("live", [SAMPLING, WARMING_UP, NOTHING], ids=["some", "warm", "none"])
def test_a_picture_keeps_to_its_width(live: LiveState, width: int) -> None:
    lines = rendered(live, width)
    assert lines
    assert max(map(cell_len, lines)) <= width


def test_a_picture_shows_all_there_is_to_see() -> None:
    text = "\n".join(rendered(SAMPLING, 120))
    for words in (
        "5 min 12 s / 10 min 00 s", "12,345 draws of the coldest rung",
        "679 effective (2.18 per s)", "98,765 moves", "99% busy", "1 ▕ ▄·▏ 0",
        "swap rates 0.00 to 0.50", "processor 1", "rung 1, for 0.3 s", "pid 4711", "idle",
    ):  # fmt: skip
        assert words in text
    assert "warm-up, round 3 of 10" in "\n".join(rendered(WARMING_UP, 120))


def test_a_stuck_worker_is_marked_and_no_other() -> None:
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    console.print(picture(SAMPLING))
    styled = console.export_text(styles=True)
    bold_red = re.findall(r"\x1b\[1;31m([^\x1b]*)\x1b", styled)
    assert [text.strip() for text in bold_red if text.strip()] == ["rung 0, for 72.0 s"]


def test_many_workers_are_counted() -> None:
    crowd = [WorkerStatus(number, None, 0, 0, 0.1) for number in range(MOST_WORKERS + 5)]
    lines = rendered(SAMPLING._replace(workers=crowd), 80)
    assert lines[-1].strip() == "… and 5 more"
    assert sum("processor" in line for line in lines) == MOST_WORKERS


def test_an_infinite_tolerance_and_a_full_bar() -> None:
    live = SAMPLING._replace(levels=(0.25, math.inf), swap_rates=np.array([1.0]))
    assert ladder_text(live) == "0.25 ▕█▏ ∞  swap rates 1.00 to 1.00"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (3599.7, "1 h 00 min"),
        (7500.0, "2 h 05 min"),
        (90 * 3600.0, "90 h 00 min"),
    ],
)
def test_durations_read_as_people_say_them(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_the_share_of_the_budget_has_its_limits() -> None:
    assert SAMPLING.share == 0.52
    assert SAMPLING._replace(elapsed=700.0).share == 1.0
    assert SAMPLING._replace(budget=0.0).share == 0.0


# --- which view ---------------------------------------------------------------------------------


def test_nobody_looks_if_nobody_wants_to() -> None:
    assert choose_view(False, Terminal()) is None


def test_a_log_gets_lines_and_a_terminal_a_picture() -> None:
    assert isinstance(choose_view(True, io.StringIO()), LogView)
    view = choose_view(None, Terminal())
    assert isinstance(view, TerminalView)
    view.close("done")


def test_without_any_stream_there_is_no_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a program without a console."""
    monkeypatch.setattr(sys, "stderr", None)
    assert choose_view(True) is None


def test_a_log_that_said_nothing_has_no_last_words() -> None:
    stream = io.StringIO()
    LogView(stream).close("the budget was spent")
    assert stream.getvalue() == ""


def test_a_log_ends_with_the_reason() -> None:
    stream = io.StringIO()
    view = LogView(stream)
    view.begin(600.0, "s")
    view.show(SAMPLING)
    view.close("the budget was spent")
    assert stream.getvalue() == f"{one_line(SAMPLING)}\naptmc: the budget was spent\n"


def test_a_terminal_is_left_with_one_line() -> None:
    stream = Terminal()
    view = TerminalView(stream)
    view.begin(600.0, "s")
    assert "the budget is 10 min 00 s" in re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    view.show(SAMPLING)
    view.close("[bold] is no markup")
    text = stream.getvalue()
    assert text.endswith("aptmc: [bold] is no markup\n")
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1  # the cursor is back


class Screen(Terminal):
    """A terminal that wraps its lines anew when its width changes, as most do."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.rows, self.row = [""], 0
        self.is_wrapped = [False]  # by row: the one before goes on here

    def write(self, text: str) -> int:
        super().write(text)
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[^\x1b]", text):
            if part == "\n":
                self._down(wrapped=False)
            elif part == "\r":
                self.column = 0
            elif part.endswith("A"):
                self.row -= int(part[2:-1] or 1)
                assert self.row >= 0, "what was printed before is erased"
            elif part == "\x1b[2K":
                self.rows[self.row] = ""
            elif part == "\x1b[J":
                self.rows[self.row :] = [""]
                self.is_wrapped[self.row :] = [False]
            elif part[0] != "\x1b":
                if len(self.rows[self.row]) >= self.width:
                    self._down(wrapped=True)
                self.rows[self.row] += part
        return len(text)

    def _down(self, *, wrapped: bool) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append("")
            self.is_wrapped.append(wrapped)

    def resize(self, width: int) -> None:
        """The cursor is at the end of the last row, and stays there."""
        lines: list[str] = []
        for row, wrapped in zip(self.rows, self.is_wrapped, strict=True):
            lines[-1:] = [lines[-1] + row] if wrapped else [*lines[-1:], row]
        self.width, self.rows, self.is_wrapped = width, [], []
        for line in lines:
            pieces = [line[i : i + width] for i in range(0, len(line), width)] or [""]
            self.rows += pieces
            self.is_wrapped += [False] + [True] * (len(pieces) - 1)
        self.row = len(self.rows) - 1


@pytest.mark.parametrize("kind", ["wraps", "xterm"])
def test_nothing_is_left_on_the_screen_when_a_window_gets_narrow(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XTERM_VERSION", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    if kind == "xterm":  # which does not wrap anew: what is right for others is not done there
        monkeypatch.setenv("XTERM_VERSION", "XTerm(390)")
    screen = Screen(110)
    screen.write("printed before\n")
    view = TerminalView(screen)
    view._console.width = 110
    view.begin(600.0, "s")
    for width in (110, 50, 120, 35, 35, 80):
        screen.resize(width)
        view._console.width = width
        view.show(SAMPLING)
    view.close("done")
    left = [row.rstrip() for row in screen.rows if row.strip()]
    assert (left == ["printed before", "aptmc: done"]) is (kind == "wraps")


def test_a_notebook_shows_the_picture_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    displayed: list[object] = []
    handle = SimpleNamespace(update=shown.append)

    def display(*outputs: object, display_id: bool = False, **_: object) -> object:
        displayed.append(display_id)
        return handle

    module = SimpleNamespace(HTML=str, display=display)
    shell = type("ZMQInteractiveShell", (), {})()
    ipython = SimpleNamespace(display=module, get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    view = choose_view(True, Terminal())
    assert isinstance(view, NotebookView)
    view.begin(600.0, "s")
    view.show(SAMPLING)
    view.show(SAMPLING)
    view.close("to go on, aptmc.resume('<b>.zarr')")
    # One output of the cell, which changes: no second one beside it.
    assert displayed == [True]
    assert shown[0] == "<pre>starting up; the budget is 10 min 00 s</pre>"
    assert "12,345 draws" in shown[1]
    assert shown[-1] == "<pre>aptmc: to go on, aptmc.resume(&#x27;&lt;b&gt;.zarr&#x27;)</pre>"
