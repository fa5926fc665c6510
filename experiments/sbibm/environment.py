"""The environment with the benchmark's data and the classifier, which are no dependencies."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "sbibm"
ENVIRONMENT = CACHE / "environment"
PYTHON = ENVIRONMENT / "bin" / "python"
DATA, CLASSIFIER = "sbibm==1.1.0", "scikit-learn>=1.3,<2"
INSTALL = "python -m experiments.sbibm --install"


def install() -> None:
    """Make it. Of the benchmark only its data is wanted, and nothing that it depends on."""
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", DATA], check=True)
    subprocess.run([*pip, CLASSIFIER], check=True)


def data_folder(environment: Path = ENVIRONMENT) -> Path:
    """Where the files of the tasks are, or a word on how to get them."""
    found = sorted(environment.glob("lib/python*/site-packages/sbibm/tasks"))
    if not found:
        sys.exit(f"the benchmark's data is not there: {INSTALL}")
    return found[0]
