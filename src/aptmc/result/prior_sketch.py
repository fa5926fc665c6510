"""The prior of a likelihood-free problem in a few numbers, to be compared with its draws."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from aptmc.compiled import Floats
from aptmc.diagnostics.likeness import Sketch, is_like
from aptmc.diagnostics.summary import Summary
from aptmc.problem import Problem
from aptmc.problem.base import is_problem
from aptmc.problem.prior_shape import draws_of_prior


@lru_cache(maxsize=8)
def sketches_of(problem: Problem) -> dict[str, Sketch]:
    """By label; none, if there is nothing to compare: a likelihood may well say nothing."""
    if not problem.has_simulator or problem.reference is None:
        return {}
    parameters = draws_of_prior(problem)
    return {label: Sketch.of(parameters[:, place]) for place, label in enumerate(problem.labels)}


def to_notes(sketches: Mapping[str, Sketch]) -> dict[str, Any]:
    """As a store can hold them."""
    return {
        label: [list(one.values), list(one.shares), one.draws] for label, one in sketches.items()
    }


def known_sketches(problem: Any) -> dict[str, Sketch]:
    """Those of a problem, or those that a store has of one."""
    if is_problem(problem):
        return sketches_of(problem)
    said: Mapping[str, Any] = getattr(problem, "prior", None) or {}
    return {
        label: Sketch(tuple(values), tuple(shares), int(draws))
        for label, (values, shares, draws) in said.items()
    }


def like_the_prior(
    summary: Summary, draws: Mapping[str, list[Floats]], sketches: Mapping[str, Sketch]
) -> tuple[str, ...]:
    """The parameters whose draws cannot be told from the prior's."""
    return tuple(
        label
        for label, row in summary.items()
        if label in sketches and is_like(np.concatenate(draws[label]), row.ess, sketches[label])
    )
