"""Two worker processes on the compiled Lotka-Volterra model at tolerance 0.4: are they ever idle?

Utilisation is the share of the workers' time that they spent inside moves, whoever else uses the
processors. The coordinating process shares the two processors with them. Moves differ in length
between the samplers, since the schedules group steps as they see fit, so simulations per second
compare them. Start-up is everything before the first move that counts: starting Python, compiling
the model, first states, trial moves.
"""

from __future__ import annotations

import aptmc
from aptmc.schedule import Schedule
from benchmarks.background import sample_for, waiting_ahead
from experiments.lotka_volterra.gain import HARDER
from experiments.lotka_volterra.samplers import problem

WORKERS = 2
SETTINGS = HARDER.settings
CHAINS = SETTINGS.tolerances.size
EVERY = 0.02  # seconds: about the time in which each chain moves once
SCHEDULES = {"anytime": aptmc.Anytime(every=EVERY), "synchronous": aptmc.Synchronous()}


def run_of(schedule: Schedule, cap: int, seconds: float) -> aptmc.Run:
    """One run."""
    return sample_for(
        seconds,
        problem("uniform"),
        ladder=aptmc.Ladder.tolerances(SETTINGS.tolerances),
        kernel=aptmc.OneHit(SETTINGS.standard_deviations, truncate=(0.0, SETTINGS.upper), cap=cap),
        schedule=schedule,
        on=aptmc.Processes(WORKERS),
        seed=cap,
    )


def print_row(name: str, cap: int, run: aptmc.Run) -> None:
    """What one run says."""
    steps, cost = run.steps_per_move, run.overhead
    is_anytime = isinstance(run.settings.schedule, aptmc.Anytime)
    deadlines = run.elapsed / EVERY if is_anytime else run.completions / CHAINS
    # The exchanges of a barrier are a part of the completion that reaches it.
    exchanges = f"{cost.exchanges / deadlines * 1e6:.0f}" if is_anytime else ""
    print(
        f"| {cap} | {name} | {cost.startup:.1f} | {steps.min()} to {steps.max()} "
        f"| {waiting_ahead(run) if is_anytime else 0} | {run.utilisation:.3f} "
        f"| {run.completions / run.elapsed:,.0f} | {run.simulations / run.elapsed:,.0f} "
        f"| {cost.coordinator / run.completions * 1e6:.0f} "
        f"| {run.completions / CHAINS / deadlines:.2f} | {exchanges} |"
    )


def main(*, quick: bool) -> None:
    """Print one table."""
    seconds = 1.0 if quick else 30.0
    print(f"## Two worker processes, Lotka-Volterra at tolerance 0.4, {CHAINS} chains\n")
    print(
        "| cap | schedule | start-up, s | steps per move | ahead | utilisation | moves per second "
        "| simulations per second | coordinator, µs per move | moves of a chain per exchange round "
        "| exchanges, µs per round |"
    )
    print("| --- " * 11 + "|")
    for cap in (1,) if quick else (1, 100):
        for name, schedule in SCHEDULES.items():
            if not (quick and name == "synchronous"):
                print_row(name, cap, run_of(schedule, cap, seconds))
    print()
