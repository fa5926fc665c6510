"""`aptmc demo`: predators and prey from ten numbers, and what the processors did meanwhile."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import aptmc
from aptmc.cli.command import GOOD, Command

TOLERANCE = 1.0  # the paper's
# Of the budget: on a machine that has other things to do, a quarter may not lead down to there.
SHARE_WARMUP = 0.4
SHARE_BESIDE = 0.3  # of the budget, for the synchronous run
# `python -m experiments.known_targets.references`
REFERENCE = "Rejection, with forty million simulations, gave means of 0.920, 0.00848 and 0.926."

WORDS = """\
Infers how fast prey are born and eaten, and how fast their predators die, from ten counts: on all
processors, with a live view. Then it lets everyone wait for the slowest for a while, as usual, and
writes a report on both. Takes a minute and a half.

examples:
  aptmc demo
  aptmc demo --budget 2min --workers 4
"""


def add_options(parser: ArgumentParser) -> None:
    """How long, on how many processes, and where the report goes."""
    parser.add_argument("--budget", default="60 s", help="for the anytime run (default: 60 s)")
    parser.add_argument(
        "--report", default="aptmc-demo.html", help="where it goes (default: aptmc-demo.html)"
    )
    parser.add_argument("--workers", type=int, help="processes (default: all processors)")


def demo(options: Namespace) -> int:
    """Sample, compare with the synchronous schedule, report."""
    from aptmc.clock import duration
    from aptmc.models import lotka_volterra as model

    prior = model.prior_exponential()
    problem = aptmc.Abc.early(model.simulated_distance, prior, counts_work=True)
    counts = ", ".join(f"{count:.0f}" for count in model.OBSERVED)
    print(
        f"Prey were counted ten times: {counts}.\n"
        "How fast are they born, how fast eaten, and how fast do their predators die?\n"
        "There is no likelihood, only a simulator, whose runs take from microseconds to seconds.\n"
    )
    on = None if options.workers is None else aptmc.Processes(options.workers)
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
    if run.completions == 0:
        print("More time shows more: aptmc demo --budget 2min")
        return GOOD
    print(judgement(run.settings.ladder.levels[0]))
    print("\nNow the usual way for a while: everyone waits for the slowest chain.")
    beside = _synchronous(run, SHARE_BESIDE * budget)
    if beside is not None:
        print(
            f"\nProcessors were inside moves {run.utilisation:.0%} of the time, and "
            f"{beside.utilisation:.0%} with the synchronous schedule."
        )
    written = run.report(options.report, title="Predators and prey", beside=beside)
    print(f"The report is {written}")
    return GOOD


def judgement(tolerance: float) -> str:
    """What to think of the first run, which stands on a tolerance."""
    if tolerance > TOLERANCE:
        return (
            f"The budget was too short for the paper's tolerance, {TOLERANCE:g}: this is the "
            f"posterior at {tolerance:.3g}, which is wider. Use more, aptmc demo --budget 2min."
        )
    return REFERENCE


def _synchronous(run: aptmc.Run, budget: float) -> aptmc.Run | None:
    """The same problem with barriers; on a slow machine it may come to nothing."""
    settings = run.settings
    try:
        run = aptmc.sample(
            settings.problem,
            budget=budget,
            ladder=settings.ladder,
            kernel=settings.kernel,
            schedule=aptmc.Synchronous(),
            pools=settings.pools,
            on=settings.on,
            seed=1,
        )
    except aptmc.RunFailed as failure:
        print(f"It came to nothing: {failure}")
        return None
    if run.completions == 0:
        print(f"It came to nothing: {run.stopped}")
        return None
    return run


COMMAND = Command(
    "demo", "predators and prey on all processors, and a report", WORDS, add_options, demo
)
