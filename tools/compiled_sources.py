"""Print a hash of the sources that end up in compiled code.

numba's cache on disk does not notice a change in a called module, so the Makefile and the tests
give every state of these sources a cache of its own. Other sources do not matter: editing a plot
recompiles nothing.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src"
# What stands in a module that has compiled functions of its own, cached on disk.
DECORATORS = ("@compiled\n", "@inlined\n", "= standing_by(")


def compiled_sources(sources: Path = SOURCES) -> list[Path]:
    """Modules with compiled functions, and those that these import: constants become code, too."""
    own = [
        path
        for path in (sources / "aptmc").rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in DECORATORS)
    ]
    imported = {file for path in own for file in imported_by(path, sources)}
    return sorted(imported.union(own))


def imported_by(path: Path, sources: Path) -> Iterator[Path]:
    """The files of our own modules that a file imports names from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            if name != "aptmc" and not name.startswith("aptmc."):
                continue
            place = sources.joinpath(*name.split("."))
            if place.with_suffix(".py").exists():
                yield place.with_suffix(".py")


def source_hash(sources: Path = SOURCES) -> str:
    """The state of the compiled sources, in a few letters."""
    state = hashlib.sha256()
    for path in compiled_sources(sources):
        state.update(path.relative_to(sources).as_posix().encode() + b"\0" + path.read_bytes())
    return state.hexdigest()[:16]


if __name__ == "__main__":
    print(source_hash())  # noqa: T201
