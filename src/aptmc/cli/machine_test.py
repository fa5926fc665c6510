"""A test of this machine: two far modes, whose weights and places are known."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, final

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends import Backend
from aptmc.clock import WallClock
from aptmc.diagnostics.error_of_mean import Timeline, effective_draws
from aptmc.errors import RunFailed

TOO_FAR = 5.0  # standard errors: a false alarm in a million
FEWEST = 50.0  # effective draws: with fewer there is nothing to judge
MORE_TIME = 4.0  # times as long, once, on a machine that is busy
PASSED = "passed"
NOT_JUDGED = "not judged, with too few draws on a slow or busy machine: aptmc doctor --seconds 60"
FAR_APART = 8.0


@njit
def log_likelihood(theta: Any) -> float:
    """Two modes of the same weight, at -8 and 8."""
    return -0.5 * (abs(theta[0]) - 8.0) ** 2  # type: ignore[no-any-return]


@final
class Verdict(NamedTuple):
    """What a test has measured, and whether it was passed."""

    name: str
    numbers: dict[str, float]
    verdict: str

    @property
    def is_good(self) -> bool:
        """Whether nothing was found to be wrong, so far as this test can tell."""
        return self.verdict in (PASSED, NOT_JUDGED)


def examined(name: str, budget: float, every: float | str, on: Backend) -> Verdict:
    """Sample two modes, which must get the same weight and lie where they lie.

    On a machine that is busy it takes longer to tell; that nobody can tell is no fault.
    """
    verdict = _examined(name, budget, every, on)
    if verdict.verdict == NOT_JUDGED:
        verdict = _examined(name, MORE_TIME * budget, every, on)
    return verdict


def _examined(name: str, budget: float, every: float | str, on: Backend) -> Verdict:
    problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(-20, 40)))
    settings: dict[str, Any] = {
        "ladder": aptmc.Ladder.powers([1, 0.3, 0.1, 0.03, 0]),
        "kernel": aptmc.RandomWalk(2.0),
        "schedule": aptmc.Anytime(every=every),
        "pools": aptmc.Shared(math.ceil((2 * on.processors + 2) / 5)),
        "on": on,
        "progress": False,
        "seed": 1,
    }
    try:
        if on.time_unit != "s":  # compile it first, so that this does not count
            aptmc.sample(problem, budget=100, **settings)
        began = WallClock().now()
        run = aptmc.sample(problem, budget=budget, **settings)
        seconds = WallClock().now() - began if on.time_unit != "s" else run.elapsed
    except RunFailed as failure:
        return Verdict(name, {}, f"FAILED: {failure}")
    x, times = run.series("x"), [chain.time for chain in run.chains()]
    errors = {
        "mean": _standard_errors(x, times, 0.0),
        "modes": _standard_errors([abs(values) for values in x], times, FAR_APART),
    }
    if any(map(math.isnan, errors.values())):
        return Verdict(name, {}, NOT_JUDGED)
    is_right = max(errors.values()) < TOO_FAR
    numbers = {
        f"{what}, standard errors from the truth": round(error, 2) for what, error in errors.items()
    }
    numbers |= {
        "moves per second": round(run.completions / max(seconds, 1e-9)),
        "local steps per move": int(run.steps_per_move.max()),
    }
    if on.time_unit == "s":
        numbers |= {
            "start-up, seconds": round(float(run.overhead.startup), 2),
            "share of the time inside moves": round(run.utilisation, 3),
        }
    return Verdict(name, numbers, PASSED if is_right else "FAILED: please report this")


def _standard_errors(chains: list[Any], times: list[Any], truth: float) -> float:
    """How far a mean is off; NaN if there are too few draws to tell."""
    values = np.concatenate(chains)
    timeline = Timeline([chain.size for chain in chains], times)
    effective = effective_draws(chains, timeline) if values.size > FEWEST else 0.0
    if not effective >= FEWEST:
        return math.nan
    return float(abs(values.mean() - truth) / (values.std() / math.sqrt(effective)))
