"""Is every rung's distribution right? Corrected and uncorrected, beside quadrature."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import aptmc
from aptmc.models import normal
from experiments.estimates import Estimate, estimate
from experiments.parallel import in_parallel

# The paper's settings. One simulation takes one unit of virtual time.
TOLERANCES = tuple(np.linspace(0.1, 1.1, 10).tolist())
STEP = 0.5
EVERY = 50.0  # units between deadlines: about as long as one sweep of the ten chains

EDGES = np.linspace(-2.0, 7.0, 451)


class RungMoments(NamedTuple):
    """What one run says of one rung."""

    mean: float
    sd: float
    density: npt.NDArray[np.float64]


class Bias(NamedTuple):
    """What several independent runs say of all rungs."""

    corrected: bool
    runs: list[list[RungMoments]]

    def mean(self, rung: int) -> Estimate:
        """Of theta on a rung."""
        return estimate(run[rung].mean for run in self.runs)

    def sd(self, rung: int) -> Estimate:
        """Of theta on a rung."""
        return estimate(run[rung].sd for run in self.runs)

    def density(self, rung: int) -> npt.NDArray[np.float64]:
        """A histogram over all runs."""
        return np.asarray(np.mean([run[rung].density for run in self.runs], axis=0))

    def errors_off(self, rung: int) -> tuple[float, float]:
        """By how many standard errors mean and sd miss quadrature."""
        tolerance = TOLERANCES[rung]
        return (
            self.mean(rung).errors_from(normal.posterior_mean(tolerance)),
            self.sd(rung).errors_from(normal.posterior_sd(tolerance)),
        )


@cache
def problem() -> aptmc.Abc:
    """Compiled once."""
    return aptmc.Abc.early(normal.simulated_distance, normal.prior())


def measure(
    *,
    corrected: bool,
    budget: float,
    runs: int,
    cap: int | None = None,
    exchange: aptmc.Rule | None = None,
    processors: int = 1,
    seed: int = 1,
) -> Bias:
    """Independent runs of the paper's sampler, which has no cap and one processor."""
    rule = exchange or aptmc.Alternating()
    schedule = aptmc.Anytime if corrected else aptmc.Uncorrected

    def one(seed: int) -> list[RungMoments]:
        run = aptmc.sample(
            problem(),
            budget=budget,
            warmup=0.02 * budget,
            ladder=aptmc.Ladder.tolerances(TOLERANCES),
            kernel=aptmc.OneHit(STEP, cap=cap),
            schedule=schedule(EVERY, exchange=rule),
            on=aptmc.VirtualTime(processors),
            keep="all",
            seed=seed,
        )
        moments = []
        for rung in range(len(TOLERANCES)):
            theta = np.concatenate(run.series("theta", rung))
            histogram, _ = np.histogram(theta, EDGES, density=True)
            moments.append(RungMoments(float(theta.mean()), float(theta.std()), histogram))
        return moments

    return Bias(corrected, in_parallel(one, range(seed, seed + runs)))


def table(corrected: Bias, uncorrected: Bias) -> str:
    """Means and standard deviations of every rung, in Markdown."""
    lines = [
        "| rung | tolerance | mean: exact | corrected | off by | uncorrected | off by "
        "| sd: exact | corrected | off by | uncorrected | off by |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for rung, tolerance in enumerate(TOLERANCES):
        cells = [str(rung), f"{tolerance:.3f}"]
        for place, exact in enumerate(
            (normal.posterior_mean(tolerance), normal.posterior_sd(tolerance))
        ):
            cells.append(f"{exact:.4f}")
            for bias in (corrected, uncorrected):
                value = (bias.mean(rung), bias.sd(rung))[place]
                off = bias.errors_off(rung)[place]
                cells += [f"{value.value:.4f} ± {value.error:.4f}", f"{off:.1f} se"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
