"""How many processors this process may use."""

from __future__ import annotations

import io
import os

import loky.backend.context
import pytest

from aptmc.errors import InputError
from aptmc.processors import MOST, load, processors_available, wanted_by_others

ALLOWED = len(os.sched_getaffinity(0))
QUOTA = "/sys/fs/cgroup/cpu.max"
OLD_QUOTA, OLD_PERIOD = (f"/sys/fs/cgroup/cpu/cpu.cfs_{name}_us" for name in ("quota", "period"))


@pytest.fixture(autouse=True)
def no_limit_of_the_users(monkeypatch):
    monkeypatch.delenv(MOST, raising=False)


@pytest.fixture
def container(monkeypatch):
    """Have loky find these files, by path, where the system tells of quotas."""

    def pretend(files):
        exists = os.path.exists
        monkeypatch.setattr(
            os.path,
            "exists",
            lambda path: path in files if str(path).startswith("/sys/fs/cgroup") else exists(path),
        )
        monkeypatch.setattr(
            loky.backend.context, "open", lambda path: io.StringIO(files[path]), raising=False
        )

    return pretend


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
        ("100000 0", 1 << 30),
        ("", 1 << 30),
        ("nonsense", 1 << 30),
    ],
)
def test_a_quota_of_time_is_worth_so_many_processors(quota, expected, container):
    container({QUOTA: f"{quota}\n"})
    assert processors_available() == min(ALLOWED, expected)


@pytest.mark.parametrize(("quota", "expected"), [("50000", 1), ("150000", 2), ("-1", 1 << 30)])
def test_quotas_of_older_systems_count_too(quota, expected, container):
    container({OLD_QUOTA: f"{quota}\n", OLD_PERIOD: "100000\n"})
    assert processors_available() == min(ALLOWED, expected)


def test_a_system_without_quotas_gives_all_that_are_allowed(container):
    container({})
    assert processors_available() == ALLOWED


def test_a_process_may_be_kept_to_some_processors(container):
    container({})
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert processors_available() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_the_user_may_set_a_limit(container, monkeypatch):
    container({})
    monkeypatch.setenv(MOST, "1")
    assert processors_available() == 1


def test_a_limit_that_is_no_number_is_named(monkeypatch):
    monkeypatch.setenv(MOST, "many")
    with pytest.raises(InputError, match="LOKY_MAX_CPU_COUNT must be a whole number, got 'many'"):
        processors_available()


# --- who else wants them --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "before", "expected"),
    [(3.0, None, 2.25), (3.0, 7.0, 1.0), (3.0, 20.0, 2.25), (30.0, None, 0.0)],
)
def test_others_are_who_is_left_of_the_load(own, before, expected, monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (12.0, 50.0, 50.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert wanted_by_others(own, before) == expected


def test_a_system_that_does_not_tell_is_taken_for_quiet(monkeypatch):
    def unknown():
        raise OSError

    monkeypatch.setattr(os, "getloadavg", unknown)
    assert load() is None
    assert wanted_by_others(1.0, 50.0) == 0.0
    monkeypatch.delattr(os, "getloadavg")
    assert load() is None
