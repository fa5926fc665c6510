"""Plots: each takes a run, also one that was opened from a store, and gives a matplotlib figure.

>>> import aptmc.plots  # doctest: +SKIP
>>> aptmc.plots.timeline(run).savefig("timeline.png")  # doctest: +SKIP
"""

from aptmc.plots.adjusted import adjusted_marginals
from aptmc.plots.intervals import intervals
from aptmc.plots.marginals import marginals
from aptmc.plots.mixing import autocorrelation, traces
from aptmc.plots.pairs import pairs
from aptmc.plots.rungs import index_process, levels, swap_rates
from aptmc.plots.style import figure
from aptmc.plots.timelines import hold_times, timeline, utilisation

__all__ = [
    "adjusted_marginals",
    "autocorrelation",
    "figure",
    "hold_times",
    "index_process",
    "intervals",
    "levels",
    "marginals",
    "pairs",
    "swap_rates",
    "timeline",
    "traces",
    "utilisation",
]
