"""The report: one HTML file that opens anywhere, offline, also on a phone."""

from __future__ import annotations

import base64
import io
import math
import re
from collections.abc import Callable
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from aptmc.__about__ import __version__
from aptmc.errors import InputError
from aptmc.result.advice import describe
from aptmc.result.archive import versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aptmc.result.run import Run

RESOLUTION = 200  # dots per inch
SCREEN = 130  # of a screen's dots for an inch of a figure
BROAD = 4.6  # inches: wider ones do not get narrower than letters can be read


class Plot(NamedTuple):
    """A figure of the report."""

    title: str
    caption: str
    draw: Callable[[], Figure]


def report(run: Run, *, beside: Run | None = None, title: str = "aptmc") -> str:
    """The HTML of a report on a run.

    :param beside: another run, to show what its processors did: a synchronous one, say
    """
    if not any(series.size for series in run.series(run.settings.problem.labels[0])):
        raise InputError("there is nothing to report yet: the run has no draws")
    style = files("aptmc.result").joinpath("report.css").read_text(encoding="utf-8")
    sections = [
        _summary(run),
        _advice(run),
        *(_figure(plot) for plot in _plots(run, beside)),
        _settings(run),
        _reproduction(run),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n" + "\n".join(filter(None, sections)) + "\n</main>\n"
        f"<footer>made by aptmc {escape(__version__)}</footer>\n</body>\n</html>\n"
    )


def _summary(run: Run) -> str:
    summary, unit = run.summary(), run.settings.on.time_unit
    smallest = min((row.ess for row in summary.values()), default=float("nan"))
    tiles = {
        "effective draws": f"{smallest:,.0f}",
        "of the time inside moves": f"{run.utilisation:.0%}",
        "moves": f"{run.completions:,}",
        "round trips": f"{run.round_trips:,}",
        f"elapsed, {'s' if unit == 's' else unit + 's'}": _number(run.elapsed),
    }
    if run.simulations:
        tiles["simulations"] = f"{run.simulations:,}"
    shown = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>'
        for name, value in tiles.items()
    )
    # Settings and advice have their own places.
    table = summary.without_notes()._repr_html_()
    return (
        f'<p class="stopped">{escape(describe(run))}; {escape(str(run.stopped))}.</p>'
        f'<div class="tiles">{shown}</div><h2>Posterior</h2><div class="wide">{table}</div>'
    )


def _advice(run: Run) -> str:
    advice = run.advice
    if not advice:
        return '<h2>Advice</h2><p class="good">Nothing to complain about.</p>'
    items = "".join(
        f'<li class="{"serious" if one.serious else "hint"}"><b>{escape(one.problem)}.</b> '
        f"{escape(one.remedy)}.</li>"
        for one in advice
    )
    return f'<h2>Advice</h2><ul class="advice">{items}</ul>'


def _plots(run: Run, beside: Run | None) -> list[Plot]:
    from aptmc import plots

    both = [run] if beside is None else [run, beside]
    found = [
        Plot(
            "Marginals",
            "Each parameter's posterior; the bar is the 90 % interval, the dot the mean.",
            lambda: plots.marginals(run),
        ),
    ]
    if len(run.settings.problem.labels) > 1:
        found.append(
            Plot(
                "Pairs",
                "Parameters two by two, and their correlations.",
                lambda: plots.pairs(run),
            )
        )
    if run.events.kind.size > 0:
        found += [
            Plot(
                "Processors",
                "What each processor did for a while: a box is a move, coloured by rung; white is "
                "idle time; lines are exchanges.",
                lambda: plots.timeline(*(one for one in both if one.events.kind.size > 0)),
            ),
            Plot(
                "Time of moves",
                "Moves of the same rung differ: half of them lie inside the box, nine tenths "
                "inside the line.",
                lambda: plots.hold_times(run),
            ),
            Plot(
                "Busy",
                "Share of processor time inside moves, over the run.",
                lambda: plots.utilisation(*(one for one in both if one.events.kind.size > 0)),
            ),
        ]
    if run.settings.ladder.rungs > 1:
        found.append(
            Plot(
                "Ladder",
                "How often neighbouring rungs swap when both wait; the shaded range is a good one.",
                lambda: plots.swap_rates(run),
            )
        )
        if run.keeps_all:
            found += [
                Plot(
                    "Journeys",
                    "On which rung some of the states were, over time.",
                    lambda: plots.index_process(run),
                ),
                Plot("Levels", "What exchanges look at, on each rung.", lambda: plots.levels(run)),
            ]
    found.append(
        Plot(
            "Autocorrelation",
            "How fast the coldest rung forgets where it was.",
            lambda: plots.autocorrelation(run),
        )
    )
    return found


def _figure(plot: Plot) -> str:
    buffer = io.BytesIO()
    drawn = plot.draw()
    drawn.savefig(buffer, format="png", dpi=RESOLUTION)
    data = base64.b64encode(buffer.getvalue()).decode()
    inches = drawn.get_figwidth()
    # All at one scale, so that letters are of one size; broad ones are not squeezed on a phone.
    broad = 'class="broad" ' if inches > BROAD else ""
    return (
        f'<figure><h2>{escape(plot.title)}</h2><div class="wide">'
        f'<img {broad}width="{inches * SCREEN:.0f}" alt="{escape(plot.caption)}" '
        f'src="data:image/png;base64,{data}"></div>'
        f"<figcaption>{escape(plot.caption)}</figcaption></figure>"
    )


def _settings(run: Run) -> str:
    settings = run.settings
    names = [variable.name for variable in settings.problem.variables]
    rows: dict[str, Any] = {
        "problem": f"{_kind(settings.problem)} of {', '.join(names)}",
        "ladder": settings.ladder,
        "kernel": settings.kernel,
        "schedule": settings.schedule,
        "pools": settings.pools,
        "on": settings.on,
        "seed": settings.seed,
        "steps per move": ", ".join(map(str, run.steps_per_move.tolist())),
    }
    body = "".join(
        f"<tr><th>{escape(name)}</th><td><code>{escape(_short(value))}</code></td></tr>"
        for name, value in rows.items()
    )
    rounds = "".join(
        f"<tr><td>{number + 1}</td><td>{part.elapsed:.3g}</td><td>{part.completions:,}</td>"
        f"<td>{part.ladder.rungs}</td><td>{_level(part.ladder.levels[0])}</td></tr>"
        for number, part in enumerate(run.warmup_rounds)
    )
    warmup = (
        "<h3>Warm-up</h3><div class='wide'><table><thead><tr><th>round</th><th>time</th>"
        f"<th>moves</th><th>rungs</th><th>coldest</th></tr></thead><tbody>{rounds}</tbody></table>"
        "</div>"
        if rounds
        else ""
    )
    return f'<h2>Settings</h2><div class="wide"><table class="left">{body}</table></div>{warmup}'


def _reproduction(run: Run) -> str:
    names = ", ".join(f"{name} {number}" for name, number in versions().items())
    path = run.path
    if path is None:
        again = (
            f'Seed: {run.settings.seed}. With store="run.zarr" a run can be replayed bit for bit.'
        )
    else:
        again = (
            f"aptmc.replay({str(path)!r}, problem) computes the same draws again, bit for bit; "
            f"aptmc.resume({str(path)!r}, problem, budget=...) goes on."
        )
    return f"<h2>How to reproduce</h2><p><code>{escape(again)}</code></p><p>{escape(names)}</p>"


def _kind(problem: Any) -> str:
    return str(getattr(problem, "kind", type(problem).__name__))


def _number(value: float) -> str:
    if value >= 1e7:
        return f"{value / 1e6:,.4g} million"
    return f"{value:,.0f}" if value >= 1000.0 else f"{value:.4g}"


def _level(level: float) -> str:
    return "∞" if math.isinf(level) else f"{level:.4g}"


def _short(value: object, most: int = 400) -> str:
    """A setting for people: few digits, and no tables of numbers. The store has them all."""
    text = " ".join(str(value).split())
    text = re.sub(r"array\((\[\[.*\]\])\)", r"…", text)
    text = re.sub(r"\d+\.\d{4,}(e[+-]?\d+)?", lambda found: f"{float(found[0]):.4g}", text)
    text = re.sub(r", \w+=None", "", text)
    return text if len(text) <= most else text[: most - 1] + "…"
