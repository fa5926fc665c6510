"""Build the wheel and the sdist, look into them, and try them out in clean environments.

    python -m tools.package [PYTHON ...]

An environment is made for each Python that is named (this one, if none is), outside the repository;
the wheel is installed there with its plots, and README's first example runs. The sdist is installed
for the first of them. The recipe for conda is read. What is found stays in `dist`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"
IN_SDIST = ("README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "tests/test_run.py")
NOT_IN = (".ci/", ".venv/", ".cache/", "build/", ".zarr")
BUDGETS = ("15 s", "2 min")  # a machine with much else to do may need more before the first draws
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
AFTERWARDS = """
assert run.summary()["x"].draws > 0, run.stopped
assert run.report().stat().st_size > 50_000
assert aptmc.__file__.startswith({folder!r}), aptmc.__file__
"""


def build() -> tuple[Path, Path]:
    """Both files, anew."""
    for old in DIST.glob("aptmc-*"):
        old.unlink()
    call(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    (wheel,), (sdist,) = DIST.glob("aptmc-*.whl"), DIST.glob("aptmc-*.tar.gz")
    call(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    return wheel, sdist


def look_into(wheel: Path, sdist: Path) -> None:
    """Is everything there, and nothing else?"""
    with zipfile.ZipFile(wheel) as opened:
        in_wheel = opened.namelist()
    with tarfile.open(sdist) as archive:
        in_sdist = [name.partition("/")[2] for name in archive.getnames()]
    in_both = sources()
    from_src = [f"src/{name}" for name in in_both]
    for wanted, found, what in (
        (in_both, in_wheel, wheel), ([*IN_SDIST, *from_src], in_sdist, sdist)
    ):  # fmt: skip
        if missing := sorted(set(wanted) - set(found)):
            raise SystemExit(f"{what.name} lacks {', '.join(missing)}")
        if odd := [name for name in found if any(part in f"{name}/" for part in NOT_IN)]:
            raise SystemExit(f"{what.name} should not have {', '.join(odd[:5])}")
    if outside := [name for name in in_wheel if not re.match(r"aptmc(-[^/]+\.dist-info)?/", name)]:
        raise SystemExit(f"{wheel.name} would install {', '.join(outside)}")


def sources() -> list[str]:
    """What the package is made of: modules, and sources in C and templates beside them."""
    return [
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "aptmc").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    ]


def read_recipe(path: Path) -> str:
    """The package that a recipe of conda would make, as rattler-build itself reads it."""
    from rattler_build import Stage0Recipe, VariantConfig

    (variant,) = Stage0Recipe.from_file(str(path)).render(VariantConfig())
    return str(variant)


def try_out(python: str, package: Path) -> None:
    """Install a package for one Python, where nothing else is, and run the first example."""
    example = EXAMPLE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert example is not None
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        call(python, "-m", "venv", folder / "venv")
        own = folder / "venv" / "bin" / "python"
        call(own, "-m", "pip", "install", "--quiet", f"{package}[plots]")
        call(own, "-m", "pip", "check")
        checks = AFTERWARDS.format(folder=str(folder.resolve()))
        for budget in BUDGETS:
            script = folder / "example.py"
            code = re.sub(r'budget="[^"]+"', f'budget="{budget}"', example[1])
            script.write_text(code + checks, encoding="utf-8")
            if call(own, script, at=folder, may_fail=budget != BUDGETS[-1]):
                break
        call(folder / "venv" / "bin" / "aptmc", "--version", at=folder)


def call(*command: object, at: Path = ROOT, may_fail: bool = False) -> bool:
    """Run a command, and say whether that went well; if it must, end with its failure."""
    words = [str(word) for word in command]
    print("+", *words, flush=True)
    code = subprocess.run(words, cwd=at).returncode
    if code and not may_fail:
        raise SystemExit(f"that failed with exit code {code}")
    return code == 0


def main() -> None:
    """Build, look, try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    pythons = parser.parse_args().pythons
    wheel, sdist = build()
    look_into(wheel, sdist)
    print(read_recipe(RECIPE))
    for python in pythons:
        try_out(python, wheel)
    try_out(pythons[0], sdist)
    print(f"{wheel.name} and {sdist.name} are in {DIST.name}, tried on {', '.join(pythons)}")


if __name__ == "__main__":
    main()
