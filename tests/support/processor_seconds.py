"""What tests cost, in processor seconds: the sum, the files that cost most, and each test on disk.

Seconds on a clock depend on what else the machine does; these hardly do. Children count once they
have ended and somebody has waited for them. What each test cost, when it ended and in which process
is in `.cache/processor_seconds`, in a table for each of tests, validations and examples.
`-p tests.support.processor_seconds` is all it takes.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

NAME = "processor_seconds"
SHOWN = 12
FOLDER = Path(__file__).resolve().parents[2] / ".cache" / NAME
LOADING = "loading"
_SEEN: dict[str, float] = {}
_SPENT: Counter[str] = Counter()
_ROWS: list[str] = []


def spent() -> float:
    """By this process, and by its children that have ended."""
    return sum(os.times()[:4])


def pytest_collection_finish() -> None:
    """What comes before the first test of a process is loading."""
    _SEEN[LOADING] = _SEEN["before"] = spent()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    """Have the last report of a test carry what it cost, all since the one before it."""
    report = yield
    if call.when == "teardown":
        now = spent()
        report.user_properties.append((NAME, now - _SEEN["before"]))
        _SEEN["before"] = now
        if LOADING in _SEEN:
            report.user_properties.append((LOADING, _SEEN.pop(LOADING)))
    return report


def pytest_runtest_logreport(report) -> None:
    """Add it to what its file has cost."""
    if report.when == "teardown":
        found = dict(report.user_properties)
        process = getattr(report, "worker_id", "")
        for name, key in ((LOADING, LOADING), (report.nodeid, NAME)):
            if key in found:
                _SPENT[name.partition("::")[0]] += found[key]
                _ROWS.append(f"{found[key]:.3f}\t{report.stop:.2f}\t{process}\t{name}")


def table_of(config: pytest.Config) -> Path:
    """Where the tests of this kind are noted: kinds may run side by side."""
    kind = "validations" if config.option.markexpr == "validation" else "tests"
    return FOLDER / f"{'examples' if config.option.doctestmodules else kind}.tsv"


def pytest_terminal_summary(terminalreporter) -> None:
    """Say so at the end: whoever has heard of all tests, and not one of the processes of a run."""
    if _SPENT and not hasattr(terminalreporter.config, "workerinput"):
        table = table_of(terminalreporter.config)
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text("\n".join(_ROWS) + "\n")
        terminalreporter.write_line(
            f"{sum(_SPENT.values()):.0f} processor seconds, loading included; the most for"
        )
        for file, seconds in _SPENT.most_common(SHOWN):
            terminalreporter.write_line(f"{seconds:7.1f}  {file}")
