"""Find a problem that a user names on the command line."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from aptmc.errors import InputError
from aptmc.problem import Problem
from aptmc.problem.base import is_problem


def find_problem(place: str) -> Problem:
    """The problem at file.py:name or package.module:name; a function is called."""
    where, colon, name = place.rpartition(":")
    if not colon or not where or not name:
        raise InputError(f"{place!r} names no problem: use file.py:name or package.module:name")
    module = _from_file(Path(where)) if where.endswith(".py") else _from_package(where)
    if not hasattr(module, name):
        found = [key for key, value in vars(module).items() if is_problem(value)]
        known = f"; there is {', '.join(found)}" if found else ""
        raise InputError(f"{where} has no {name!r}{known}")
    value = getattr(module, name)
    if not is_problem(value) and callable(value):
        try:
            value = value()
        except Exception as error:
            raise InputError(f"{place}() raised {type(error).__name__}: {error}") from error
    if not is_problem(value):
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
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        del sys.modules[path.stem]
        where = f"{path}, line {_line(error, path)}"
        raise InputError(f"{where}: {type(error).__name__}: {_words(error)}") from error
    return module


def _line(error: Exception, path: Path) -> int | None:
    """The line of a file where an error came from, if it came from there."""
    if isinstance(error, SyntaxError):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == path]
    return lines[-1] if lines else None


def _words(error: Exception) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _from_package(name: str) -> ModuleType:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(f"there is no module {name!r} ({error})") from error
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        raise InputError(f"{name} cannot be imported: {words}") from error
