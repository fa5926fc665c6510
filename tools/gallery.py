"""The gallery: each script of `examples` as a page with its output and pictures, and as a notebook.

    python -m tools.gallery [NAME ...]

runs the scripts, some minutes in all, and keeps what they printed and drew in `docs/gallery`. As a
hook of mkdocs (`hooks:` in mkdocs.yml) it makes the pages and notebooks from the scripts and from
what is kept, so that neither can lag behind a script. A script is made of cells, as Jupytext,
Spyder and VS Code know them: `# %%` begins code and `# %% [markdown]` text.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "examples"
KEPT = ROOT / "docs" / "gallery"
ORDER = (
    "mixture", "epidemic", "predators_and_prey", "external_program", "expensive_likelihood",
    "decision", "cluster",
)  # fmt: skip
CELL = re.compile(r"^# %%(?P<words>.*)$", re.MULTILINE)
PICTURE = re.compile(r'\.savefig\("(?P<name>\w+\.png)"')
LINK = re.compile(r"\]\(\.\./(?P<page>\w+)\.md")
RESOLUTION = 150  # dots per inch


class Cell(NamedTuple):
    """A part of a script."""

    is_text: bool
    source: str
    line: int  # at which it begins


class Example(NamedTuple):
    """A script, read."""

    name: str
    title: str
    about: str  # one line
    cells: list[Cell]


def read(name: str) -> Example:
    """The cells of a script; the first begins with a title and a line on what it is about."""
    text = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
    marks = [*CELL.finditer(text)]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    cells = []
    for mark, end in zip(marks, ends, strict=True):
        source = text[mark.end() : end].strip("\n")
        is_text = mark["words"].strip() == "[markdown]"
        if is_text:
            source = "\n".join(re.sub(r"^# ?", "", line) for line in source.splitlines()).strip()
        cells.append(Cell(is_text, source, text.count("\n", 0, mark.end()) + 2))
    title, _, about = cells[0].source.splitlines()[:3]
    return Example(name, title.removeprefix("# "), about.strip("*"), cells)


# --- running ------------------------------------------------------------------------------------


def run(example: Example, folder: Path) -> list[str]:
    """Run the cells in a folder, where their pictures stay; what each printed."""
    script = ModuleType("__main__")
    # Functions of a script belong to __main__: whatever sends them to another process relies on it.
    before, sys.modules["__main__"] = sys.modules["__main__"], script
    printed = []
    here = Path.cwd()
    os.chdir(folder)
    try:
        for cell in example.cells:
            heard = io.StringIO()
            if not cell.is_text:
                code = "\n" * (cell.line - 1) + cell.source
                path = str(SCRIPTS / f"{example.name}.py")
                with contextlib.redirect_stdout(heard):
                    exec(compile(code, path, "exec"), script.__dict__)
            printed.append(heard.getvalue())
    finally:
        os.chdir(here)
        sys.modules["__main__"] = before
    return printed


def keep(example: Example) -> None:
    """Run a script, and keep what it printed and drew."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        printed = run(example, folder)
        target = KEPT / example.name
        target.mkdir(parents=True, exist_ok=True)
        for old in target.iterdir():
            old.unlink()
        for picture in sorted(folder.glob("*.png")):
            (target / picture.name).write_bytes(picture.read_bytes())
        kept = {"code": code_of(example), "printed": printed}
        (target / "printed.json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def printed_by(example: Example) -> list[str]:
    """What each cell printed when the script was last run."""
    kept = KEPT / example.name / "printed.json"
    if not kept.exists():
        return [""] * len(example.cells)
    found = json.loads(kept.read_text(encoding="utf-8"))
    printed: list[str] = found["printed"]
    # Texts may have changed meanwhile, but no code.
    is_same = found["code"] == code_of(example) and len(printed) == len(example.cells)
    return printed if is_same else [""] * len(example.cells)


def code_of(example: Example) -> str:
    """A checksum of what runs."""
    code = "\n".join(cell.source for cell in example.cells if not cell.is_text)
    return hashlib.sha256(code.encode()).hexdigest()


# --- pages --------------------------------------------------------------------------------------


def page(example: Example) -> str:
    """A script as a page."""
    parts = []
    for cell, printed in zip(example.cells, printed_by(example), strict=True):
        if cell.is_text:
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        if printed.strip():
            parts.append(f"```text\n{printed.strip()}\n```")
        parts += [f"![{example.title}]({example.name}/{name})" for name in pictures_in(cell)]
    files = f"[notebook]({example.name}.ipynb){{download}}, [script]({example.name}.py){{download}}"
    parts.insert(1, f"As a {files}.")
    return "\n\n".join(parts) + "\n"


def pictures_in(cell: Cell) -> list[str]:
    """The files of the pictures that a cell draws."""
    return [found["name"] for found in PICTURE.finditer(cell.source)]


def index() -> str:
    """The page of all examples: a picture, a title and a line for each."""
    parts = [
        "# Examples\n",
        "Each runs as it stands, in a minute or two, as a script and as a notebook. Output and "
        "pictures are of two processors.\n",
        '<div class="grid cards" markdown>\n',
    ]
    for name in ORDER:
        example = read(name)
        drawn = [one for cell in example.cells if not cell.is_text for one in pictures_in(cell)]
        parts += [
            f"-   [![{example.title}]({name}/{drawn[-1]})]({name}.md)\n",
            f"    **[{example.title}]({name}.md)**\n",
            f"    {example.about}\n",
        ]
    return "\n".join([*parts, "</div>\n"])


def notebook(example: Example) -> str:
    """A script as a notebook of Jupyter."""
    cells: list[dict[str, Any]] = []
    for place, cell in enumerate(example.cells):
        one: dict[str, Any] = {
            "cell_type": "markdown" if cell.is_text else "code",
            "id": f"cell-{place}",
            "metadata": {},
            "source": LINK.sub(r"](\g<page>", cell.source).splitlines(keepends=True),
        }
        if not cell.is_text:
            # A notebook shows the picture where it is drawn.
            shown = "".join(
                f'\nfrom IPython.display import Image\nImage("{name}")'
                for name in pictures_in(cell)[-1:]
            )
            one["source"] = (cell.source + shown).splitlines(keepends=True)
            one |= {"execution_count": None, "outputs": []}
        cells.append(one)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1) + "\n"


def on_files(files: Any, *, config: Any) -> Any:
    """Add pages, scripts and notebooks to those that are there."""
    from mkdocs.structure.files import File

    made = {"gallery/index.md": index()}
    for name in ORDER:
        example = read(name)
        made[f"gallery/{name}.md"] = page(example)
        made[f"gallery/{name}.ipynb"] = notebook(example)
        made[f"gallery/{name}.py"] = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Pages of pictures need no lists at their sides, and output is broad."""
    if page.file.src_uri in ("index.md", "gallery/index.md"):
        page.meta["hide"] = ["navigation", "toc"]
    elif page.file.src_uri.startswith("gallery/"):
        page.meta["hide"] = ["toc"]
    return markdown


def main() -> None:
    """Run the examples, and keep what they printed and drew."""
    import matplotlib as mpl

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which (default: all): {', '.join(ORDER)}")
    from aptmc.plots import style

    style.STYLE["savefig.dpi"] = mpl.rcParams["savefig.dpi"] = RESOLUTION
    for name in parser.parse_args().names or ORDER:
        print(name, flush=True)
        keep(read(name))


if __name__ == "__main__":
    main()
