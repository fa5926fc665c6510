"""The report: one HTML file that opens anywhere, offline, also on a phone.

What it says is put together here; how it looks is in `templates`. Whatever comes from the user is
escaped there, without exception.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aptmc.__about__ import __version__
from aptmc.errors import InputError
from aptmc.result.advice import describe
from aptmc.result.archive import versions
from aptmc.result.chosen_kernel import about_kernel
from aptmc.result.model_probabilities import about_models
from aptmc.store.folder import path_from

if TYPE_CHECKING:
    from aptmc.diagnostics import Summary
    from aptmc.result.run import Run

MANY = 1e7  # from here on, so many million
UNTITLED = ("report", "index", "run")  # names of files that say nothing about what is in them
MOST_ROWS, FEW_ROWS = 30, 12  # of a table: longer ones begin with the rows that matter most


def write_report(
    run: Run,
    path: str | os.PathLike[str],
    *,
    beside: Run | None = None,
    title: str | None = None,
) -> Path:
    """Write a report to a file, and give its whole path."""
    target = path_from("path", path, "report.html")
    if target.is_dir():
        raise InputError(f"{target} is a folder: name a file in it, report.html say")
    if not target.parent.is_dir():
        raise InputError(f"the folder {target.parent} of the report is not there: make it")
    if title is not None and not (isinstance(title, str) and title.strip()):
        raise InputError(f"title must be some words, got {title!r}: leave it out for a usual one")
    title = _title(run, target) if title is None else title
    with run._kept.remembering():
        html = report(run, beside=beside, title=title)
    target.write_text(html, encoding="utf-8")
    return target.resolve()


def _title(run: Run, target: Path) -> str:
    """The file's name, if somebody thought of one, or what the run is about."""
    if target.stem not in UNTITLED:
        return target.stem.replace("_", " ")
    return f"Posterior of {_listed([one.name for one in run.settings.problem.variables])}"


def _listed(names: list[str], most: int = 6) -> str:
    """Names in a sentence."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def report(run: Run, *, beside: Run | None = None, title: str = "aptmc") -> str:
    """The HTML of a report on a run.

    :param beside: another run, to show what its processors did: a synchronous one, say
    """
    # jinja2 and plots are imported when they are wanted.
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from aptmc.plots.chosen import slowest
    from aptmc.result.report_figures import NO_FIGURES, can_draw, pictures

    has_draws = any(series.size for series in run.series(run.settings.problem.labels[0]))
    environment = Environment(
        loader=PackageLoader("aptmc.result"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["level"] = _level
    advice, draws = run.advice, has_draws and can_draw()
    # Warnings, settings and advice have their own places. The table escapes the names in it.
    summary = run.summary().without_notes()
    is_long = len(summary) > MOST_ROWS
    first = summary.only(slowest(run, FEW_ROWS)) if is_long else summary
    return environment.get_template("report.html").render(
        title=title,
        version=__version__,
        description=describe(run),
        stopped=run.stopped,
        tiles=_tiles(run, summary),
        table=Markup(first._repr_html_()) if has_draws else "",
        all_of_them=Markup(summary._repr_html_()) if is_long else "",
        models=about_models(run) if has_draws else None,
        about_table=f"The {FEW_ROWS} of {len(summary)} parameters with the fewest effective draws.",
        reached=run.reached,
        warnings=[one for one in advice if one.serious],
        hints=[one for one in advice if not one.serious],
        figures=pictures(run, beside) if draws else [],
        no_figures=NO_FIGURES if has_draws and not draws else "",
        settings=_settings(run),
        rounds=run.warmup_rounds,
        again=_again(run),
        versions=", ".join(f"{name} {number}" for name, number in versions().items()),
    )


def _tiles(run: Run, summary: Summary) -> dict[str, str]:
    """The few numbers that one wants to see first."""
    smallest = min((row.ess for row in summary.values()), default=math.nan)
    tiles = {}
    if math.isfinite(smallest):
        tiles["effective draws"] = f"{smallest:,.0f}"
    if math.isfinite(run.utilisation):
        tiles["of the time inside moves"] = f"{run.utilisation:.0%}"
    if run.completions > 0:
        tiles["moves"] = f"{run.completions:,}"
        tiles["round trip" if run.round_trips == 1 else "round trips"] = f"{run.round_trips:,}"
        tiles[_time_words(run)] = _number(run.elapsed)
    if run.simulations:
        tiles["simulations"] = f"{run.simulations:,}"
    return tiles


def _time_words(run: Run) -> str:
    """What the time of a run is: a warm-up and the start come before it, out of the same budget."""
    budget = run.settings.budget
    if run.settings.quota is not None:
        return f"{_units(run.settings.on)} of sampling, of {run.settings.quota} in all"
    units = _units(run.settings.on)
    of = "of" if budget >= MANY else "of a budget of"
    within = f", {of} {_number(budget)}" if run.elapsed <= budget else ""
    return f"{units} of sampling{within}"


def _units(on: Any) -> str:
    return "s" if on.time_unit == "s" else f"{on.time_unit}s"


def _settings(run: Run) -> dict[str, str]:
    settings = run.settings
    names = [variable.name for variable in settings.problem.variables]
    said: dict[str, Any] = {
        "problem": f"{_kind(settings.problem)} of {', '.join(names)}",
        "ladder": settings.ladder,
        "kernel": settings.kernel,
        "schedule": settings.schedule,
        "pools": settings.pools,
        "on": settings.on,
        "budget": str(settings.quota or f"{_number(settings.budget)} {_units(settings.on)}"),
        "seed": settings.seed,
        "steps per move": ", ".join(map(str, run.steps_per_move.tolist())),
    }
    if settings.until:
        said["until"] = settings.until
    kernel = about_kernel(run)
    if kernel is not None:
        name = "why this kernel" if settings.chosen else "what it did"
        said[name] = kernel.removeprefix("kernel: ")
    return {name: _short(value) for name, value in said.items()}


def _again(run: Run) -> str:
    """What to call for the same run again, or to go on with it."""
    path = run.path
    if path is None:
        return (
            f'Seed: {run.settings.seed}. With store="run.zarr" a run can be replayed bit for bit.'
        )
    return (
        f"aptmc.replay({str(path)!r}, problem) computes the same draws again, bit for bit; "
        f"aptmc.resume({str(path)!r}, problem, budget=...) goes on."
    )


def _kind(problem: Any) -> str:
    return str(getattr(problem, "kind", type(problem).__name__))


def _number(value: float) -> str:
    if value >= MANY:
        return f"{value / 1e6:,.3g} million"
    return f"{value:,.0f}" if value >= 1000.0 else f"{value:.4g}"


def _level(level: float) -> str:
    return "∞" if math.isinf(level) else f"{level:.4g}"


def _short(value: object, most: int = 400) -> str:
    """A setting for people: few digits, and no tables of numbers. The store has them all."""
    text = " ".join(str(value).split())
    # Each on its own: there may be another kernel between two of them.
    text = re.sub(r"array\(\[\[.*?\]\]\)", "…", text)
    text = re.sub(r"np\.float64\((.*?)\)", r"\1", text)
    text = re.sub(r"\d+\.\d{4,}(e[+-]?\d+)?", lambda found: f"{float(found[0]):.4g}", text)
    text = re.sub(r", \w+=None", "", text)
    return text if len(text) <= most else text[: most - 1] + "…"
