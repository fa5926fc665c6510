"""A schedule of the user's own, as a store describes it."""

from __future__ import annotations

from typing import final

from typing_extensions import override

from aptmc.schedule.base import Numbers, Schedule, after_each_sweep, never


@final
class StoredSchedule(Schedule):
    """What a store says of a schedule of the user's own: enough to read a run, not to go on."""

    shown: str
    never_waits: bool = True

    def __repr__(self) -> str:
        return self.shown

    next_deadline = staticmethod(never)
    after_completion = staticmethod(after_each_sweep)

    @property
    @override
    def settings(self) -> Numbers:
        """No numbers: a store keeps only how the schedule was written."""
        return Numbers()
