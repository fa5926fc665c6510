"""Plots: each takes a run, also one that was opened from a store, and gives a matplotlib figure.

>>> import aptmc.plots  # doctest: +SKIP
>>> aptmc.plots.timeline(run).savefig("timeline.png")  # doctest: +SKIP
"""

from aptmc.plots.adjusted import adjusted_marginals
from aptmc.plots.mixing import autocorrelation
from aptmc.plots.posterior import marginals, pairs
from aptmc.plots.rungs import index_process, levels, swap_rates
from aptmc.plots.style import figure
from aptmc.plots.timelines import hold_times, timeline, utilisation

__all__ = [
    "adjusted_marginals",
    "autocorrelation",
    "figure",
    "hold_times",
    "index_process",
    "levels",
    "marginals",
    "pairs",
    "swap_rates",
    "timeline",
    "utilisation",
]
