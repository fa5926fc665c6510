"""Models of PyMC for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

SCHOOLS = ["Choate", "Deerfield", "Andover", "Exeter", "Hotchkiss", "Lawrence", "St Paul", "Mt"]
EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def mean_model(pm: Any, data: Any = (2.0, 4.0), width: float = 3.0) -> Any:
    """One mean, whose posterior is normal and known."""
    with pm.Model() as model:
        mean = pm.Normal("mean", 0.0, width)
        pm.Normal("y", mean, 1.0, observed=np.array(data))
    return model
