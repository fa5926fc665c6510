"""README's first example, as a problem for the command line."""

from scipy import stats

import aptmc


def log_likelihood(theta):
    """Two modes, far apart."""
    return -0.5 * (abs(theta[0]) - 8.0) ** 2


problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(-20, 40)))
