"""Small libraries in C, compiled by whatever compiler there is."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest


def library(folder: Path, code: str, name: str = "library") -> ctypes.CDLL:
    """A library of some code, loaded; the test is skipped where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler here")
    source, built = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(code)
    # As numba does it: no two operations are made into one.
    options = ["-O1", "-shared", "-fPIC", "-ffp-contract=off"]
    subprocess.run([compiler, *options, "-o", built, source, "-lm"], check=True)
    return ctypes.CDLL(str(built))
