"""A budget that is a number of moves or simulations, and no time.

It is for the whole run: the search for first states, the warm-up and the sampling. What is in
flight when it is used up does not count, as with any other budget.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from aptmc.errors import InputError

MOVES, SIMULATIONS, EVALUATIONS = "moves", "simulations", "evaluations"
UNITS = (MOVES, SIMULATIONS, EVALUATIONS)
# What people who come from other samplers ask for.
OTHERS = {
    "step": "say how many moves, or how many evaluations, of which a local step takes one or more",
    "steps": "say how many moves, or how many evaluations, of which a local step takes one or more",
    "iterations": "say how many moves, simulations or evaluations",
    "draws": 'say how many moves, or go on until there are enough, until="400 effective draws"',
    "samples": 'say how many moves, or go on until there are enough, until="400 effective draws"',
    "populations": "tolerances come down as far as the budget allows: say how many simulations",
    "generations": "tolerances come down as far as the budget allows: say how many simulations",
}
# Seconds that are as good as none, which nobody waits for: ten years.
NO_LIMIT = 3.2e8


class Quota(NamedTuple):
    """How much is to be computed."""

    most: float
    unit: str

    def __str__(self) -> str:
        return f"{self.most:,.0f} {self.unit}"


def quota_in(said: object, name: str = "budget") -> Quota | None:
    """A number of moves or of what they compute, if that is what is said.

    >>> quota_in("10_000 simulations")
    Quota(most=10000.0, unit='simulations')
    >>> quota_in("10 min")
    """
    match = re.fullmatch(r"([0-9][0-9_,.]*(?:e[+]?[0-9]+)?)\s*([a-z]+)", str(said).strip().lower())
    if not isinstance(said, str) or match is None:
        return None
    plural = match[2] if match[2].endswith("s") else f"{match[2]}s"
    if plural in OTHERS or match[2] in OTHERS:
        remedy = OTHERS.get(match[2]) or OTHERS[plural]
        raise InputError(f"{name} cannot be counted in {match[2]}, got {said!r}: {remedy}")
    if plural not in UNITS:
        return None
    try:
        most = float(match[1].replace(",", "").replace("_", ""))
    except ValueError:
        most = math.nan
    if not 1.0 <= most < math.inf:
        raise InputError(f'{name} must be a positive number, got {said!r}: use "10000 {plural}"')
    return Quota(most, plural)
