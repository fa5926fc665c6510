"""Every Python example in the documents runs.

The ```python blocks of a document are executed in order, in one namespace, in an empty folder, like
a script that a reader has typed in. A block marked ```python no-run is skipped.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
import traceback
import warnings
from pathlib import Path
from types import ModuleType

import pytest

import aptmc
from tools import fences, reference

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*ROOT.glob("README.md"), *sorted(ROOT.glob("docs/**/*.md"))]
# What a page shows runs for longer than a test needs. A machine with much else to do may need more
# before the first draws.
BUDGETS = SHORT, _, LONG = 2, 8, 60  # seconds
# What examples need that not all environments have, by the name of the page.
NEEDS = {"from_numpyro": "numpyro", "from_pymc": "pymc", "from_stan": "bridgestan"}
HEAVIEST = 250_000  # bytes of a picture
BLOCK = re.compile(
    r"^(?P<indent> *)```python(?P<words>[^\n]*)\n(?P<code>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)


def stan_compiles() -> bool:
    """Whether BridgeStan has its sources, or a compiled model is at hand."""
    if os.environ.get("APTMC_STAN_LIBRARY"):
        return True
    sources = Path(os.environ.get("BRIDGESTAN") or Path.home() / ".bridgestan")
    return any([*sources.glob("Makefile"), *sources.glob("bridgestan-*/Makefile")])


def examples(text: str) -> list[tuple[int, str]]:
    """The line at which each block to run starts, and its code."""
    found = []
    for block in BLOCK.finditer(text):
        words = block["words"].split()
        line = text.count("\n", 0, block.start("code")) + 1
        if words not in ([], ["no-run"]):
            raise ValueError(f"line {line - 1}: unknown words {words} after ```python: use no-run")
        if not words:
            found.append((line, textwrap.dedent(block["code"])))
    return found


def with_budgets(code: str, seconds: int) -> str:
    """The same, but budgets that are given in seconds are of so many."""
    return re.sub(r'budget="\d+ s"', f'budget="{seconds} s"', code)


def run(document: Path, monkeypatch: pytest.MonkeyPatch, seconds: int = SHORT) -> int:
    """Run the examples of a document, and count them, or fail with the line that is wrong."""
    script = ModuleType("__main__")
    # Functions of a script belong to __main__: whatever sends them to another process relies on it.
    monkeypatch.setitem(sys.modules, "__main__", script)
    count = 0
    for line, code in examples(document.read_text(encoding="utf-8")):
        count += 1
        failure = None
        short = "\n" * (line - 1) + with_budgets(code, seconds)
        try:
            exec(compile(short, str(document), "exec"), script.__dict__)
        except Exception as error:
            failure = error
        if failure is not None:
            pytest.fail(describe(failure, document), pytrace=False)
    return count


def describe(failure: Exception, document: Path) -> str:
    """The file and line of the document where it went wrong, then the whole traceback."""
    frames = traceback.extract_tb(failure.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(document)]
    line = lines[-1] if lines else getattr(failure, "lineno", None)
    name = document.relative_to(ROOT) if document.is_relative_to(ROOT) else document.name
    details = "".join(traceback.format_exception(failure))
    return f"{name}:{line}: {type(failure).__name__}: {failure}\n\n{details}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if document.stem in NEEDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what that loads
            pytest.importorskip(NEEDS[document.stem])
    if document.stem == "from_stan" and not stan_compiles():
        pytest.skip("BridgeStan cannot compile here, and APTMC_STAN_LIBRARY names no library")
    blocks = document.read_text(encoding="utf-8").count("```python\n")
    assert run_for_a_short_time(document, tmp_path, monkeypatch) == blocks


def run_for_a_short_time(document: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the examples with short budgets, and as long as that is not enough with longer ones."""
    text = document.read_text(encoding="utf-8")
    for seconds in BUDGETS:
        own = folder / str(seconds)
        own.mkdir()
        monkeypatch.chdir(own)
        try:
            return run(document, monkeypatch, seconds)
        except pytest.fail.Exception:
            if with_budgets(text, seconds) == with_budgets(text, LONG):
                raise
    raise AssertionError("unreachable")


def test_only_a_budget_is_tried_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = tmp_path / "loaded.md"
    document.write_text('```python\nassert dict(budget="15 s")["budget"] == "60 s"\n```\n')
    assert run_for_a_short_time(document, tmp_path, monkeypatch) == 1
    document = tmp_path / "wrong.md"
    document.write_text("```python\nfrom pathlib import Path\nassert Path('a').exists()\n```\n")
    (tmp_path / "other").mkdir()
    with pytest.raises(pytest.fail.Exception, match=r"wrong.md:3"):
        run_for_a_short_time(document, tmp_path / "other", monkeypatch)
    assert not (tmp_path / "other" / str(LONG)).exists()


def test_blocks_share_a_namespace_and_no_run_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "good.md"
    document.write_text(
        "```python\nx = 1\n```\n- item\n  ```python\n  assert x == 1\n  ```\n"
        "```python no-run\nthis is not run\n```\n"
    )
    assert run(document, monkeypatch) == 2


@pytest.mark.parametrize(
    ("code", "where"),
    [("x = 1\nx / 0", "bad.md:5: ZeroDivisionError"), ("x = (", "bad.md:4: SyntaxError")],
)
def test_a_wrong_example_fails_with_its_line(
    code: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "bad.md"
    document.write_text(f"# Title\n\n```python\n{code}\n```\n")
    with pytest.raises(pytest.fail.Exception, match=re.escape(where)):
        run(document, monkeypatch)


def test_budgets_are_cut_short() -> None:
    assert with_budgets('sample(a, budget="15 s")', 3) == 'sample(a, budget="3 s")'
    for other in ('sample(a, budget="2 h")', "sample(a, budget=90)"):
        assert with_budgets(other, 3) == other


# --- what the documents show --------------------------------------------------------------------


def test_pictures_are_there_and_light() -> None:
    shown = set()
    for document in DOCUMENTS:
        for address in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", document.read_text(encoding="utf-8")):
            picture = document.parent / address
            assert picture.is_file(), f"{document.name}: there is no {address}"
            assert picture.stat().st_size < HEAVIEST, address
            shown.add(picture.resolve())
    figures = ROOT / "docs" / "figures"
    assert {path for path in shown if path.parent == figures} == {*figures.iterdir()}


def test_the_places_that_the_map_of_the_code_names_are_there() -> None:
    words = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_/]+(?:/|\.py|\.toml))`", words))
    assert len(named) > 30
    for place in named:
        assert any((base / place).exists() for base in (ROOT / "src" / "aptmc", ROOT)), place
    hops = re.findall(r"^\| (\d+) \|", words, re.MULTILINE)
    assert len(hops) <= 15


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_code_block_is_one_on_the_page_too(document: Path) -> None:
    """The Markdown of mkdocs allows one word after the mark."""
    text = fences.on_page_markdown(document.read_text(encoding="utf-8"), page=None)
    assert "no-run" not in text.replace("`no-run`", "")
    marks = re.findall(r"^ *```(.*)$", text, flags=re.MULTILINE)
    assert all(re.fullmatch(r"[a-z]*", mark) for mark in marks)
    assert len(marks) % 2 == 0


def test_the_reference_has_every_public_name() -> None:
    page = reference.page()
    for name in aptmc.__all__:
        if not name.startswith("_") and hasattr(aptmc, name):
            assert f"### `aptmc.{name}`" in page
    assert "### `aptmc.plots.timeline`" in page
    assert ":param" not in page
    assert page.count("```") % 2 == 0
