"""How fast does the cold chain mix? IAT and ESS beside the paper's table 1, and the acf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import aptmc
from aptmc.diagnostics import autocorrelation, integrated_autocorrelation_time
from aptmc.models import gamma_mixture
from experiments.gamma_mixture.cut_holds import run_with_cut_holds
from experiments.gamma_mixture.samplers import APTMC_1, APTMC_W, MCMC, POWERS
from experiments.parallel import in_parallel

UNIT = 1e6  # ESS is given per this much virtual time, as in the paper

RunMaker = Callable[[int, float, int], list[npt.NDArray[np.float64]]]


class Published(NamedTuple):
    """A pair of numbers from the paper's table 1."""

    iat: float
    ess: float


PAPER = {
    ("APTMC-W", 0): Published(53.925, 12049.0),
    ("APTMC-W", 1): Published(45.942, 5888.3),
    ("APTMC-W", 2): Published(80.871, 1168.4),
    ("APTMC-W", 3): Published(131.91, 116.51),
    ("APTMC-1", 0): Published(81.156, 1202.2),
    ("APTMC-1", 1): Published(95.104, 708.74),
    ("APTMC-1", 2): Published(132.79, 448.92),
    ("MCMC", 0): Published(1739.0, 287.46),
    ("MCMC", 1): Published(2818.2, 64.047),
}


class Efficiency(NamedTuple):
    """Integrated autocorrelation times of several runs of one sampler."""

    name: str
    power: int
    iat: list[float]
    ess: list[float]  # per unit
    acf: npt.NDArray[np.float64]

    @property
    def median_iat(self) -> float:
        """Over the runs."""
        return float(np.median(self.iat))

    @property
    def median_ess(self) -> float:
        """Over the runs, per unit of virtual time."""
        return float(np.median(self.ess))


def deadline(power: int) -> float:
    """The paper's delta."""
    return 30.0 if power == 3 else 5.0


def _sampled(sampler: object) -> RunMaker:
    def run(power: int, budget: float, seed: int) -> list[npt.NDArray[np.float64]]:
        every = deadline(power)
        result: aptmc.Run = sampler.run(power, budget=budget, seed=seed, every=every)  # type: ignore[attr-defined]
        return result.series("x")

    return run


def _cut(power: int, budget: float, seed: int) -> list[npt.NDArray[np.float64]]:
    return run_with_cut_holds(power, budget=budget, every=deadline(power), seed=seed)


# "as published" is the authors' one-processor program, which cuts hold times at deadlines.
SAMPLERS: dict[str, RunMaker] = {
    "APTMC-W": _sampled(APTMC_W),
    "APTMC-1": _sampled(APTMC_1),
    "APTMC-1, holds cut": _cut,
    "MCMC": _sampled(MCMC),
}


def measure(
    name: str, power: int, *, budget: float, runs: int, lags: int = 2500, seed: int = 1
) -> Efficiency:
    """IAT of the cold chain in several runs; where two chains are cold, their acf is averaged.

    The mean is known, and using it avoids the bias of short runs that never leave a mode.
    """
    make_run = SAMPLERS[name]

    def one(seed: int) -> tuple[float, float, npt.NDArray[np.float64]]:
        chains = make_run(power, budget, seed)
        iat = integrated_autocorrelation_time(chains, mean=gamma_mixture.MEAN)
        draws = float(np.mean([chain.size for chain in chains]))
        acf = autocorrelation(chains, lags, mean=gamma_mixture.MEAN)
        return iat, draws / iat / (0.95 * budget / UNIT), acf

    results = in_parallel(one, range(seed, seed + runs))
    iat, ess, acf = zip(*results, strict=True)
    shortest = min(len(one) for one in acf)
    return Efficiency(
        name, power, list(iat), list(ess), np.mean([one[:shortest] for one in acf], axis=0)
    )


def measure_all(
    *, scale: float, runs: int, names: Sequence[str] = tuple(SAMPLERS)
) -> list[Efficiency]:
    """All samplers and powers, for the paper's virtual times by `scale`."""
    return [
        measure(name, power, budget=scale * (1e6 if power == 0 else 1e7), runs=runs)
        for name in names
        for power in POWERS
    ]


def table(results: list[Efficiency]) -> str:
    """Ours beside the paper's, in Markdown."""
    lines = [
        "| sampler | p | IAT: median (range) | IAT, paper | ESS per 10⁶ units | ESS, paper |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for result in results:
        published = PAPER.get((result.name.split(",")[0], result.power))
        cells = [
            result.name,
            str(result.power),
            f"{result.median_iat:.1f} ({min(result.iat):.1f}-{max(result.iat):.1f})",
            f"{published.iat:.1f}" if published else "-",
            f"{result.median_ess:.0f}",
            f"{published.ess:.0f}" if published else "-",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
