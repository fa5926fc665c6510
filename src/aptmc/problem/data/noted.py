"""What is said about data with names: what was converted, left out, and scaled by what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from aptmc.compiled import Floats, is_compiled
from aptmc.problem.data.by_part import left_out
from aptmc.problem.data.containers import called, kind_of
from aptmc.problem.data.layout import Branch, Leaf, Part, path
from aptmc.problem.data.named_simulator import NamedSimulator
from aptmc.problem.data.unscaled import Unscaled

MOST_SCALES = 6  # of a part that are listed


def conversions(simulator: NamedSimulator, simulated: Any) -> list[str]:
    """How a simulation is made comparable with the data; fails if it cannot be."""
    part = simulator.observed
    _ = part.numbers_in(simulated)
    notes = [] if isinstance(part, Leaf) else [f"the data have the parts {in_words(part)}"]
    takes_numbers = is_compiled(simulator.distance) or isinstance(simulator.distance, Unscaled)
    if takes_numbers and isinstance(part, Branch):
        notes.append(f"distance compares all {part.size} numbers, one after the other")
    notes += _matched(part, simulated)
    notes += [f"there is no distance for {name!r}, which is not compared" for name in
              left_out(simulator.distance, part)]  # fmt: skip
    return notes


def in_words(part: Part) -> str:
    """The parts of the data, with how many numbers each has."""
    sizes = [(leaf.name, leaf.size) for leaf in part.leaves()]
    return ", ".join(f"{name} ({size} number{'' if size == 1 else 's'})" for name, size in sizes)


def scales_in_words(how: str, part: Part, scales: Floats) -> str:
    """The scales that a distance divides by, part by part."""
    found, start = [], 0
    for leaf in part.leaves():
        found.append(f"{leaf.name} {_some(scales[start : start + leaf.size])}".strip())
        start += leaf.size
    words = f"scaled by the {how}: {'; '.join(found)}"
    still = int((scales == 0.0).sum())
    if still:
        words += f" (0: {still} that never vary, and do not count)"
    return words


def _some(scales: Floats) -> str:
    if scales.size <= MOST_SCALES:
        return ", ".join(f"{scale:g}" for scale in scales)
    return f"{scales.min():g} to {scales.max():g}"


def _matched(part: Part, simulated: Any) -> Iterator[str]:
    """Where simulations look different from the data."""
    words = part.words if part.name else "observed"
    if called(simulated) != called(part.observed) and _is_worth_saying(part, simulated):
        matched = "by name" if isinstance(part, Branch) else "in order"
        ours, theirs = called(part.observed), called(simulated)
        yield f"{words} is {ours}, simulated as {theirs}: taken {matched}"
    if isinstance(part, Branch):
        given = part.parts_of(simulated)
        extra = [path(part.name, name) for name in given if name not in part.parts]
        if extra:
            named = ", ".join(map(repr, extra))
            yield f"simulations also have {named}, of which there are no data"
        for name, inner in part.parts.items():
            yield from _matched(inner, given[name])
    elif _has_more_labels(simulated, part.observed):
        count = np.size(simulated)
        yield f"{words} is simulated at {count} labels, compared at the {part.size} of the data"


def _has_more_labels(simulated: Any, observed: Any) -> bool:
    is_labelled = kind_of(observed) is not None and kind_of(simulated) == kind_of(observed)
    return is_labelled and np.size(simulated) > np.size(observed)


def _is_worth_saying(part: Part, simulated: Any) -> bool:
    """Between lists, arrays and numbers nothing can go wrong."""
    return (
        isinstance(part, Branch)
        or kind_of(part.observed) is not None
        or (kind_of(simulated) is not None)
    )
