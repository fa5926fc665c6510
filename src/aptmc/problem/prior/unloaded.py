"""A distribution of `scipy.stats` by its name, for processes that have no need of scipy.

A worker evaluates a prior of known families, and draws from it, with tables of numbers. To load
`scipy.stats` takes most of a second, so that a worker does so only if it is asked for the
distribution itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, final

from aptmc.problem.prior.independent import Independent
from aptmc.problem.prior.part import Tables
from aptmc.problem.variables import Variable


@final
class Unloaded:
    """Stands for a frozen distribution, which is made when one of its attributes is asked for."""

    def __init__(self, family: str, positional: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        self._as_frozen = (family, positional, named)

    @cached_property
    def _frozen(self) -> Any:
        from scipy import stats

        family, positional, named = self._as_frozen
        return getattr(stats, family)(*positional, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # pickle and copy ask before there is anything to answer with
            raise AttributeError(name)
        return getattr(self._frozen, name)


def without_scipy(part: Independent) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """How a part of known families is pickled for a worker, or None if it needs scipy."""
    tables, frozen = part.tables(), part.distribution
    if tables is None or isinstance(frozen, Unloaded):
        return None
    return _part_of, (part.variables, tables, frozen.dist.name, frozen.args, frozen.kwds)


def _part_of(
    variables: tuple[Variable, ...],
    tables: Tables,
    family: str,
    positional: tuple[Any, ...],
    named: Mapping[str, Any],
) -> Independent:
    part = Independent(variables, Unloaded(family, positional, named))
    vars(part)["_tables"] = tables  # computed already
    return part
