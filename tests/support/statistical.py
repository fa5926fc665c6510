"""Statistical checks whose false-alarm rate is known.

Every check here is used twice: once where it must pass, once where a planted error must fail it.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

# Chance that one check fails although all is well. With fixed seeds it fails always or never.
FALSE_ALARM = 1e-6


def follows(draws, distribution_function) -> bool:
    """Whether independent draws agree with a distribution (Kolmogorov-Smirnov)."""
    return stats.kstest(draws, distribution_function).pvalue > FALSE_ALARM


def standard_errors_off(estimates, expected: float) -> float:
    """How many standard errors the mean of independent runs lies from the truth."""
    estimates = np.asarray(estimates, dtype=float)
    error = estimates.std(ddof=1) / np.sqrt(estimates.size)
    return float(abs(estimates.mean() - expected) / error)
