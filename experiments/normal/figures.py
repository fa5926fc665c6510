"""The paper's figure of all ten chains from our runs."""

from __future__ import annotations

from pathlib import Path

from aptmc.models import normal
from experiments.figures import BLUE, DARK, LIGHT, VERMILLION, style
from experiments.normal.bias import EDGES, TOLERANCES, Bias

X = 0.5 * (EDGES[1:] + EDGES[:-1])


def draw(corrected: Bias, uncorrected: Bias, path: Path) -> None:
    """Every rung's density, corrected and uncorrected, beside the exact one."""
    from scipy.ndimage import gaussian_filter1d

    coldest = normal.posterior_density(X, TOLERANCES[0])
    with style() as pyplot:
        figure, axes = pyplot.subplots(
            2, 5, figsize=(7.0, 3.2), sharex=True, sharey=True, layout="constrained"
        )
        for rung, panel in enumerate(axes.flat):
            panel.plot(X, coldest, color=LIGHT, label="exact, coldest rung")
            exact = normal.posterior_density(X, TOLERANCES[rung])
            panel.plot(X, exact, color=DARK, label="exact, this rung")
            for bias, colour, dashes in (
                (uncorrected, VERMILLION, (0, (4, 1.5, 1, 1.5))),
                (corrected, BLUE, (0, (4, 2))),
            ):
                smooth = gaussian_filter1d(bias.density(rung), 4.0)
                label = "corrected" if bias.corrected else "uncorrected"
                panel.plot(X, smooth, color=colour, linestyle=dashes, label=label)
            panel.set_title(f"tolerance {TOLERANCES[rung]:.2f}")
            panel.set_xlim(-1, 6)
            panel.set_ylim(0, None)
        for panel in axes[1]:
            panel.set_xlabel("θ")
        for panel in axes[:, 0]:
            panel.set_ylabel("density")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        figure.savefig(path)
        pyplot.close(figure)
