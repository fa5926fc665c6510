"""Numbers of runs that nobody would complain of."""

from __future__ import annotations

import math

import numpy as np

from aptmc.result.advice import VitalSigns

GOOD = VitalSigns(
    kind="powers",
    levels=(1.0, 0.3, 0.1, 0.0),
    swap_rates=np.array([0.4, 0.5, 0.3]),
    round_trips=20,
    draws=10_000,
    distinct=3000,
    effective_draws=900.0,
    r_hat=1.01,
    utilisation=0.97,
    has_barriers=False,
    simulations=0,
    failures=0,
    started_late=0.1,
    last_rungs=4,
)
GOOD_ABC = GOOD._replace(
    kind="tolerances", levels=(0.1, 0.3, 1.0, math.inf), simulations=50_000, failures=100
)
