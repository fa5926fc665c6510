"""What approximate Bayesian computation has reached on the benchmark, as published with its paper.

From the tables of its results (github.com/sbi-benchmark/results, in `benchmarking_sbi/results`):
rejection and sequential Monte Carlo, the benchmark's own and pyABC's, with all settings that were
tried, 10 to 1000 particles, with and without a kernel density; and both with linear regression. Of
each those settings are taken that did best in the mean over all ten observations of a task, which
one can know only afterwards; the number is their mean over observations 1 to 3.
"""

from __future__ import annotations

# By task and number of simulations: without regression, and with.
BEST: dict[tuple[str, int], tuple[float, float]] = {
    ("two_moons", 1_000): (0.924, 0.863),
    ("two_moons", 10_000): (0.609, 0.800),
    ("two_moons", 100_000): (0.515, 0.683),
    ("gaussian_mixture", 1_000): (0.793, 0.773),
    ("gaussian_mixture", 10_000): (0.729, 0.727),
    ("gaussian_mixture", 100_000): (0.641, 0.677),
    ("sir", 1_000): (0.916, 0.743),
    ("sir", 10_000): (0.608, 0.582),
    ("sir", 100_000): (0.596, 0.556),
    ("slcp", 1_000): (0.985, 0.985),
    ("slcp", 10_000): (0.974, 0.982),
    ("slcp", 100_000): (0.957, 0.955),
    ("gaussian_linear", 1_000): (0.900, 0.734),
    ("gaussian_linear", 10_000): (0.813, 0.715),
    ("gaussian_linear", 100_000): (0.736, 0.698),
}
