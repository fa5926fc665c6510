"""`aptmc.plan`: from a pilot run to a table of predictions."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from aptmc.arguments import named_clearly
from aptmc.checks import numbers, whole_number
from aptmc.clock import duration
from aptmc.errors import InputError
from aptmc.keys import check_seed
from aptmc.planning.choices import PlanRequest
from aptmc.planning.coordinators import Coordinators
from aptmc.planning.findings import findings
from aptmc.planning.pilot import pilot_of
from aptmc.planning.planner import Planner
from aptmc.planning.prediction import Predictions
from aptmc.result.run import Run
from aptmc.sampling.opening import open as open_stored

FEWEST_COMPLETIONS = 1000


@named_clearly
def plan(
    pilot: Run | str | os.PathLike[str],
    workers: int | Sequence[int],
    *,
    latency: float | str | None = None,
    cost: float | str | None = None,
    chains_per_rung: int | None = None,
    every: float | str | None = None,
    ahead: int | None = None,
    group: bool = True,
    effort: int = 50_000,
    seed: int = 0,
) -> Predictions:
    """Predict what a run would be like on other processors, from one that has been made.

    Nothing of the problem is computed: the real coordinator runs in virtual time, with the pilot's
    own moves and hold times. A pilot with keep="all" serves best: otherwise only processors are
    simulated, and effective draws are a rough guess.

    :param pilot: a run, or the folder of a stored one
    :param workers: how many processors; several numbers for several predictions
    :param latency: from the end of a move until its processor has the next, in seconds or in words;
        by default what the pilot measured
    :param cost: the coordinator's time for each completion, exchanges included; by default what the
        pilot measured
    :param chains_per_rung: by default the best that is found
    :param every: time between deadlines; by default the best that is found. With both of these
        given nothing is looked for: the pilot's own ladder and exchange rule are taken
    :param ahead: moves that wait at each processor; by default what `Processes` would choose
    :param group: whether short moves are made longer as processors become more, which `Processes`
        does
    :param effort: completions of one simulation: more of them make predictions more exact
    :param seed: of the simulations

    >>> import numba, aptmc
    >>> @numba.njit
    ... def log_density(theta):
    ...     return -0.5 * theta[0] ** 2
    >>> run = aptmc.sample(
    ...     aptmc.Power(log_density, start={"x": 0.0}),
    ...     budget=20_000,
    ...     ladder=aptmc.Ladder.powers(4),
    ...     kernel=aptmc.RandomWalk(1.0),
    ...     schedule=aptmc.Anytime(every=2),
    ...     on=aptmc.VirtualTime(workers=2),
    ...     keep="all",
    ...     seed=1,
    ... )
    >>> predictions = aptmc.plan(run, workers=[16], latency=1.0, cost=0.01, effort=20_000)
    >>> round(predictions[0].utilisation, 1)
    0.5
    """
    run = _run(pilot)
    several = [workers] if np.ndim(workers) == 0 else list(workers)  # type: ignore[arg-type]
    if not several:
        raise InputError("workers must name at least one number of processors, got none")
    processors = sorted({whole_number("workers", count) for count in several})
    request = PlanRequest(
        latency=_delay("latency", latency),
        cost=_delay("cost", cost),
        chains_per_rung=(
            None if chains_per_rung is None else whole_number("chains_per_rung", chains_per_rung)
        ),
        every=None if every is None else duration(every, "every"),
        ahead=None if ahead is None else whole_number("ahead", ahead, least=0),
        group=bool(group),
        effort=whole_number("effort", effort, least=FEWEST_COMPLETIONS),
        seed=check_seed(seed),
    )
    planner = Planner(pilot_of(run), request)
    coordinators, rows = Coordinators(planner), []
    for count in processors:
        rows.append(planner.best(count))
        several_coordinators = coordinators.side_by_side(count)
        if several_coordinators is not None:
            rows.append(several_coordinators)
    return Predictions(
        tuple(rows),
        coordinators.saturation,
        planner.latency,
        planner.cost,
        planner.pilot.time_unit,
        tuple(findings(planner, coordinators.saturation, rows)),
    )


def _run(pilot: Run | str | os.PathLike[str]) -> Run:
    if isinstance(pilot, Run):
        return pilot
    if isinstance(pilot, str | os.PathLike):
        return open_stored(pilot)
    raise InputError(f"pilot must be a run or the folder of a stored one, got {pilot!r}")


def _delay(name: str, value: float | str | None) -> float | None:
    """A duration in seconds, which may be zero."""
    if value is None:
        return None
    number = None if isinstance(value, str) else numbers(value)
    if number is not None and number.ndim == 0 and number == 0.0:
        return 0.0
    return duration(value, name)
