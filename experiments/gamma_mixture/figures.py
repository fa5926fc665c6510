"""The paper's figures 3 and 5 from our runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from aptmc.models import gamma_mixture
from experiments.figures import BLUE, DARK, GREEN, LIGHT, VERMILLION, style
from experiments.gamma_mixture.bias import EDGES, Bias
from experiments.gamma_mixture.efficiency import Efficiency

X = 0.5 * (EDGES[1:] + EDGES[:-1])
SMOOTHING = 0.05  # standard deviation of the kernel, in units of x

COMPLEXITY = ("constant", "linear", "quadratic", "cubic")


def smoothed_density(distribution: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """A kernel density estimate from the shares of draws below each edge."""
    from scipy.ndimage import gaussian_filter1d

    width = EDGES[1] - EDGES[0]
    density = np.diff(distribution, prepend=0.0) / width
    # Nothing lies below 0: what the kernel puts there is folded back.
    return np.asarray(gaussian_filter1d(density, SMOOTHING / width, mode="reflect"))


def draw_bias(results: list[Bias], path: Path) -> None:
    """Densities of the cold chain, corrected and uncorrected, beside the exact ones."""
    names = list(dict.fromkeys(result.sampler.name for result in results))
    powers = sorted({result.power for result in results})
    with style() as pyplot:
        figure, axes = pyplot.subplots(
            len(names),
            len(powers),
            figsize=(1.75 * len(powers), 1.35 * len(names) + 0.7),
            sharex=True,
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for row, name in enumerate(names):
            for column, power in enumerate(powers):
                panel = axes[row, column]
                panel.plot(X, gamma_mixture.density(X, power), color=LIGHT, label="exact anytime α")
                panel.plot(X, gamma_mixture.density(X), color=DARK, label="exact target π")
                for result in results:
                    if (result.sampler.name, result.power) != (name, power):
                        continue
                    panel.plot(
                        X,
                        smoothed_density(result.distribution),
                        color=BLUE if result.corrected else VERMILLION,
                        linestyle=(0, (4, 2)) if result.corrected else (0, (4, 1.5, 1, 1.5)),
                        label="corrected" if result.corrected else "uncorrected",
                    )
                panel.set_xlim(0, 10)
                panel.set_ylim(0, 0.95)
                if row == 0:
                    panel.set_title(f"p = {power} ({COMPLEXITY[power]})")
                if row == len(names) - 1:
                    panel.set_xlabel("x")
            axes[row, 0].set_ylabel(f"{name}\ndensity")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        figure.savefig(path)
        pyplot.close(figure)


def draw_autocorrelation(results: list[Efficiency], path: Path) -> None:
    """The cold chain's autocorrelation, mean over runs."""
    colours = {"APTMC-W": BLUE, "APTMC-1": VERMILLION, "MCMC": GREEN}
    powers = sorted({result.power for result in results if result.power < 3})
    with style() as pyplot:
        figure, axes = pyplot.subplots(
            1,
            len(powers),
            figsize=(7.0, 2.1),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for panel, power in zip(axes[0], powers, strict=True):
            for result in results:
                if result.power == power and result.name in colours:
                    panel.plot(result.acf, color=colours[result.name], label=result.name)
            panel.axhline(0.0, color=LIGHT, linewidth=0.6)
            panel.set_xlim(0, 2500)
            panel.set_title(f"p = {power}")
            panel.set_xlabel("lag, in draws")
        axes[0, 0].set_ylabel("autocorrelation of x")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path)
        pyplot.close(figure)
