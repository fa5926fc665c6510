"""The environment with the other libraries, which are no dependencies."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "comparison"
ENVIRONMENT = CACHE / "environment"
PYTHON = ENVIRONMENT / "bin" / "python"
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
BESIDE = ["numba", "scipy", "typing_extensions"]  # the densities


def install() -> None:
    """Make it; a library that cannot be installed is left out, and said to be."""
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *BESIDE], check=True)
    for name, wanted in OTHERS.items():
        if subprocess.run([*pip, wanted], check=False).returncode:
            print(f"{name} cannot be installed here and is left out", file=sys.stderr)


def versions() -> dict[str, str]:
    """Of what is installed there."""
    said = subprocess.run(
        [str(PYTHON), "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    pairs = (line.split("==") for line in said.splitlines() if "==" in line)
    return dict(pairs)
