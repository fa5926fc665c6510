"""Is a ladder worth its work? Automatic settings, where most chains may be cold, against as many
chains on each rung, and against a single rung, on known targets.

python -m experiments.one_rung [coin labels …] [--runs 8]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import aptmc
from experiments.comparison.densities import DENSITIES
from experiments.comparison.priors import prior_of
from experiments.known_targets.__main__ import TARGETS as KNOWN
from experiments.known_targets.quantities import Floats, Quantity
from experiments.known_targets.target import PROCESSORS, Target

# Of the full length.
SCALES = {"logistic 25": 0.5, "eight schools": 0.3, "coin": 0.3, "two modes": 0.3, "labels": 1.0}
ON_EACH_RUNG = 3  # chains, where these are not left to the warm-up


def labels() -> Target:
    """Labels that switch, of the comparison."""
    density = DENSITIES["labels"]

    def quantity(place: int) -> Quantity:
        def of(theta: Floats) -> Floats:
            return np.asarray(density.quantities(theta)[:, place], float)

        return Quantity(density.words[place], of, density.truth.means[place])

    return Target(
        "labels",
        lambda: aptmc.Tempered(density.log_likelihood, prior_of("labels")),
        lambda: tuple(quantity(place) for place in range(len(density.words))),
        budget=density.evaluations / PROCESSORS,
    )


TARGETS = {**KNOWN, "labels": labels()}


def squared_errors(run: aptmc.Run, target: Target) -> list[float]:
    """Of each known quantity, in variances of a draw."""
    dimension = run.settings.problem.dimension
    theta = np.concatenate([draws.state[:, :dimension] for draws in run.chains()])
    found = []
    for quantity in target.quantities:
        values = quantity.of(theta)
        truth = quantity.truth**2 if quantity.is_root else quantity.truth
        found.append(float((values.mean() - truth) ** 2 / values.var()))
    return found


def worth(target: Target, scale: float, runs: int, **settings: Any) -> str:
    """Effective draws of a run, over all quantities, and the chains of the last."""
    errors, chains = [], ""
    for seed in range(1, runs + 1):
        run = aptmc.sample(
            target.problem,
            budget=target.budget * scale,
            seed=seed,
            on=aptmc.VirtualTime(PROCESSORS),
            progress=False,
            **settings,
        )
        errors.append(squared_errors(run, target))
        on_rungs = np.bincount(run.settings.layout().rung)
        chains = f"{on_rungs[0]} of {on_rungs.sum()} chains cold, {on_rungs.size} rungs"
    return f"{1.0 / float(np.mean(errors)):,.0f} ({chains})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.one_rung", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(SCALES)} (default: all)")
    parser.add_argument("--runs", type=int, default=8)
    options = parser.parse_args()
    print(f"| target | automatic | {ON_EACH_RUNG} chains on each rung | `ladder=[1]` |")
    print(f"{'| --- ' * 4}|")
    columns: list[dict[str, Any]] = [{}, {"pools": aptmc.Shared(ON_EACH_RUNG)}, {"ladder": [1]}]
    for name in options.names or SCALES:
        target, scale = TARGETS[name], SCALES[name]
        cells = [worth(target, scale, options.runs, **settings) for settings in columns]
        print("| " + " | ".join([name, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
