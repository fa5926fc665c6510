"""The command line: `python -m experiments.lotka_volterra --help`."""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

from experiments.lotka_volterra import comparison, gain, one_processor, several_processors
from experiments.lotka_volterra.comparison import Result
from experiments.lotka_volterra.figures import draw_autocorrelation, draw_timelines
from experiments.lotka_volterra.gain_figure import Panel, draw_gains
from experiments.lotka_volterra.samplers import Sampler
from experiments.lotka_volterra.truth import Truth, truth


def main() -> None:
    """Run one experiment, print its tables and write tables and figures."""
    options = _parser().parse_args()
    output: Path = options.output
    output.mkdir(parents=True, exist_ok=True)
    name, text = EXPERIMENTS[options.experiment](options)
    (output / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"\nTables and figures are in {output}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.lotka_volterra", description=__doc__
    )
    parser.add_argument("experiment", choices=list(EXPERIMENTS))
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full length")
    parser.add_argument("--runs", type=int, help="independent runs (default: 9, 9, 20, 20)")
    parser.add_argument(
        "--tolerance",
        type=float,
        choices=list(gain.SETTINGS),
        default=gain.HARDER.tolerance,
        help="setting of gain: a dozen rungs down to 0.4 or the paper's twenty down to 1",
    )
    parser.add_argument("--cap", type=int, default=1, help="of the races in gain; 0: none")
    parser.add_argument("--rows", choices=list(ROWS), help="only these of gain")
    parser.add_argument("--only", default="", help="samplers of gain whose names hold this")
    parser.add_argument("--processors", type=int, help="rows of gain with so many")
    parser.add_argument("--output", type=Path, default=Path("results/lotka_volterra"))
    parser.add_argument("--again", action="store_true", help="measure what is there already, too")
    return parser


def _one(options: argparse.Namespace) -> tuple[str, str]:
    measured = one_processor.measure_all(scale=options.scale, runs=options.runs or 9)
    draw_autocorrelation(measured[1:4], options.output / "one_autocorrelation.png")
    return "one", one_processor.table(measured)


def _several(options: argparse.Namespace) -> tuple[str, str]:
    measured = several_processors.measure_all(scale=options.scale, runs=options.runs or 9)
    draw_autocorrelation(measured, options.output / "several_autocorrelation.png")
    partitioned = [result.sampler for result in measured[2:4]]
    draw_timelines(partitioned, options.output / "timelines.png", budget=5e6)
    tables = several_processors.table(measured), several_processors.draws_table(measured)
    return "several", "\n\n".join(tables)


def _gain(options: argparse.Namespace) -> tuple[str, str]:
    setting, cap = gain.SETTINGS[options.tolerance], options.cap or None
    rows = [ROWS[options.rows]] if options.rows else ROWS.values()
    wanted = [
        sampler
        for sampler in chain.from_iterable(some(setting, cap) for some in rows)
        if options.only in sampler.name and options.processors in (None, sampler.processors)
    ]
    name = f"gain_{setting.tolerance:g}_cap_{cap}"
    return name, _compared(name, wanted, setting, options)


def _cap(options: argparse.Namespace) -> tuple[str, str]:
    return "cap", _compared("cap", gain.capped_samplers(), gain.HARDER, options)


def _compared(
    name: str, chosen: list[Sampler], setting: gain.Setting, options: argparse.Namespace
) -> str:
    path: Path = options.output / f"{name}.jsonl"
    if options.again:
        path.unlink(missing_ok=True)
    return comparison.table(_measured(path, chosen, options), _truth(setting, options))


def _picture(options: argparse.Namespace) -> tuple[str, str]:
    panels = []
    for cap in (1, 100):
        for setting in reversed(gain.SETTINGS.values()):
            name = f"gain_{setting.tolerance:g}_cap_{cap}"
            chosen = list(gain.schedules(setting, cap))
            results = _measured(options.output / f"{name}.jsonl", chosen, options)
            title = f"tolerance {setting.tolerance:g}, cap {cap}"
            panels.append(Panel(title, results, _truth(setting, options)))
    path = options.output / "gains.png"
    draw_gains(panels, path)
    return "picture", f"What gain has measured is drawn in {path}."


def _measured(path: Path, chosen: list[Sampler], options: argparse.Namespace) -> list[Result]:
    runs = options.runs or comparison.BATCH
    return comparison.measure_all(chosen, path, scale=options.scale, runs=runs)


def _truth(setting: gain.Setting, options: argparse.Namespace) -> Truth:
    path = options.output / f"truth_{setting.tolerance:g}.json"
    return truth(setting, path, scale=options.scale)


ROWS = {"schedules": gain.schedules, "variants": gain.variants}
EXPERIMENTS = {"one": _one, "several": _several, "gain": _gain, "cap": _cap, "picture": _picture}


if __name__ == "__main__":
    main()
