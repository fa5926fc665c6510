"""Each state of the compiled sources has a cache of its own, and other sources do not matter."""

from __future__ import annotations

import shutil

import pytest

from tools.compiled_sources import SOURCES, source_hash


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The sources of the library, elsewhere."""
    copy = tmp_path_factory.mktemp("sources") / "src"
    shutil.copytree(SOURCES / "aptmc", copy / "aptmc", ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def after_editing(copied, *names):
    """The hash with a line more in some files, which are put back."""
    texts = {copied / "aptmc" / name: (copied / "aptmc" / name).read_bytes() for name in names}
    try:
        for path, text in texts.items():
            path.write_bytes(text + b"\nONE_MORE = 1\n")
        return source_hash(copied)
    finally:
        for path, text in texts.items():
            path.write_bytes(text)


def test_what_is_not_compiled_may_be_edited(copied):
    names = ["plots/marginals.py", "cli/demo.py", "result/advice.py", "progress/words.py"]
    assert after_editing(copied, *names) == source_hash(copied) == source_hash()


# The second has no compiled function, but compiled code holds what stands there.
@pytest.mark.parametrize("name", ["coordinator/transitions.py", "record/columns.py"])
def test_what_ends_up_in_compiled_code_may_not(copied, name):
    assert after_editing(copied, name) != source_hash(copied)
