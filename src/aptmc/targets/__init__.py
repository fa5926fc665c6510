"""Targets: functions as machine code, or as plain Python with the same results bit for bit."""

from aptmc.targets.interpreted import (
    at_hand,
    compiled_for_user,
    from_python,
    from_python_once,
    interpreted,
    is_compiled_for_user,
    needed_by,
    quietly,
)
from aptmc.targets.target import INTERPRETED, NUMBA, Numba, Target, target_of

__all__ = [
    "INTERPRETED",
    "NUMBA",
    "Numba",
    "Target",
    "at_hand",
    "compiled_for_user",
    "from_python",
    "from_python_once",
    "interpreted",
    "is_compiled_for_user",
    "needed_by",
    "quietly",
    "target_of",
]
