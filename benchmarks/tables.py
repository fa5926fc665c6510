"""Where measurements are kept that are made elsewhere: on a machine that hands back one folder.

A table lies beside the script that measures it. With the environment variable OUT it is written
into that folder instead, whole, so that it can be copied over the old one.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def written_to(table: Path) -> Path:
    """The file that new measurements go to."""
    folder = os.environ.get("OUT")
    return Path(folder, table.name) if folder else table


def read(table: Path) -> Any:
    """The newest that there is; None if there is nothing yet."""
    for file in (written_to(table), table):
        if file.exists():
            return json.loads(file.read_text())
    return None


def write(table: Path, content: Any) -> None:
    """Keep it; whoever reads meanwhile sees the old one or the new."""
    file = written_to(table)
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(".part")
    beside.write_text(json.dumps(content, indent=2) + "\n")
    beside.replace(file)
