"""Settings for tests that build sessions themselves."""

from __future__ import annotations

import aptmc
from aptmc.settings import Settings


def given(problem, ladder, kernel, schedule, *, pools=None, processors=1, **others) -> Settings:
    """All that a session needs, on a simulated machine unless another backend is named."""
    defaults = {"seed": 1, "budget": 1e9, "keep": "all", "on": aptmc.VirtualTime(processors)}
    return Settings(
        problem=problem,
        ladder=ladder,
        kernel=kernel,
        schedule=schedule,
        pools=pools or aptmc.Shared(),
        **(defaults | others),
    )
