"""The environments with the other libraries, which are no dependencies."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Iterable
from functools import cache
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "comparison"
INSTALL = "python -m experiments.comparison --install"
# Bounded as they were when the page was made.
OTHERS = {
    "emcee": "emcee>=3.1,<4",
    "reddemcee": "reddemcee>=1.0,<2",
    "dynesty": "dynesty>=2.1,<4",
    "nautilus": "nautilus-sampler>=1.0,<2",
    "ultranest": "ultranest>=4.3,<5",
    "zeus": "zeus-mcmc==2.5.4",
    "blackjax": "blackjax>=1.2,<2",
    "numpyro": "numpyro>=0.20,<1",
    "nutpie": "nutpie>=0.16,<0.17",
    "pyabc": "pyabc>=0.13,<0.14",
    "elfi": "elfi>=0.8.7,<0.9",
    "sbi": "sbi>=0.23,<1",
}
HERE = False  # whether all of them are in the environment of this process
APART = {"sbi": ("torch==2.13.0",)}  # in an environment of their own, with what comes first there
# Asked of a Python itself: one that is given to somebody may have no pip.
LIST = """
from importlib.metadata import distributions
for each in distributions():
    print(each.metadata["Name"], each.version, sep="==")
"""
BESIDE = ("numba", "scipy", "typing_extensions")  # the densities


def python_of(library: str) -> Path:
    """The program that runs it."""
    if HERE:
        return Path(sys.executable)
    name = f"environment-{library}" if library in APART else "environment"
    return CACHE / name / "bin" / "python"


def install(libraries: Iterable[str]) -> None:
    """Make the environments; a library that cannot be installed is left out, and said to be."""
    made: set[Path] = set()
    for name in libraries:
        if name not in OTHERS:  # ours
            continue
        python = python_of(name)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if not python.exists() and python not in made:
            venv.create(python.parents[1], with_pip=True)
            subprocess.run([*pip, *APART.get(name, ()), *BESIDE], check=True)
        made.add(python)
        if subprocess.run([*pip, OTHERS[name]], check=False).returncode:
            print(f"{name} cannot be installed here and is left out", file=sys.stderr)


@cache
def versions(python: Path) -> dict[str, str]:
    """Of what is installed there."""
    said = subprocess.run(
        [str(python), "-c", LIST], check=True, capture_output=True, text=True
    ).stdout
    named = [line.split("==") for line in said.splitlines() if "==" in line]
    return {name.replace("_", "-"): version for name, version in named}
