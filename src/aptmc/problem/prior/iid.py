"""Vectors and tables of parameters, in short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from aptmc.problem.variables import Shape, checked_shape


@final
@dataclass(frozen=True)
class Copies:
    """A distribution for each number of a vector or table, as `iid` says."""

    distribution: Any
    shape: tuple[int, ...]
    dims: tuple[str, ...]
    coords: Mapping[str, Any]


def iid(
    distribution: Any,
    shape: Shape,
    *,
    dims: str | Sequence[str] = (),
    coords: Mapping[str, Sequence[Any]] | None = None,
) -> Copies:
    """A vector (or a table) of independent parameters with one distribution.

    :param distribution: frozen by `scipy.stats`, or one that depends on earlier parameters: a
        function of them or `given`. Its own parameters may be arrays, for numbers that differ
    :param shape: a number of places, or a tuple of such
    :param dims: the names of the dimensions, as in ArviZ
    :param coords: by dimension, what its places are called

    >>> from scipy import stats
    >>> import aptmc
    >>> aptmc.Prior(beta=aptmc.iid(stats.norm(0, 1), 3)).names
    ('beta[0]', 'beta[1]', 'beta[2]')
    >>> cities = {"city": ["Rome", "Oslo"]}
    >>> aptmc.Prior(beta=aptmc.iid(stats.norm(0, 1), 2, dims="city", coords=cities)).names
    ('beta[Rome]', 'beta[Oslo]')
    """
    names = (dims,) if isinstance(dims, str) else tuple(dims)
    return Copies(distribution, checked_shape("iid", shape), names, dict(coords or {}))
