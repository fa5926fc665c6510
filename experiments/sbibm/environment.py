"""The environment with the benchmark's data and the classifier, which are no dependencies."""

from __future__ import annotations

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import final

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
        sys.exit(f"the benchmark's data is not there: {INSTALL}, or name a folder by --data")
    return found[0]


@final
@dataclass(frozen=True)
class Place:
    """Where things are.

    :param data: the files of the tasks; None: in the environment
    :param python: of the environment with the classifier
    """

    kept: Path = CACHE
    data: Path | None = None
    python: Path = PYTHON

    @property
    def tasks(self) -> Path:
        """The folder with the data."""
        if self.data is None:
            return data_folder(self.python.parent.parent)
        if not self.data.is_dir():
            sys.exit(f"there is no folder {self.data}: make one by --pack where the data is")
        return self.data
