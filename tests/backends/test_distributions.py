"""When workers load scipy's distributions: by name, or with a module of the user's."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aptmc.backends.processes.distributions import needs_distributions

PAYLOAD = b"...own_model..."


def loaded(path: str | None = "/elsewhere/own_model.py", **content: Any) -> dict[str, Any]:
    module = ModuleType("own_model")
    module.__file__ = path  # type: ignore[assignment]
    vars(module).update(content)
    return {"own_model": module, "scipy.stats": stats}


def test_a_problem_that_names_them() -> None:
    assert needs_distributions(b"...scipy.stats._continuous_distns...", {})
    assert not needs_distributions(b"...scipy.special...", {"scipy.stats": stats})


@pytest.mark.parametrize(
    "content",
    [{"stats": stats}, {"norm": stats.norm}, {"prior": stats.norm(0, 1)}, {"test": stats.kstest}],
)
def test_a_module_of_the_users_that_has_imported_them(content: dict[str, Any]) -> None:
    assert needs_distributions(PAYLOAD, loaded(math=math, np=np, **content))
    assert not needs_distributions(b"...another...", loaded(**content))
    installed = f"{sys.prefix}/lib/own_model.py"
    assert not needs_distributions(PAYLOAD, loaded(installed, **content))
    assert not needs_distributions(PAYLOAD, loaded(None, **content))


def test_a_module_that_has_not() -> None:
    assert not needs_distributions(PAYLOAD, loaded(math=math, np=np, simulate=len, number=3))
    without = loaded(stats=stats)
    del without["scipy.stats"]
    assert not needs_distributions(PAYLOAD, without)


def test_much_data_is_looked_through_for_the_names_of_the_users_alone() -> None:
    """A gigabyte takes some 0.1 s for each name, and libraries have well over a thousand."""

    class Counting(bytes):
        searches = 0

        def __contains__(self, name: Any) -> bool:
            Counting.searches += 1
            return super().__contains__(name)

    libraries = {f"library{each}": math for each in range(1000)}
    assert needs_distributions(Counting(PAYLOAD), libraries | loaded(stats=stats))
    assert Counting.searches == 2
