"""A run in several sittings: what each used, taken together."""

from __future__ import annotations

import numpy as np

from aptmc.compiled import Floats
from aptmc.session.session import Overhead, Usage


def with_earlier(usage: Usage, earlier: Usage | None) -> Usage:
    """One sitting after another, taken together."""
    if earlier is None:
        return usage
    size = max(usage.busy.size, earlier.busy.size)
    present = None
    fixed = usage.present is None and earlier.present is None
    if not (fixed and usage.busy.size == earlier.busy.size):
        present = _padded(_present(usage), size) + _padded(_present(earlier), size)
    overhead = Overhead(*map(sum, zip(usage.overhead, earlier.overhead, strict=True)))
    elapsed = usage.elapsed + earlier.elapsed
    others = usage.others * usage.elapsed + earlier.others * earlier.elapsed
    return usage._replace(
        elapsed=elapsed,
        busy=_padded(usage.busy, size) + _padded(earlier.busy, size),
        present=present,
        overhead=overhead,
        others=others / elapsed if elapsed > 0.0 else 0.0,
        repeats_itself=usage.repeats_itself or earlier.repeats_itself,
    )


def _present(usage: Usage) -> Floats:
    if usage.present is not None:
        return usage.present
    return np.full(usage.busy.size, usage.elapsed)


def _padded(values: Floats, size: int) -> Floats:
    return np.pad(values, (0, size - values.size))
