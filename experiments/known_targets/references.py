"""Reference moments where there is no closed form, by rejection.

`python -m experiments.known_targets.references` makes them. They owe nothing to any Markov chain.

At tolerance 0.4 the uniform prior is cut to a box far wider than the posterior: the posterior stays
as it is, and hits are 1,400 times as frequent. All hits lie well inside the box.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from scipy import stats

import aptmc
from aptmc.models import lotka_volterra
from experiments.known_targets.simulators import REFERENCES

COMMAND = "python -m experiments.known_targets.references"
BOX = {"birth": (0.55, 1.5), "predation": (0.0015, 0.014), "death": (0.2, 1.9)}


def box_prior() -> aptmc.Prior:
    """Uniform on the box."""
    return aptmc.Prior(
        **{name: stats.uniform(low, high - low) for name, (low, high) in BOX.items()}
    )


def reference(prior: aptmc.Prior, tolerance: float, simulations: int) -> dict[str, Any]:
    """Means and standard deviations with their standard errors."""
    problem = aptmc.Abc.early(lotka_volterra.simulated_distance, prior, counts_work=True)
    accepted = aptmc.rejection(problem, tolerance, simulations=simulations, seed=1)
    return {
        "command": COMMAND,
        "tolerance": tolerance,
        "simulations": simulations,
        "hits": int(accepted.distance.size),
        "parameters": {name: _moments(accepted.series(name)) for name in accepted.names},
    }


def _moments(draws: Any) -> dict[str, list[float]]:
    mean, sd = draws.mean(), draws.std(ddof=1)
    squares = (draws - mean) ** 2
    root = math.sqrt(draws.size)
    moments = {
        "mean": (mean, sd / root),
        "sd": (sd, squares.std(ddof=1) / (2.0 * sd * root)),
        "range": (draws.min(), draws.max()),
    }
    return {
        name: [float(np.format_float_positional(number, 5, fractional=False)) for number in pair]
        for name, pair in moments.items()
    }


def main() -> None:
    """Make the file: about 10^10 events, two minutes of one processor."""
    references = {
        "predators 1": reference(lotka_volterra.prior_exponential(), 1.0, 40_000_000),
        "predators 0.4": reference(box_prior(), 0.4, 10_000_000),
    }
    REFERENCES.write_text(json.dumps(references, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(references, indent=1))


if __name__ == "__main__":
    main()
