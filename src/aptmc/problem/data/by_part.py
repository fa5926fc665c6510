"""Distances of data with names: of the whole, or one for each part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats, is_compiled
from aptmc.errors import InputError
from aptmc.problem.base import check_function
from aptmc.problem.data.layout import Branch, Part, path
from aptmc.problem.data.unscaled import Unscaled
from aptmc.problem.simulator import call_checked, compile_for, number_from


@final
@dataclass(frozen=True, eq=False)
class ByPart:
    """A distance for each part, put together: (sum (weight * distance) ** order) ** (1 / order)."""

    distances: Mapping[str, Any]
    weights: Mapping[str, float] = field(default_factory=dict)
    order: float = 1.0

    def together(self, found: Mapping[str, float]) -> float:
        """The distance of the whole, from those of the parts."""
        weighted = [self.weights.get(name, 1.0) * away for name, away in found.items()]
        return float(np.linalg.norm(weighted, self.order))


def distance_of(distance: Any, part: Part, flat: Floats, simulated: Any) -> float:
    """How far a simulation of some data is from them.

    :param flat: all its numbers
    :param simulated: the same as the simulator gave it, which plain Python functions are called
        with; compiled ones take numbers
    """
    if isinstance(distance, ByPart):
        assert isinstance(part, Branch)
        given, slices = part.parts_of(simulated), part.slices
        return distance.together(
            {
                name: distance_of(one, part.parts[name], flat[slices[name]], given[name])
                for name, one in distance.distances.items()
            }
        )
    name = f"the distance of {part.name!r}" if part.name else "distance"
    if is_compiled(distance):
        # Copies, so that a function which changes its arguments does no harm.
        ours, theirs = part.as_array(flat.copy()), part.as_array(part.flat.copy())
        return number_from(name, call_checked(name, distance, ours, theirs))
    ours = part.as_given(flat.copy(), simulated)
    return number_from(name, call_checked(name, distance, ours, part.observed_as_given))


def make_ready(distance: Any, part: Part) -> None:
    """Compile distances for the parts that they are given."""
    if isinstance(distance, ByPart) and isinstance(part, Branch):
        for name, one in distance.distances.items():
            make_ready(one, part.parts[name])
        return
    observed = part.as_array(part.flat.copy())
    compile_for(distance, observed, observed)


# Of distances by name: what to write instead. They are made in a part that knows problems.
READY_MADE = {
    "euclidean": "distance=aptmc.distance.p_norm(2)",
    "manhattan": "distance=aptmc.distance.p_norm(1)",
    "cityblock": "distance=aptmc.distance.p_norm(1)",
    "chebyshev": "distance=aptmc.distance.p_norm(math.inf)",
    "maximum": "distance=aptmc.distance.p_norm(math.inf)",
}

# Functions that make a distance, with what they may be given.
MAKERS = {"p_norm": "2", "by_part": "..."}


def checked(distance: Any, part: Part) -> Any:
    """A distance that fits the data: a dictionary becomes distances by part."""
    if isinstance(distance, str):
        raise InputError(
            f"distance must be a function of simulated and observed data, got {distance!r}: use "
            f"{READY_MADE.get(distance.lower(), 'distance=aptmc.distance.p_norm(2)')}"
        )
    made_by = getattr(distance, "__name__", "")
    if made_by in MAKERS and getattr(distance, "__module__", "").startswith("aptmc.distance"):
        raise InputError(
            f"aptmc.distance.{made_by} makes a distance and is none: call it, "
            f"distance=aptmc.distance.{made_by}({MAKERS[made_by]})"
        )
    if isinstance(distance, Mapping):
        distance = ByPart(distance)
    if not isinstance(distance, ByPart):
        if not isinstance(distance, Unscaled):
            name = f"distance[{part.name!r}]" if part.name else "distance"
            check_function(distance, name, "simulated, observed")
        return distance
    whole = part.words if part.name else "observed"
    if not isinstance(part, Branch):
        raise InputError(
            f"distances are given by name, for {', '.join(map(repr, distance.distances))}, but "
            f"{whole} has no parts: give a dictionary of data, or one distance"
        )
    unknown = [name for name in distance.distances if name not in part.parts]
    if unknown:
        raise InputError(
            f"a distance is given for {unknown[0]!r}, but {whole} has no such part: it has "
            f"{', '.join(map(repr, part.parts))}"
        )
    inner = {name: checked(one, part.parts[name]) for name, one in distance.distances.items()}
    return ByPart(inner, distance.weights, distance.order)


def left_out(distance: Any, part: Part) -> Iterator[str]:
    """The parts of the data for which there is no distance."""
    if isinstance(distance, ByPart) and isinstance(part, Branch):
        for name, inner in part.parts.items():
            if name in distance.distances:
                yield from left_out(distance.distances[name], inner)
            else:
                yield path(part.name, name)


def unscaled_in(distance: Any, part: Part, first: int = 0) -> Iterator[tuple[Unscaled, Part, int]]:
    """The distances that wait for scales, with their parts and where their numbers begin."""
    if isinstance(distance, Unscaled):
        yield distance, part, first
    elif isinstance(distance, ByPart) and isinstance(part, Branch):
        for name, one in distance.distances.items():
            yield from unscaled_in(one, part.parts[name], first + part.slices[name].start)


def with_scales(
    distance: Any, part: Part, scales: Mapping[Unscaled, Floats], first: int = 0
) -> Any:
    """The same distances, with scales: by what waits for them, one for each number of the data."""
    if isinstance(distance, Unscaled):
        return distance.scaled(part.as_array(scales[distance][first : first + part.size]))
    if isinstance(distance, ByPart) and isinstance(part, Branch):
        inner = {
            name: with_scales(one, part.parts[name], scales, first + part.slices[name].start)
            for name, one in distance.distances.items()
        }
        return ByPart(inner, distance.weights, distance.order)
    return distance
