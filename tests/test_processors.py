"""How many processors this process may use."""

from __future__ import annotations

import os

import pytest

from aptmc.processors import processors_available

ALLOWED = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("100000 100000", 1),
        ("50000 100000", 1),
        ("1000 100000", 1),
        ("150000 100000", 2),
        ("200000 100000", 2),
        ("6400000 100000", 64),
        ("max 100000", 1 << 30),
        ("0 100000", 1),
        ("100000 0", 1 << 30),
        ("", 1 << 30),
        ("nonsense", 1 << 30),
    ],
)
def test_a_quota_of_time_is_worth_so_many_processors(quota, expected, tmp_path):
    file = tmp_path / "cpu.max"
    file.write_text(f"{quota}\n")
    assert processors_available(file) == min(ALLOWED, expected)


def test_a_system_without_quotas_gives_all_that_are_allowed(tmp_path):
    assert processors_available(tmp_path / "absent") == ALLOWED


def test_a_process_may_be_kept_to_some_processors(tmp_path):
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert processors_available(tmp_path / "absent") == 1
    finally:
        os.sched_setaffinity(0, before)
