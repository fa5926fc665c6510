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
import yaml

import aptmc
from aptmc.__about__ import __version__
from tools import package

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


def workflows() -> list[Path]:
    return sorted((ROOT / ".github").rglob("*.yml"))


@pytest.mark.parametrize("path", workflows(), ids=lambda path: path.name)
def test_workflows_and_templates_are_yaml(path: Path) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    if path.parent.name != "workflows":
        return
    assert content.keys() >= {"name", "permissions", "jobs"}
    assert content[True]  # "on", which YAML takes for a truth
    for job in content["jobs"].values():
        needed = job.get("needs", [])
        needed = {needed} if isinstance(needed, str) else set(needed)
        assert needed <= content["jobs"].keys()
        assert job["runs-on"]
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])


def lines_of_the_release() -> list[str]:
    """What the workflow *release* looks at before it builds."""
    path = ROOT / ".github" / "workflows" / "release.yml"
    steps = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]["build"]["steps"]
    (script,) = (step["run"] for step in steps if "grep" in step.get("run", ""))
    return str(script).splitlines()


def is_ready(folder: Path, tag: str) -> bool:
    """Whether the workflow would go on with a tag."""
    script = "set -e\n" + "\n".join(lines_of_the_release())
    environment = os.environ | {"GITHUB_REF_NAME": tag}
    return subprocess.run(["bash", "-c", script], cwd=folder, env=environment).returncode == 0


def test_the_changelog_is_ready_for_a_release_or_says_that_there_is_none(tmp_path: Path) -> None:
    """As the workflow asks: a heading of the version, once it has a date."""
    (tmp_path / "src" / "aptmc").mkdir(parents=True)
    about = Path("src", "aptmc", "__about__.py")
    shutil.copy(ROOT / about, tmp_path / about)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\](.*)$", changelog, re.MULTILINE)
    versions = [name for name, _ in headings if name != "Unreleased"]
    if __version__ not in versions:
        assert headings[0] == ("Unreleased", "")
        first = f"## [{__version__}] - 2026-11-19"
        changelog = changelog.replace("## [Unreleased]", f"## [Unreleased]\n\n{first}", 1)
    (tmp_path / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    assert is_ready(tmp_path, f"v{__version__}")
    assert not is_ready(tmp_path, "v99.0.0")
    without = changelog.replace(f"## [{__version__}]", "## [99.0.0]")
    (tmp_path / "CHANGELOG.md").write_text(without, encoding="utf-8")
    assert not is_ready(tmp_path, f"v{__version__}")


def test_the_recipe_is_read_and_a_mistake_in_it_noticed(tmp_path: Path) -> None:
    pytest.importorskip("rattler_build")
    assert __version__ in package.read_recipe(package.RECIPE)
    wrong = tmp_path / "recipe.yaml"
    text = package.RECIPE.read_text(encoding="utf-8")
    wrong.write_text(text.replace("requirements:", "requirments:"), encoding="utf-8")
    with pytest.raises(Exception, match="requirments"):
        package.read_recipe(wrong)


def test_the_package_check_looks_for_c_and_templates() -> None:
    endings = {Path(name).suffix for name in package.sources()}
    assert endings >= {".py", ".c", ".html", ".css", ".typed"}


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
