"""The command line and the changelog as pages that `make docs` builds.

A hook of mkdocs (`hooks:` in mkdocs.yml). Made from `aptmc --help` and from CHANGELOG.md, they
cannot lag behind.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WIDTH = "88"  # of the text of help
INTRODUCTION = """# The command line

All that one does with runs on disk, without Python. A problem is named by its file and its name
there, `model.py:problem`. Each command explains itself: `aptmc run --help`.
"""


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages to those that are there."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "command_line.md", content=page()))
    files.append(File.generated(config, "changelog.md", content=changelog()))
    return files


def page() -> str:
    """What each command says of itself."""
    os.environ["COLUMNS"] = WIDTH
    from aptmc.cli.main import make_parser

    parser = make_parser()
    parts = [INTRODUCTION, f"```text\n{parser.format_help().strip()}\n```\n"]
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    lines = {one.dest: one.help for one in commands._choices_actions}
    for name, command in commands.choices.items():
        parts.append(f"## aptmc {name}\n\n{_sentence(lines.get(name) or '')}\n")
        parts.append(f"```text\n{command.format_help().strip()}\n```\n")
    return "\n".join(parts)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def changelog() -> str:
    """CHANGELOG.md, whose links begin in the folder of the documentation here."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.sub(r"\]\(docs/", "](", text)
