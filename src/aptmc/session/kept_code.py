"""The machine code of moves, kept on disk: a problem that was compiled once is ready at once.

numba keeps the code of functions that stand in files. A move is none of these: it is made for one
problem, of the user's functions, which may stand in a notebook. So its code is kept under a
checksum of all that it depends on (`code_content`). Where that cannot be told, it is compiled.
"""

from __future__ import annotations

import os
import pickle
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, final

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

import aptmc
from aptmc.compiled import number_apart
from aptmc.session.code_content import Unknown, content_of, is_numbered_apart
from aptmc.targets import Numba

MOST_KEPT = 1000  # files of a tenth of a megabyte; a problem has a handful
INCIDENTAL = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")


def place_of(function: Callable[..., Any]) -> KeptCode | None:
    """Where the machine code of a function is kept, or None if it must not be."""
    try:
        content = content_of(function)
    except Unknown:
        return None
    return KeptCode(function, content)


KEPT_ON_DISK = Numba(place_of)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=number_apart)


@final
class KeptCode(_Cache):
    """One function's place on disk, as numba asks for it."""

    def __init__(self, function: Callable[..., Any], content: str) -> None:
        self._function, self._content = function, content

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(_folder())

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """What was kept, if there is something and it can be read."""
        target_context.refresh()
        try:
            path = self._file(signature, target_context)
            kept = pickle.loads(path.read_bytes())
            with suppress(OSError):
                os.utime(path)  # it is in use
            return CompileResult._rebuild(target_context, *kept)
        except Exception:  # not there, not whole, or of a module that is not here: compile it
            return None

    def holds(self, signature: Any, target_context: Any) -> bool:
        """Whether something is there."""
        return self._file(signature, target_context).exists()

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep it, if nothing in it depends on this process."""
        if result.lifted or result.library.has_dynamic_globals:
            return
        if not is_numbered_apart(self._function):
            return
        with suppress(OSError, pickle.PicklingError):
            path = self._file(signature, result.target_context)
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, dumps(result._reduce()))
            _forget_old(path.parent)

    def _file(self, signature: Any, target_context: Any) -> Path:
        words = (self._content, str(signature), target_context.codegen().magic_tuple(), VERSIONS)
        return _folder() / f"{sha256(repr(words).encode()).hexdigest()[:32]}.code"

    def enable(self) -> None:
        """It is."""

    def disable(self) -> None:
        """Nobody asks for that."""

    def flush(self) -> None:
        """Nothing is held back."""


def kept_bytes(name: str) -> bytes | None:
    """What was kept under a name that says all that it depends on."""
    try:
        path = _folder() / f"{sha256(name.encode()).hexdigest()[:32]}.code"
        found = path.read_bytes()
        with suppress(OSError):
            os.utime(path)  # it is in use
    except OSError:
        return None
    return found


def keep_bytes(name: str, code: bytes) -> None:
    """Keep machine code that is no move, beside the moves."""
    with suppress(OSError):
        path = _folder() / f"{sha256(name.encode()).hexdigest()[:32]}.code"
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, code)
        _forget_old(path.parent)


def kept_folder(name: str) -> Path:
    """A folder beside the moves, for what others compile."""
    folder = _folder().parent / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _folder() -> Path:
    """Beside what numba keeps, if it was told where; else where programs keep such things."""
    told: str = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    folder = told or AppDirs("aptmc", appauthor=False).user_cache_dir
    return Path(folder) / "moves"


def _versions() -> tuple[Any, ...]:
    """The libraries whose code becomes part of a move, and what the compiler was told."""
    told = [item for item in os.environ.items() if item[0].startswith("NUMBA_")]
    return (
        tuple(sorted(_sources(os.path.dirname(aptmc.__file__)))),
        tuple(sorted(item for item in told if item[0] not in INCIDENTAL)),
        (numba.__version__, llvmlite.__version__, np.__version__, sys.version, platform.machine()),
    )


def _sources(folder: str) -> Iterator[tuple[str, int, int]]:
    """The files of the library, with their sizes and times."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                found = entry.stat()
                yield entry.path, found.st_size, found.st_mtime_ns
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _sources(entry.path)


# As they are when they are loaded: whoever edits the library later has this process keep nothing
# under the name of what is not in it.
VERSIONS = _versions()


def _write(path: Path, code: bytes) -> None:
    """All at once: whoever reads it meanwhile finds it whole, or not at all."""
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(code)
        os.replace(name, path)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        raise


def _forget_old(folder: Path) -> None:
    """Remove what was not used for longest, if there is much."""
    kept = sorted(folder.glob("*.code"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-MOST_KEPT]:
        path.unlink(missing_ok=True)
