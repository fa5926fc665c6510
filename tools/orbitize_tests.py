"""orbitize's own tests of its chains, with this library in place of ptemcee.

    git clone https://github.com/sblunt/orbitize
    pip install orbitize==3.4.0 pytest
    python -m tools.orbitize_tests orbitize

runs `tests/test_mcmc.py` of the clone against a copy of the orbitize that is installed, in whose
`sampler.py` the import is `from aptmc.compat import ptemcee`. What is installed stays as it is.
Words after `--` are pytest's. Without the changed import, `--theirs`, it is seen what the tests
say of ptemcee itself.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.util import find_spec
from pathlib import Path

THEIRS, OURS = "import ptemcee\n", "from aptmc.compat import ptemcee\n"
TESTS = "tests/test_mcmc.py"


def main() -> int:
    """Make the copy, take the tests from the clone, and run them."""
    parser = argparse.ArgumentParser(prog="python -m tools.orbitize_tests", description=__doc__)
    parser.add_argument("clone", help="a git folder of orbitize's repository")
    parser.add_argument("--commit", default="HEAD", help="of the clone, whose tests are run")
    parser.add_argument("--theirs", action="store_true", help="leave the import as it is")
    parser.add_argument("words", nargs="*", help="for pytest, after --")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if not options.theirs:
            changed_copy(folder)
        tests = folder / "clone"
        extract(options.clone, options.commit, tests)
        search = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", TESTS, *options.words]
        # Processes of orbitize's, which unpickle its functions, find the same copy.
        done = subprocess.run(command, cwd=tests, env={**os.environ, "PYTHONPATH": search})
        return done.returncode


def changed_copy(folder: Path) -> None:
    """The orbitize that is installed, with one import changed."""
    found = find_spec("orbitize")
    if found is None or found.origin is None:
        sys.exit("orbitize is not installed: pip install orbitize==3.4.0")
    own = folder / "orbitize"
    shutil.copytree(Path(found.origin).parent, own)
    sampler = own / "sampler.py"
    text = sampler.read_text(encoding="utf-8")
    if text.count(THEIRS) != 1:
        sys.exit(f"{THEIRS.strip()!r} is not once in orbitize/sampler.py: another version?")
    sampler.write_text(text.replace(THEIRS, OURS), encoding="utf-8")


def extract(clone: str, commit: str, folder: Path) -> None:
    """The tests of the clone, as files."""
    command = ["git", "-C", clone, "archive", commit, "tests"]
    kept = subprocess.run(command, check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(kept.stdout)) as archive:
        archive.extractall(folder, filter="data")


if __name__ == "__main__":
    sys.exit(main())
