"""What tests cost, in processor seconds: the sum, and the files that cost most.

Seconds on a clock depend on what else the machine does; these hardly do. Children count once they
have ended and somebody has waited for them. `-p tests.support.processor_seconds` is all it takes.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

NAME = "processor_seconds"
SHOWN = 12
_BEFORE = {"setup": 0.0}
_SPENT: Counter[str] = Counter()


def spent() -> float:
    """By this process, and by its children that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    """Have the last report of a test carry what it cost, all since the one before it."""
    report = yield
    if call.when == "teardown":
        now = spent()
        report.user_properties.append((NAME, now - _BEFORE["setup"]))
        _BEFORE["setup"] = now
    return report


def pytest_runtest_logreport(report) -> None:
    """Add it to what its file has cost."""
    if report.when == "teardown":
        file = report.nodeid.partition("::")[0]
        _SPENT[file] += dict(report.user_properties).get(NAME, 0.0)


def pytest_terminal_summary(terminalreporter) -> None:
    """Say so at the end."""
    if _SPENT:
        terminalreporter.write_line(
            f"{sum(_SPENT.values()):.0f} processor seconds, loading included; the most for"
        )
        for file, seconds in _SPENT.most_common(SHOWN):
            terminalreporter.write_line(f"{seconds:7.1f}  {file}")
