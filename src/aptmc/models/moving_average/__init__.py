"""A moving average of order 2 (Marin, Pudlo, Robert and Ryder 2012), with its exact posterior.

y_t = e_t + theta1 e_{t-1} + theta2 e_{t-2} with standard normal e. The prior is uniform on the
triangle where the parameters can be told apart: |theta1| < 1 + theta2 and theta2 < 1.

Likelihood-free inference compares the autocovariances at lags 1 and 2, so its target at tolerance 0
is the posterior given these two numbers, which is wider than the posterior given the series. Three
values of the series are few enough to be compared one by one: there the target at tolerance 0 is
the posterior given the values. All targets are known, at every tolerance.
"""

from aptmc.models.moving_average.exact_posterior import (
    Moments,
    log_likelihood,
    moments_given_autocovariances,
    moments_given_values,
    posterior_moments,
)
from aptmc.models.moving_average.series import (
    LENGTH,
    OBSERVED,
    SHORT,
    TRUTH,
    autocovariance,
    distance,
    is_identifiable,
    prior,
    short_simulated_distance,
    simulate,
    simulated_distance,
)

__all__ = [
    "LENGTH", "OBSERVED", "SHORT", "TRUTH", "Moments", "autocovariance", "distance",
    "is_identifiable", "log_likelihood", "moments_given_autocovariances", "moments_given_values",
    "posterior_moments", "prior", "short_simulated_distance", "simulate", "simulated_distance",
]  # fmt: skip
