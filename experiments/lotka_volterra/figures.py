"""Autocorrelations and timelines."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import aptmc
from experiments.figures import BLUE, DARK, GREEN, LIGHT, VERMILLION, style
from experiments.lotka_volterra.measures import Measured
from experiments.lotka_volterra.samplers import PARAMETERS, Sampler, barrier_times

COLOURS = (GREEN, BLUE, VERMILLION, DARK, LIGHT)


def draw_autocorrelation(results: list[Measured], path: Path, lags: int = 200) -> None:
    """The cold chain's autocorrelation for each parameter."""
    with style() as pyplot:
        figure, axes = pyplot.subplots(1, 3, figsize=(7.0, 2.2), sharey=True, layout="constrained")
        for panel, name in zip(axes, PARAMETERS, strict=True):
            for result, colour in zip(results, COLOURS, strict=False):
                acf = result.acf(name, lags)
                panel.plot(acf, color=colour, label=result.sampler.name)
            panel.axhline(0.0, color=LIGHT, linewidth=0.6)
            panel.set_title(name)
            panel.set_xlabel("lag, in draws")
            panel.set_xlim(0, lags)
        axes[0].set_ylabel("autocorrelation")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path)
        pyplot.close(figure)


def completion_times(
    sampler: Sampler, budget: float, seed: int
) -> tuple[aptmc.Run, list[np.ndarray]]:
    """When each pool of a partitioned sampler completed a move."""
    run = sampler.run(budget, seed, keep="all", warmup_share=0.0)
    layout = sampler.pools.layout(run.settings.ladder, sampler.processors)
    by_pool: list[list[np.ndarray]] = [[] for _ in range(layout.pools)]
    rungs = range(run.settings.ladder.rungs)
    chains = [draws for rung in rungs for draws in run.chains(rung)]
    for chain, draws in enumerate(chains):
        by_pool[layout.pool[chain]].append(draws.time[~draws.exchanged])
    return run, [np.sort(np.concatenate(times)) for times in by_pool]


def draw_timelines(samplers: list[Sampler], path: Path, *, budget: float, seed: int = 3) -> None:
    """Processors at work (moves, alternately dark and light) and idle (white), one row each."""
    with style() as pyplot:
        figure, axes = pyplot.subplots(
            len(samplers), 1, figsize=(7.0, 1.0 + 1.1 * len(samplers)), sharex=True,
            layout="constrained", squeeze=False,
        )  # fmt: skip
        for panel, sampler in zip(axes[:, 0], samplers, strict=True):
            run, pools = completion_times(sampler, budget, seed)
            barriers = barrier_times(run)
            for row, completed in enumerate(pools):
                # Without barriers the last move is still under way at the end.
                ends = completed if barriers.size else np.append(completed, budget)
                begins = np.concatenate([[0.0], ends[:-1]])
                if barriers.size:
                    # The first move after a barrier begins there, not where the last one ended.
                    last = np.searchsorted(barriers, ends, side="left") - 1
                    begins = np.maximum(begins, np.where(last >= 0, barriers[last], 0.0))
                for place, (begin, end) in enumerate(zip(begins, ends, strict=True)):
                    shade = BLUE if place % 2 else "#56B4E9"
                    panel.barh(row, end - begin, left=begin, height=0.8, color=shade, linewidth=0)
            panel.set_yticks(
                range(len(pools)), [f"processor {row + 1}" for row in range(len(pools))]
            )
            panel.set_title(f"{sampler.name}: {run.utilisation:.0%} busy")
            panel.set_xlim(0, budget)
            panel.invert_yaxis()
        axes[-1, 0].set_xlabel("virtual time, in Gillespie events of one processor")
        figure.savefig(path)
        pyplot.close(figure)
