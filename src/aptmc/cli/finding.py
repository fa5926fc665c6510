"""Find a problem that a user names on the command line."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from aptmc.errors import InputError
from aptmc.problem import Problem


def find_problem(place: str) -> Problem:
    """The problem at file.py:name or package.module:name; a function is called."""
    where, colon, name = place.rpartition(":")
    if not colon or not where or not name:
        raise InputError(f"{place!r} names no problem: use file.py:name or package.module:name")
    module = _from_file(Path(where)) if where.endswith(".py") else _from_package(where)
    if not hasattr(module, name):
        found = [key for key, value in vars(module).items() if isinstance(value, Problem)]
        known = f"; there is {', '.join(found)}" if found else ""
        raise InputError(f"{where} has no {name!r}{known}")
    value = getattr(module, name)
    if not isinstance(value, Problem) and callable(value):
        value = value()
    if not isinstance(value, Problem):
        raise InputError(f"{place} is {value!r}, not a problem: use aptmc.Tempered or aptmc.Abc")
    return value


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    # Worker processes must find it under the same name.
    sys.path.insert(0, str(path.resolve().parent))
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module


def _from_package(name: str) -> ModuleType:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(f"there is no module {name!r} ({error})") from error
