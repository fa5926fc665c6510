"""Distances between simulated and observed data, ready-made for likelihood-free inference.

A distance is a function of two arrays of one shape, simulated and observed, that returns a number.
Those made here are compiled: Python and compiled code may call them alike. NaN in either array
makes the distance NaN: it tells of a broken simulator, and should not pass for a miss.
"""

from aptmc.distance.norms import Distance, log_supremum, p_norm
from aptmc.distance.parts import by_part
from aptmc.distance.prior_scales import scales_from_prior

__all__ = ["Distance", "by_part", "log_supremum", "p_norm", "scales_from_prior"]
