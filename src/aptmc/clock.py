"""Time: wall clocks and virtual clocks behind one small interface, and durations in words."""

from __future__ import annotations

import math
import re
import time
from abc import ABC, abstractmethod
from datetime import timedelta
from typing import final

from aptmc.errors import InputError

_SECONDS = {
    unit: seconds
    for seconds, units in (
        (1e-3, "ms millisecond milliseconds"),
        (1.0, "s sec secs second seconds"),
        (60.0, "m min mins minute minutes"),
        (3600.0, "h hr hrs hour hours"),
        (86400.0, "d day days"),
        (604800.0, "week weeks"),
    )
    for unit in units.split()
}


MOST_SHOWN = 100  # characters of what was received


class Clock(ABC):
    """Tells the time in seconds (or in units of virtual time), from an arbitrary origin."""

    @abstractmethod
    def now(self) -> float:
        """The time now, which never goes back."""


@final
class WallClock(Clock):
    """The machine's monotonic clock, which nobody can set."""

    def now(self) -> float:
        """Seconds since an arbitrary moment."""
        return time.perf_counter()


@final
class ManualClock(Clock):
    """A clock that moves on by a fixed step each time it is read, so that tests never wait."""

    def __init__(self, step: float = 0.0) -> None:
        self._time = 0.0
        self._step = step

    def now(self) -> float:
        """The present virtual time; the next reading is one step later."""
        present = self._time
        self._time += self._step
        return present


def duration(value: float | int | str | timedelta, name: str = "budget") -> float:
    """A duration in seconds, from a number or from words.

    >>> duration("10 min"), duration("1.5 h"), duration("500 ms"), duration(30)
    (600.0, 5400.0, 0.5, 30.0)
    >>> duration("2 h 30 min"), duration(timedelta(minutes=5))
    (9000.0, 300.0)
    >>> duration("1h30"), duration("01:30:00")
    (5400.0, 5400.0)
    """
    if isinstance(value, str):
        seconds = _in_words(value.strip().lower())
    elif isinstance(value, bool):
        seconds = math.nan
    elif hasattr(value, "total_seconds"):  # of the standard library or of pandas
        seconds = value.total_seconds()
    else:
        try:
            seconds = float(value)
        except (OverflowError, TypeError, ValueError):
            seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise InputError(
            f"{name} must be a positive duration, got {repr(value)[:MOST_SHOWN]}: "
            f'use a number of seconds, or words like {name}="10 min" or {name}="2 h"'
            + (', or a count, budget="10000 simulations"' if name == "budget" else "")
        )
    return seconds


def time_in_words(time: float, unit: str = "s") -> str:
    """A time with the unit that suits it.

    >>> time_in_words(7200.0), time_in_words(0.0042), time_in_words(12.345, "unit")
    ('2 h', '4.2 ms', '12.3 unit')
    """
    if time == 0.0 or not math.isfinite(time):
        return "none"
    if unit != "s":
        return f"{time:.3g} {unit}"
    for seconds, name in ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms")):
        if time >= seconds:
            return f"{time / seconds:.3g} {name}"
    return f"{time * 1e6:.3g} µs"


def _in_words(words: str) -> float:
    """Seconds, from one or several numbers with their units; NaN if it is anything else."""
    clock = re.fullmatch(r"([0-9]+):([0-5][0-9]):([0-5][0-9](?:\.[0-9]+)?)", words)
    if clock is not None:  # as schedulers of clusters have it
        return int(clock[1]) * 3600.0 + int(clock[2]) * 60.0 + float(clock[3])
    words = re.sub(r"(?<=[0-9])[,_](?=[0-9]{3}(?![0-9]))", "", words)  # 1,000
    words = re.sub(r"(?<=[0-9]h)([0-5]?[0-9])$", r"\1min", words)  # 1h30
    number = r"[0-9.]+(?:e[+-]?[0-9]+)?"
    if re.fullmatch(rf"(?:{number}\s*[a-z]+\.?[\s,]*)+", words) is None:
        return math.nan
    total = 0.0
    for amount, unit in re.findall(rf"({number})\s*([a-z]+)", words):
        try:
            total += float(amount) * _SECONDS.get(unit, math.nan)
        except ValueError:
            return math.nan
    return total


def pause(seconds: float) -> None:
    """Sleep for so many seconds."""
    time.sleep(seconds)


def time_of_day() -> float:
    """Seconds since 1970, which other processes tell alike."""
    return time.time()


def resolution() -> float:
    """How finely the machine's clock tells the time, in seconds."""
    return time.get_clock_info("perf_counter").resolution
