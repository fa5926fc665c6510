"""Durations in words, and clocks."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aptmc
from aptmc.clock import ManualClock, WallClock, duration

UNITS = {
    1e-3: ["ms", "millisecond", "milliseconds"],
    1.0: ["s", "sec", "secs", "second", "seconds"],
    60.0: ["m", "min", "mins", "minute", "minutes"],
    3600.0: ["h", "hour", "hours"],
    86400.0: ["d", "day", "days"],
}
SECONDS = [(word, seconds) for seconds, words in UNITS.items() for word in words]


@pytest.mark.parametrize(("word", "seconds"), SECONDS)
def test_every_unit_is_understood(word: str, seconds: float) -> None:
    assert duration(f"1 {word}") == seconds
    assert duration(f"2.5{word}") == 2.5 * seconds


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("10 min", 600.0),
        ("10min", 600.0),
        ("  10   min  ", 600.0),
        ("\t2\nh", 7200.0),
        (".5 h", 1800.0),
        ("5. s", 5.0),
        ("0.001 d", 86.4),
        ("1e3 ms", 1.0),
        ("1e-3 h", 3.6),
        ("2E+1s", 20.0),
        ("2 h 30 min", 9000.0),
        ("1h30m", 5400.0),
        ("1 h, 0.5 min", 3630.0),
        ("10 sec.", 10.0),
        ("2 weeks", 1_209_600.0),
        ("1h30", 5400.0),
        ("01:30:00", 5400.0),
        ("48:00:07.5", 172_807.5),
        ("1,000 s", 1000.0),
        ("1_000_000 s", 1e6),
    ],
)
def test_numbers_and_spaces_may_be_written_in_many_ways(words: str, seconds: float) -> None:
    assert duration(words) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize("value", [30, 30.0, np.float64(30), np.int64(30), np.float32(30)])
def test_a_number_is_seconds(value: Any) -> None:
    assert duration(value) == 30.0
    assert type(duration(value)) is float


@pytest.mark.parametrize("value", [timedelta(seconds=30), pandas.Timedelta("30s")])
def test_a_span_of_time_is_a_duration(value: Any) -> None:
    assert duration(value) == 30.0
    with pytest.raises(aptmc.InputError):
        duration(-value)


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_nan=False))
def test_every_positive_number_is_a_duration(seconds: float) -> None:
    assert duration(seconds) == seconds


@given(
    number=st.floats(min_value=1e-6, max_value=1e6),
    unit=st.sampled_from(SECONDS),
    space=st.sampled_from(["", " ", "  "]),
)
def test_words_multiply_the_number_by_the_unit(
    number: float, unit: tuple[str, float], space: str
) -> None:
    word, seconds = unit
    assert duration(f"{number!r}{space}{word}") == number * seconds


@pytest.mark.parametrize(
    "value",
    [
        0,
        0.0,
        -1,
        -0.5,
        math.nan,
        math.inf,
        -math.inf,
        pytest.param(10**400, id="more than a float holds"),
        True,
        False,
        None,
        1j,
        [1.0],
        {},
        np.array([1.0, 2.0]),
        "",
        " ",
        "soon",
        "auto",
        "10",
        "min",
        "10 fortnights",
        "10 ss",
        "-1 s",
        "0 s",
        "0.0 h",
        "1.2.3 s",
        ". s",
        "1e999 s",
        "inf s",
        "nan s",
        "1 h 30",
        "1 h 30 ss",
        "10 s!",
        "1,5 h",
        "1_0 s",
        "1:30",
        "1:60:00",
        "1h60",
        "1,00 s",
        "e3 s",
    ],
)
def test_what_is_no_duration_is_refused(value: Any) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        duration(value, "every")
    message = str(refusal.value)
    assert message.startswith("every must be a positive duration")
    assert repr(value)[:100] in message
    assert len(message) < 300
    assert 'every="10 min"' in message


def test_the_budget_is_what_is_refused_unless_another_name_is_given() -> None:
    with pytest.raises(aptmc.InputError, match=r"^budget must be a positive duration, got 'soon'"):
        duration("soon")


@given(st.text(alphabet="0123456789.eE+- smhdin", max_size=12))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        seconds = duration(text)
    except aptmc.InputError:
        return
    assert 0.0 < seconds < math.inf


def test_a_manual_clock_moves_on_by_one_step_at_each_reading() -> None:
    clock = ManualClock(step=0.25)
    assert [clock.now() for _ in range(4)] == [0.0, 0.25, 0.5, 0.75]


def test_a_manual_clock_stands_still_without_a_step() -> None:
    clock = ManualClock()
    assert [clock.now() for _ in range(3)] == [0.0, 0.0, 0.0]


def test_a_wall_clock_never_goes_back() -> None:
    clock = WallClock()
    readings = [clock.now() for _ in range(100)]
    assert readings == sorted(readings)
