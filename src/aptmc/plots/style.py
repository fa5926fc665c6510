"""How figures look: Okabe and Ito's colours, which the colour-blind can tell apart, and sizes that
stay legible in one column of a paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from itertools import chain
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from aptmc.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

BLUE, SKY, GREEN = "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILLION, PINK = "#E69F00", "#D55E00", "#CC79A7"
DARK, LIGHT = "#333333", "#AAAAAA"
CYCLE = (BLUE, VERMILLION, GREEN, ORANGE, PINK, SKY, DARK)
WIDTH = 7.0  # inches: two columns of a paper
COLUMN = 3.4  # one column, and a phone
PANEL = 1.75  # a narrower panel has no room for the numbers on its axis
MOST_LEVELS = 10  # named on an axis of so many inches as a page is wide

STYLE: Any = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "savefig.dpi": 200,
    "axes.titlelocation": "left",
}


def of_runs(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Have a plot say what it takes, when it is given something else, its draws for instance."""

    @wraps(function)
    def checked(*given: Parameters.args, **named: Parameters.kwargs) -> Result:
        several = [one.values() if isinstance(one, Mapping) else (one,) for one in given]
        for one in chain.from_iterable(several):
            if not hasattr(one, "settings"):
                raise InputError(
                    f"{function.__name__} takes a run, got {type(one).__name__}: give the result "
                    "of aptmc.sample or aptmc.open itself, and not its draws"
                )
        return function(*given, **named)

    return checked


@contextmanager
def figure(height: float, width: float = WIDTH) -> Iterator[Figure]:
    """An empty figure in this style. It belongs to no window, so nothing has to be closed."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("plots need matplotlib: pip install 'aptmc[plots]'") from None
    with mpl.rc_context(STYLE):
        new = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(new)
        yield new


def checked_width(width: float | None, usual: float) -> float:
    """The width that a user asked for, or the usual one."""
    if width is None:
        return usual
    if isinstance(width, bool) or not isinstance(width, int | float) or not 1.0 <= width <= 100.0:
        raise InputError(
            f"width is in inches, from 1 to 100, got {width!r}: {COLUMN} is one column of a paper, "
            f"{WIDTH:g} is two"
        )
    return float(width)


def columns_in(width: float, panels: int) -> int:
    """How many panels stand side by side: as many as fit, in rows that are about equally full."""
    most = max(int(width / PANEL), 1)
    rows = -(-panels // most)
    return -(-panels // rows)


def rung_colours(rungs: int) -> list[Any]:
    """From the coldest rung, dark blue, to the hottest, yellow."""
    import matplotlib as mpl

    colours = mpl.colormaps["cividis"]
    return [colours(rung / max(rungs - 1, 1)) for rung in range(rungs)]


def name_rungs(panel: Any, names: list[str], width: float) -> None:
    """Name the rungs on the horizontal axis, as many of them as there is room for."""
    most = max(int(MOST_LEVELS * width / WIDTH * (1.0 if max(map(len, names)) > 3 else 2.0)), 2)
    step = -(-len(names) // most)
    panel.set_xticks(range(0, len(names), step), names[::step])


def time_unit(run: Run) -> str:
    """In what the time of a run is measured, for a label."""
    unit = run.settings.on.time_unit
    return "s" if unit == "s" else "units of virtual time"


def label_time(panel: Any, run: Run, latest: float) -> None:
    """Label an axis of time; large numbers are counted in thousands or millions."""
    words, size = "", 1.0
    for name, least in (("thousand ", 1e3), ("million ", 1e6)):
        # In thousands only where that saves many digits.
        if latest >= 10.0 * least:
            words, size = name, least
    if size > 1.0:
        panel.xaxis.set_major_formatter(lambda value, _: f"{value / size:.12g}")
    panel.set_xlabel(f"time, {words}{time_unit(run)}")
