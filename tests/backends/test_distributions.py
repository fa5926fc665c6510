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
