"""One run of ours with a budget and nothing else set; started by `benchmarks.pyabc_budgets`."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from typing import Any

import numpy as np
from scipy import stats

import aptmc
from aptmc import RunHandle, sample, start  # imported before the clock runs, like pyABC
from benchmarks.pyabc_cases import CASES, Case

LOOK_EVERY = 0.02  # seconds
STANDS_WITHIN = re.compile(r": \d+ within (\S+)$")


def problem_of(case: Case) -> aptmc.Abc:
    """The same functions as pyABC is given."""
    sides = zip(case.parameters, case.low, case.high, strict=True)
    prior = aptmc.Prior(**{name: stats.uniform(low, high - low) for name, low, high in sides})
    return aptmc.Abc(case.simulate, prior, observed=list(case.observed), distance=case.distance)


class Lookout:
    """Notes when the descent has come down to which tolerance, by what it says of itself."""

    def __init__(self, handle: RunHandle, start: float) -> None:
        """Look on until the run ends."""
        self.reached: list[list[float]] = []
        self._handle, self._start = handle, start
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        heading = ""
        start_up = self._handle._control.start_up
        while self._handle.is_running:
            words = start_up.words
            now = time.monotonic() - self._start
            found = STANDS_WITHIN.search(words)
            if words != heading:
                # Whoever heads for the next tolerance stands on the one before.
                before = STANDS_WITHIN.search(heading)
                if before and not (found and found[1] == before[1]):
                    self.reached.append([float(before[1]), now])
                heading = words
            time.sleep(LOOK_EVERY)

    def so_far(self) -> list[list[float]]:
        """Tolerances and moments, when the run has ended."""
        self._thread.join()
        return self.reached


def found_by(case: Case, run: aptmc.Run) -> dict[str, Any]:
    """What a run has found."""
    columns = [np.concatenate(run.series(name)) for name in case.parameters]
    values = case.quantities(np.column_stack(columns))
    warmup = run._warmup
    descent = None if warmup is None else warmup.reached
    return {
        "tolerance": run.settings.ladder.levels[0],
        "means": values.mean(axis=0).tolist(),
        "draws": len(values),
        "rungs": run.settings.ladder.rungs,
        "descent": None if descent is None else [descent.elapsed, descent.simulations],
        "said": [str(advice) for advice in run.advice],
    }


def run(case: Case, workers: int, seconds: float, simulations: int, seed: int) -> Any:
    """What it found in numbers.

    :param seconds: the budget; 0: it is in simulations, in virtual time
    """
    problem = problem_of(case)
    began = time.monotonic()
    if simulations:
        done = sample(
            problem, budget=simulations / workers, on=aptmc.VirtualTime(workers), seed=seed,
            progress=False,
        )  # fmt: skip
        return {"start": began, "returned": time.monotonic() - began} | found_by(case, done)
    handle = start(problem, budget=seconds, on=aptmc.Processes(workers), seed=seed)
    lookout = Lookout(handle, began)
    done = handle.wait()
    returned = time.monotonic() - began
    reply = {"start": began, "returned": returned, "reached": lookout.so_far()}
    return reply | found_by(case, done)


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    name = asked.pop("case")
    del asked["patience"]
    print(json.dumps(run(CASES[name], **asked)))
