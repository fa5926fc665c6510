"""When the sampler is compiled: what the environment says."""

from __future__ import annotations

import os

from aptmc.errors import InputError

VARIABLE = "APTMC_COMPILE"
# Aside, while plain Python goes ahead; first, while all wait; or never: what is on disk is used.
ASIDE, FIRST, NEVER = "aside", "first", "never"


def when_to_compile() -> str:
    """When functions of the library are compiled that a plain Python problem could do without."""
    said = os.environ.get(VARIABLE, ASIDE)
    if said not in (ASIDE, FIRST, NEVER):
        raise InputError(
            f"the variable {VARIABLE} must be {ASIDE!r}, {FIRST!r} or {NEVER!r}, got {said!r}"
        )
    return said
