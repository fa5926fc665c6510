"""The command line: `python -m experiments.gamma_mixture --help`."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.gamma_mixture import bias, efficiency
from experiments.gamma_mixture.demo import demo
from experiments.gamma_mixture.figures import draw_autocorrelation, draw_bias
from experiments.gamma_mixture.samplers import APTMC_1_FED, APTMC_W, SHARED_3

# The paper's virtual times; the shared pool has the same processor time as eight processors.
BIAS_TIMES = {APTMC_1_FED: 1e8, APTMC_W: 1e7, SHARED_3: 8e7 / 3}


def arguments() -> argparse.Namespace:
    """What the user asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.gamma_mixture", description=__doc__
    )
    parser.add_argument("experiment", choices=["demo", "bias", "efficiency"])
    parser.add_argument(
        "--scale", type=float, default=1.0, help="share of the paper's virtual time (default: 1)"
    )
    parser.add_argument("--runs", type=int, help="independent runs (default: 20, efficiency: 5)")
    parser.add_argument("--output", type=Path, default=Path("results/gamma_mixture"))
    return parser.parse_args()


def main() -> None:
    """Run one experiment, print its table and write table and figure."""
    options = arguments()
    output: Path = options.output
    if options.experiment == "demo":
        demo(output)
        return
    output.mkdir(parents=True, exist_ok=True)
    if options.experiment == "bias":
        times = {sampler: options.scale * time for sampler, time in BIAS_TIMES.items()}
        results = bias.measure_all(times, runs=options.runs or 20)
        text = bias.table(results)
        draw_bias(results, output / "bias.png")
    else:
        measured = efficiency.measure_all(scale=options.scale, runs=options.runs or 5)
        text = efficiency.table(measured)
        draw_autocorrelation(measured, output / "autocorrelation.png")
    (output / f"{options.experiment}.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"\nTable and figure are in {output}")


if __name__ == "__main__":
    main()
