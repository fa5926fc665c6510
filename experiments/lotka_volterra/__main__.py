"""The command line: `python -m experiments.lotka_volterra --help`."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.lotka_volterra import gain, one_processor, several_processors
from experiments.lotka_volterra.figures import draw_autocorrelation, draw_timelines


def main() -> None:
    """Run one experiment, print its tables and write tables and figures."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.lotka_volterra", description=__doc__
    )
    parser.add_argument("experiment", choices=["one", "several", "gain", "cap"])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full length")
    parser.add_argument("--runs", type=int, help="independent runs (default: 9, 9, 20, 20)")
    parser.add_argument("--cap", type=int, default=1, help="of the races in gain; 0: none")
    parser.add_argument("--only", default="", help="samplers of gain whose names hold this")
    parser.add_argument("--processors", type=int, help="rows of gain with so many")
    parser.add_argument("--output", type=Path, default=Path("results/lotka_volterra"))
    parser.add_argument("--again", action="store_true", help="measure what is there already, too")
    options = parser.parse_args()
    output: Path = options.output
    output.mkdir(parents=True, exist_ok=True)
    if options.experiment == "one":
        measured = one_processor.measure_all(scale=options.scale, runs=options.runs or 9)
        text = one_processor.table(measured)
        draw_autocorrelation(measured[1:4], output / "one_autocorrelation.png")
    elif options.experiment == "several":
        measured = several_processors.measure_all(scale=options.scale, runs=options.runs or 9)
        text = several_processors.table(measured) + "\n\n"
        text += several_processors.draws_table(measured)
        draw_autocorrelation(measured, output / "several_autocorrelation.png")
        partitioned = [result.sampler for result in measured[2:4]]
        draw_timelines(partitioned, output / "timelines.png", budget=5e6)
    else:
        cap = options.cap or None
        chosen = gain.samplers(cap) if options.experiment == "gain" else gain.capped_samplers()
        chosen = [
            sampler
            for sampler in chosen
            if options.only in sampler.name and options.processors in (None, sampler.processors)
        ]
        if options.experiment == "gain":
            options.experiment = f"gain_{cap}"
        path = output / f"{options.experiment}.jsonl"
        if options.again:
            path.unlink(missing_ok=True)
        text = gain.table(gain.run_all(chosen, path, scale=options.scale, runs=options.runs or 20))
    (output / f"{options.experiment}.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"\nTables and figures are in {output}")


if __name__ == "__main__":
    main()
