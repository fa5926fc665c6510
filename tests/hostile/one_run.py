"""One run with a function that misbehaves, in a process of its own; what came of it, as JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

import aptmc
from aptmc.errors import MoveFailed, RunFailed
from tests.backends.contract import begin, eventually, same_when_replayed
from tests.hostile.misdeeds import FAR, MISDEEDS, Misdeed, Returned

ENOUGH = 80  # moves
SECONDS = 6.0  # where only the budget ends the run


class Hostile:
    """A standard normal, up to what it does far out."""

    def __init__(self, misdeed: Misdeed, folder: Path) -> None:
        self.misdeed, self.flag = misdeed, str(folder / "done")
        self.main = os.getpid()

    def __call__(self, theta: Any) -> Any:
        if abs(theta[0]) > FAR and os.getpid() != self.main and self.is_due():
            try:
                self.misdeed.do()
            except Returned as returned:
                return returned.args[0]
        return -0.5 * theta[0] * theta[0]

    def is_due(self) -> bool:
        """Whether it is to be done; once means once in all processes."""
        flags = os.O_CREAT | (0 if self.misdeed.is_repeated else os.O_EXCL)
        try:
            os.close(os.open(self.flag, flags))
        except FileExistsError:
            return False
        except OSError:  # it has no descriptors left, or may not write: it was done before
            return self.misdeed.is_repeated
        return True


def outcome(name: str, folder: Path) -> dict[str, Any]:
    """What came of it."""
    misdeed = MISDEEDS[name]
    problem = aptmc.Power(Hostile(misdeed, folder), {"x": 0.0})
    on = aptmc.Processes(2, group=1, ahead=1)
    budget = SECONDS if misdeed.outcome == "is kept in time" else 3600.0
    try:
        with begin(problem, on=on, budget=budget) as handle:
            if misdeed.outcome == "is kept in time":
                run = handle.wait()
            else:
                eventually(lambda: has_seen_it(handle, folder))
                before = handle.inspect().run.completions
                eventually(lambda: handle.inspect().run.completions >= before + ENOUGH)
                run = handle.stop()
    except RunFailed as error:
        key = error.key if isinstance(error, MoveFailed) else None
        parameters = getattr(error, "parameters", {})
        is_named = key is not None and bool(np.isfinite(list(parameters.values())).all())
        return {"error": type(error).__name__, "message": str(error)[:2000], "is named": is_named}
    found = {"stopped": run.stopped.name, "completions": run.completions}
    if run.completions:
        found["same when replayed"] = same_when_replayed(run)
    return found


def has_seen_it(handle: Any, folder: Path) -> bool:
    """Whether it was done, in a run that has begun; if that has failed, `inspect` raises."""
    return handle.inspect().run.completions >= ENOUGH and (folder / "done").exists()


if __name__ == "__main__":
    found = outcome(sys.argv[1], Path(sys.argv[2]))
    Path(sys.argv[2], "outcome.json").write_text(json.dumps(found))
