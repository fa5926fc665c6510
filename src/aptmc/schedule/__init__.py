"""Schedules: when chains are exchanged, and by which rule. Each is a file."""

from aptmc.schedule.anytime import AUTO, FOLLOWING, Anytime
from aptmc.schedule.base import (
    BARRIER,
    DEADLINES_PER_SWEEP,
    NOTHING,
    WITHIN_POOL,
    AfterCompletion,
    NextDeadline,
    Numbers,
    Plan,
    Schedule,
)
from aptmc.schedule.stored import StoredSchedule
from aptmc.schedule.synchronous import Synchronous
from aptmc.schedule.uncorrected import Uncorrected

__all__ = [
    "AUTO",
    "BARRIER",
    "DEADLINES_PER_SWEEP",
    "FOLLOWING",
    "NOTHING",
    "WITHIN_POOL",
    "AfterCompletion",
    "Anytime",
    "NextDeadline",
    "Numbers",
    "Plan",
    "Schedule",
    "StoredSchedule",
    "Synchronous",
    "Uncorrected",
]  # fmt: skip
