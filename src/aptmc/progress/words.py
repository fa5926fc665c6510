"""Times and levels as people say them."""

from __future__ import annotations

import math

from aptmc.quota import NO_LIMIT, UNITS


def duration_text(seconds: float, unit: str = "s") -> str:
    """A time as people say it, or a number of what is counted.

    >>> duration_text(42.3), duration_text(312.0), duration_text(7500.0), duration_text(3e7, "unit")
    ('42 s', '5 min 12 s', '2 h 05 min', '3e+07 units')
    """
    if unit in UNITS:
        return f"{seconds:,.0f} {unit}"
    if unit != "s":
        return f"{seconds:.4g} units"
    if seconds >= NO_LIMIT:
        return "as long as it takes"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def level_text(level: float) -> str:
    """A level of the ladder, with few digits.

    >>> level_text(0.123456), level_text(math.inf)
    ('0.123', '∞')
    """
    return "∞" if math.isinf(level) else f"{level:.3g}"
