"""The package as users meet it: light to import, one version, documents that keep their word."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import aptmc
from aptmc.__about__ import __version__

ROOT = Path(__file__).resolve().parents[1]

# Where a file sits on one person's machine, or where that machine gets its packages, is nobody
# else's business. The names are put together here so that this file does not find itself.
ABSOLUTE_PATH = r"(?<![\w.~-])/(?:home|opt|root|work)" + "/"
REGISTRY = "|".join(["pypi" + r"\.org", "python" + "hosted", "index" + "-url", "find" + "-links"])
PRIVATE = re.compile(f"{ABSOLUTE_PATH}|{REGISTRY}")


def project_files() -> list[Path]:
    """Files that are tracked, or would be if someone added everything."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


@pytest.mark.parametrize("heavy", ["numba", "scipy.stats", "xarray", "matplotlib"])
def test_import_is_light(heavy: str) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, aptmc; print(*sys.modules)"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert "aptmc" in loaded
    assert heavy not in loaded


def test_there_is_one_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert aptmc.__version__ == __version__
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == __version__
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert re.search(r'^  version: "(.+)"$', recipe, re.MULTILINE)[1] == __version__


def test_the_conda_recipe_asks_for_what_the_package_does() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("  run_constraints:")[0]
    asked = {line.removeprefix("    - ").replace("_", "-") for line in run.splitlines()}
    asked -= {"--unix", f"python {project['requires-python']}"}
    wanted = {re.sub(r">=", " >=", one) for one in project["dependencies"]}
    assert {one.strip() for one in asked if one.strip()} == wanted


@pytest.mark.parametrize("name", ["tests", "nightly", "docs", "release"])
def test_workflows_call_targets_that_there_are(name: str) -> None:
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    targets = re.findall(r"make (\w+)", text)
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets
    assert all(re.search(rf"^{target}:", rules, re.MULTILINE) for target in targets)


def test_the_installed_version_is_this_one() -> None:
    try:
        installed = metadata.version("aptmc")
    except metadata.PackageNotFoundError:
        pytest.skip("aptmc is not installed, only on the path")
    assert installed == __version__


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_readme_names_the_two_commands(command: str) -> None:
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")


def test_no_file_names_a_private_place() -> None:
    found = []
    for path in project_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # an image
        for number, line in enumerate(text.splitlines(), start=1):
            if PRIVATE.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("line", "is_private"),
    [
        ("see " + "/ro" + "ot/notes", True),
        ("--index" + "-url x", True),
        ("https://example.org/work/page", False),
        ("docs/work/page.md", False),
    ],
)
def test_the_search_for_private_places_can_fail(line: str, is_private: bool) -> None:
    assert bool(PRIVATE.search(line)) is is_private
