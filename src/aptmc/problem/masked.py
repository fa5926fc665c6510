"""Masked arrays of numpy, in which some entries are no data.

`np.asarray` forgets what is masked, and what lies under a mask is anything: 0.0 for `np.ma.masked`,
the value that a file has for what is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def has_masked(value: Any) -> bool:
    """Whether an entry of it is masked."""
    if type(value) is np.ndarray or not isinstance(value, np.ma.MaskedArray):
        return False
    return bool(np.ma.is_masked(value))
