"""What a user may give as the distribution of a parameter, as a part of a prior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aptmc.problem.prior.conditional import Conditional
from aptmc.problem.prior.distributions import distribution_part
from aptmc.problem.prior.frozen import complete, refuse_unfrozen
from aptmc.problem.prior.iid import Copies
from aptmc.problem.prior.part import Part


def make_part(name: str, said: Any, example: Callable[[], dict[str, Any]]) -> Part:
    """One named parameter: a distribution, `iid`, `given`, or a function of earlier parameters.

    :param example: gives values of the earlier parameters, by name
    """
    copies = said if isinstance(said, Copies) else Copies(said, (), (), {})
    shape = copies.shape if copies is said else None
    distribution = complete(copies.distribution)
    refuse_unfrozen(name, distribution)
    # A frozen distribution of scipy cannot be called, or belongs to one that is many.
    is_scipys = type(distribution).__module__.startswith("scipy.stats.")
    if callable(distribution) and not is_scipys:
        return Conditional.of(name, distribution, example(), shape, copies.dims, copies.coords)
    return distribution_part(name, distribution, shape, copies.dims, copies.coords)
