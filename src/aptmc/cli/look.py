"""One look at a run that another process computes, from its store."""

from __future__ import annotations

import math
from pathlib import Path
from typing import final

import numpy as np

import aptmc
from aptmc.cli.run_as_json import known
from aptmc.errors import StopReason
from aptmc.progress import LiveState
from aptmc.result.run import Run
from aptmc.sampling.status import Status, read_status
from aptmc.store import being_written
from aptmc.store.checkpoint import CHECKPOINTS
from aptmc.warmup.guess import ROUNDS


@final
class Look:
    """A stored run as it is now, and whether anybody still computes it."""

    def __init__(self, store: Path, before: Look | None = None) -> None:
        """Read what is new: checkpoints come every few seconds, and have many draws."""
        self.store = store
        # In this order: whoever has let go of the store has left its last checkpoint there.
        is_being_written = being_written(store)
        self.stamp = _stamp(store)
        self.run: Run
        self._stored: LiveState
        if before is not None and before.stamp == self.stamp:
            self.run, self._stored = before.run, before._stored
        else:
            self.run = aptmc.open(store)
            self._stored = live_state_of(self.run)
        status = read_status(store)
        self.live = self._stored if status is None else with_status(self._stored, status)
        self.has_gone = not is_being_written and self.run.stopped is StopReason.STILL_RUNNING

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen here."""
        return self.has_gone or self.run.stopped is not StopReason.STILL_RUNNING

    @property
    def last_words(self) -> str:
        """How it ended, as the last line of a view says it."""
        if self.has_gone:
            again = f"aptmc resume {self.store} PROBLEM --budget ..."
            return f"the process that computed it has gone; to go on, {again}"
        return str(self.run.stopped)


def _stamp(store: Path) -> list[int]:
    """When the checkpoints were written: there is nothing new to read before that changes."""
    files = [store / name for name in CHECKPOINTS]
    return [file.stat().st_mtime_ns for file in files if file.exists()]


def look_as_json(look: Look) -> dict[str, object]:
    """What `aptmc watch --json` prints."""
    said = look.live._asdict()
    said["levels"] = [str(level) for level in look.live.levels]
    said["swap_rates"] = [known(rate) for rate in look.live.swap_rates.tolist()]
    said["workers"] = [worker._asdict() for worker in look.live.workers]
    stopped = "gone" if look.has_gone else look.run.stopped.name.lower()
    return {"stopped": stopped} | {name: known(value) for name, value in said.items()}


def live_state_of(run: Run) -> LiveState:
    """What a stored run shows, as it was at its last checkpoint."""
    rounds = run.warmup_rounds
    is_warming_up = run.completions == 0 and bool(rounds)
    effective = [row.ess for row in run.summary().values()]
    warmup = sum(part.elapsed for part in rounds)
    return LiveState(
        elapsed=run.elapsed + warmup,
        budget=run.settings.budget,
        unit=run.settings.on.time_unit,
        draws=sum(draws.time.size for draws in run.chains()),
        effective=float(np.nanmin(effective)) if np.isfinite(effective).any() else math.nan,
        moves=run.completions,
        utilisation=run.utilisation,
        levels=run.settings.ladder.levels,
        swap_rates=run.swap_rates.neighbours,
        workers=[],
        round=len(rounds) + 1 if is_warming_up else None,
        rounds=ROUNDS,
        reached="" if run.reached is None else str(run.reached),
    )


def with_status(live: LiveState, status: Status) -> LiveState:
    """The same run with what its status file has told since the last checkpoint."""
    live = live._replace(
        workers=status.workers,
        round=status.round,
        rounds=status.rounds,
        silence=status.age,
        doing=status.doing,
    )
    if live.unit == "s":
        return live._replace(elapsed=status.elapsed, budget=status.budget)
    return live
