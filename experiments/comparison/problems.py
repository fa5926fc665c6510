"""All problems, by name."""

from __future__ import annotations

from typing import Any

from experiments.comparison.densities import DENSITIES
from experiments.comparison.simulators import SIMULATORS

PROBLEMS: dict[str, Any] = {**DENSITIES, **SIMULATORS}
