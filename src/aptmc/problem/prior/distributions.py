"""Frozen distributions of `scipy.stats` as parts of a prior."""

from __future__ import annotations

from typing import Any

from aptmc.errors import InputError
from aptmc.problem.prior.elliptical import Elliptical
from aptmc.problem.prior.frozen import is_univariate, refuse, refuse_unfrozen
from aptmc.problem.prior.independent import Independent
from aptmc.problem.prior.part import Part
from aptmc.problem.prior.simplex import Simplex

# By the name of the frozen class in scipy.
VECTORS: dict[str, Any] = {
    "multivariate_normal_frozen": Elliptical,
    "multivariate_t_frozen": Elliptical,
    "dirichlet_frozen": Simplex,
}


def distribution_part(
    name: str,
    frozen: Any,
    shape: tuple[int, ...] | None = None,
    dims: Any = (),
    coords: Any = (),
) -> Part:
    """The part that a frozen distribution describes, or a clear error.

    :param shape: of the variable, if it is not the one that the distribution says itself
    """
    refuse_unfrozen(name, frozen)
    if is_univariate(frozen):
        return Independent.of(name, frozen, shape, dims, coords)
    kind = type(frozen).__name__
    is_scipys = type(frozen).__module__.startswith("scipy.stats.")
    if not is_scipys or not kind.endswith("_frozen"):
        raise refuse(name, frozen)
    if kind not in VECTORS:
        known = ", ".join(sorted(other.removesuffix("_frozen") for other in VECTORS))
        raise InputError(
            f"the distribution of {name!r} is a {kind.removesuffix('_frozen')}, which is not known "
            f"here: use {known}, or a joint prior of your own, aptmc.Prior.joint(log_density, draw)"
        )
    part: Part = VECTORS[kind].of(name, frozen, dims, coords)
    (variable,) = part.variables
    if shape is not None and shape != variable.shape:
        raise InputError(
            f"the distribution of {name!r} has shape {variable.shape} by itself, got the shape "
            f"{shape}: give it without iid"
        )
    return part
