"""Is the cold chain's distribution right? Corrected and uncorrected, beside the exact ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.models import gamma_mixture
from experiments.estimates import Estimate, estimate
from experiments.gamma_mixture.samplers import POWERS, Sampler
from experiments.parallel import in_parallel

Floats = npt.NDArray[np.float64]

EDGES = np.linspace(0.0, 12.0, 1201)


class ColdChain(NamedTuple):
    """What the cold chain of one run says."""

    mean: float
    below_middle: float
    histogram: Floats  # share of draws below each edge but the first


class Bias(NamedTuple):
    """What the cold chains of several independent runs say together."""

    sampler: Sampler
    power: int
    corrected: bool
    runs: list[ColdChain]

    @property
    def mean(self) -> Estimate:
        """Of x; the truth is 2.725."""
        return estimate(run.mean for run in self.runs)

    @property
    def below_middle(self) -> Estimate:
        """P(x < 1.7); the truth is 0.49956."""
        return estimate(run.below_middle for run in self.runs)

    @property
    def distribution(self) -> Floats:
        """Share of draws below each edge but the first, over all runs."""
        return np.asarray(np.mean([run.histogram for run in self.runs], axis=0))

    def distance(self, power: int = 0) -> Estimate:
        """Kolmogorov's distance to the anytime distribution of a power; 0 is the target.

        The distance of the mean distribution; its error by leaving out one run at a time.
        """
        exact = gamma_mixture.distribution(EDGES[1:], power)
        histograms = np.array([run.histogram for run in self.runs])
        total, runs = histograms.sum(axis=0), len(self.runs)
        left_out = [abs((total - one) / (runs - 1) - exact).max() for one in histograms]
        spread = np.sqrt((runs - 1) * np.var(left_out))
        return Estimate(float(abs(total / runs - exact).max()), float(spread))


def measure(
    sampler: Sampler, power: int, *, corrected: bool, budget: float, runs: int, seed: int = 1
) -> Bias:
    """Several independent runs of one sampler."""

    def cold_chain(seed: int) -> ColdChain:
        run = sampler.run(power, budget=budget, seed=seed, corrected=corrected)
        draws = np.concatenate(run.series("x"))
        shares = np.searchsorted(np.sort(draws), EDGES[1:]) / draws.size
        below = float((draws < gamma_mixture.MIDDLE).mean())
        return ColdChain(float(draws.mean()), below, shares)

    return Bias(sampler, power, corrected, in_parallel(cold_chain, range(seed, seed + runs)))


def measure_all(
    samplers: dict[Sampler, float], *, runs: int, powers: tuple[int, ...] = POWERS
) -> list[Bias]:
    """Every power, corrected and uncorrected; `samplers` gives each one's virtual time in all."""
    return [
        measure(sampler, power, corrected=corrected, budget=budget / runs, runs=runs)
        for sampler, budget in samplers.items()
        for power in powers
        for corrected in (True, False)
    ]


def table(results: list[Bias]) -> str:
    """Means, probabilities and distances with standard errors, in Markdown."""
    lines = [
        "| sampler | p | exchanges | mean (2.725) | off by | P(x < 1.7) (0.49956) | off by "
        "| distance to π | distance to α |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for bias in results:
        mean, below = bias.mean, bias.below_middle
        to_target, to_anytime = bias.distance(0), bias.distance(bias.power)
        cells = [
            bias.sampler.name,
            str(bias.power),
            "corrected" if bias.corrected else "uncorrected",
            f"{mean.value:.4f} ± {mean.error:.4f}",
            f"{mean.errors_from(gamma_mixture.MEAN):.1f} se",
            f"{below.value:.4f} ± {below.error:.4f}",
            f"{below.errors_from(gamma_mixture.PROBABILITY_BELOW_MIDDLE):.1f} se",
            f"{to_target.value:.4f} ± {to_target.error:.4f}",
            f"{to_anytime.value:.4f} ± {to_anytime.error:.4f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
