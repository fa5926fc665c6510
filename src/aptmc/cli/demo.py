"""The demonstration: predators and prey from ten numbers, and what the processors did meanwhile."""

from __future__ import annotations

from argparse import Namespace

import aptmc
from aptmc.backends import Processes
from aptmc.cli.main import GOOD
from aptmc.clock import duration
from aptmc.errors import RunFailed
from aptmc.models import lotka_volterra as model
from aptmc.result.run import Run

TOLERANCE = 1.0  # the paper's
# Of the budget: on a machine that has other things to do, a quarter may not lead down to there.
SHARE_WARMUP = 0.4
SHARE_BESIDE = 0.3  # of the budget, for the synchronous run
# `python -m experiments.known_targets.references`
REFERENCE = "Rejection, with forty million simulations, gave means of 0.920, 0.00848 and 0.926."


def demo(options: Namespace) -> int:
    """Sample, compare with the synchronous schedule, report."""
    prior = model.prior_exponential()
    problem = aptmc.Abc.early(model.simulated_distance, prior, counts_work=True)
    counts = ", ".join(f"{count:.0f}" for count in model.OBSERVED)
    print(
        f"Prey were counted ten times: {counts}.\n"
        "How fast are they born, how fast eaten, and how fast do their predators die?\n"
        "There is no likelihood, only a simulator, whose runs take from microseconds to seconds.\n"
    )
    on = None if options.workers is None else Processes(options.workers)
    budget = duration(options.budget)
    run = aptmc.sample(
        problem,
        budget=budget,
        ladder=aptmc.Ladder.auto(coldest=TOLERANCE),
        on=on,
        warmup=SHARE_WARMUP * budget,
        keep="all",
        seed=1,
    )
    print(run.summary())
    print(_judgement(run.settings.ladder.levels[0]))
    print("\nNow the usual way for a while: everyone waits for the slowest chain.")
    beside = _synchronous(run, SHARE_BESIDE * budget)
    if beside is not None:
        print(
            f"\nProcessors were inside moves {run.utilisation:.0%} of the time, and "
            f"{beside.utilisation:.0%} with the synchronous schedule."
        )
    print(f"The report is {run.report(options.report, beside=beside)}")
    return GOOD


def _judgement(tolerance: float) -> str:
    if tolerance > TOLERANCE:
        return (
            f"The budget was too short for the paper's tolerance, {TOLERANCE:g}: this is the "
            f"posterior at {tolerance:.3g}, which is wider. Use more, aptmc demo --budget 2min."
        )
    return REFERENCE


def _synchronous(run: Run, budget: float) -> Run | None:
    """The same problem with barriers; on a slow machine it may come to nothing."""
    settings = run.settings
    try:
        return aptmc.sample(
            settings.problem,
            budget=budget,
            ladder=settings.ladder,
            kernel=settings.kernel,
            schedule=aptmc.Synchronous(),
            pools=settings.pools,
            on=settings.on,
            seed=1,
        )
    except RunFailed as failure:
        print(f"It came to nothing: {failure}")
        return None
