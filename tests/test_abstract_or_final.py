"""Classes are abstract or final: whoever reads a method knows that it is the one that is called."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator

import aptmc
import aptmc.exchange
import aptmc.kernels
import aptmc.problem
import aptmc.schedule

# What users extend by one small class has defaults, which a final class replaces once.
EXTENSIBLE = {
    aptmc.exchange.Rule,
    aptmc.kernels.Kernel,
    aptmc.problem.Problem,
    aptmc.schedule.Schedule,
}


def our_classes() -> set[type]:
    for module in pkgutil.walk_packages(aptmc.__path__, "aptmc."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {
        found
        for name, module in list(sys.modules.items())
        if name.split(".")[0] == "aptmc"
        for found in vars(module).values()
        if inspect.isclass(found) and found.__module__.split(".")[0] == "aptmc"
    }


def overridden(kind: type, ours: set[type]) -> Iterator[str]:
    """Methods of a class that take the place of others that could have been called."""
    for base in kind.__mro__[1:]:
        if base not in ours or base in EXTENSIBLE:
            continue
        for name, method in vars(base).items():
            is_method = isinstance(method, property | classmethod | staticmethod) or callable(
                method
            )
            is_abstract = getattr(method, "__isabstractmethod__", False)
            if name in vars(kind) and is_method and not is_abstract and not name.startswith("__"):
                yield f"{kind.__name__}.{name} overrides {base.__name__}.{name}"


def test_no_method_is_overridden():
    ours = our_classes()
    assert len(ours) > 100
    assert [one for kind in ours for one in overridden(kind, ours)] == []


def test_an_overridden_method_would_be_seen():
    class Base(ABC):
        @abstractmethod
        def allowed(self): ...

        def wrong(self):
            return 1

        @property
        def wrong_too(self):
            return 1

    class Derived(Base):
        def allowed(self): ...

        def wrong(self):
            return 1

        @property
        def wrong_too(self):
            return 1

    found = list(overridden(Derived, {Base, Derived}))
    assert found == [
        "Derived.wrong overrides Base.wrong",
        "Derived.wrong_too overrides Base.wrong_too",
    ]
