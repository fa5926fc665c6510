"""One run of one library on one density, in the library's environment; started by `cells`."""

from __future__ import annotations

import inspect
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.pyabc_cases import NOTES
from experiments.comparison.given import GIVEN, Answer, Limits
from experiments.comparison.problem import Density
from experiments.comparison.problems import PROBLEMS

PLUMBING = "here"  # ends a line that is there for the comparison's sake


def lines_of(module: ModuleType) -> int:
    """How much a user writes: the lines of `sample`, without its head and what is only here."""
    source = inspect.getsource(module.sample).splitlines()[1:]
    lines = [line.strip() for line in source]
    return sum(
        bool(line) and not line.startswith(('"""', "#", "return")) and not line.endswith(PLUMBING)
        for line in lines
    )


def estimates(answer: Answer, name: str) -> list[float]:
    """Means of the density's quantities."""
    values = np.asarray(PROBLEMS[name].quantities(np.asarray(answer.draws)), dtype=float)
    weights = np.ones(len(values)) if answer.weights is None else np.asarray(answer.weights)
    means: list[float] = (weights @ values / weights.sum()).tolist()
    if not np.isfinite(means).all():
        raise ValueError("there are no draws to take means of")
    return means


def count_processors_time() -> None:
    """From now on clocks tell how long this process was computing, not what others did meanwhile.

    So libraries that know a time keep to it on any machine, each as it keeps to one of the clock.
    """
    for name in ("perf_counter", "monotonic", "time"):
        setattr(time, name, time.process_time)


@contextmanager
def notes_of_sleep() -> Iterator[Callable[[float], float | None]]:
    """How many seconds all processes slept in simulations, within the budget; None: they do not."""
    began = time.monotonic()

    def slept(budget: float) -> float | None:
        if not os.path.exists(os.environ[NOTES]):
            return None
        start, length = np.fromfile(os.environ[NOTES]).reshape(-1, 2).T
        end = began + budget
        return float(np.clip(np.minimum(start + length, end) - start, 0.0, None).sum())

    with TemporaryDirectory() as folder:
        os.environ[NOTES] = os.path.join(folder, "slept")
        try:
            yield slept
        finally:
            del os.environ[NOTES]


def run(name: str, library: str, seed: int, limits: Limits) -> dict[str, Any]:
    """What it found, in numbers."""
    problem = PROBLEMS[name]
    if isinstance(problem, Density):
        GIVEN.density = problem
        problem.log_posterior(problem.from_cube(np.full(problem.dimension, 0.5)))  # compiles
    else:
        GIVEN.simulator = problem
        if not problem.case.sleeps:
            problem.case.simulate(np.array(problem.truth.means), np.random.default_rng(0))
    GIVEN.forget()
    module = import_module(f"experiments.comparison.libraries.{library}")
    began, spent = time.perf_counter(), sum(os.times()[:4])
    with notes_of_sleep() as slept:
        answer: Answer = module.sample(problem, limits, seed)
        elapsed = time.perf_counter() - began
        asleep = slept(limits.seconds)
    used = answer.evaluations
    return {
        "elapsed": elapsed,
        "idle": None if asleep is None else 1.0 - asleep / (limits.workers * limits.seconds),
        "processor": sum(os.times()[:4]) - spent,
        "whole": sum(os.times()[:4]),  # with the start of Python and all imports
        "means": estimates(answer, name),
        "log_evidence": None if answer.log_evidence is None else float(answer.log_evidence),
        "evaluations": int(GIVEN.evaluations if used is None else used),
        "lines": lines_of(module),
        "note": answer.note,
    }


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    asked = json.loads(sys.argv[1])
    if asked["patience"]:  # the clock says little on a machine that does other things as well
        resource.setrlimit(resource.RLIMIT_CPU, (asked["patience"], asked["patience"] + 30))
    if asked["is_processors"]:
        count_processors_time()
    print(
        json.dumps(run(asked["problem"], asked["library"], asked["seed"], Limits(*asked["limits"])))
    )
