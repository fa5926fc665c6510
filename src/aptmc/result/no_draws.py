"""A run that ended before its first draws: what took the time, and how much would be enough."""

from __future__ import annotations

import math

from aptmc.errors import StopReason
from aptmc.result.one_advice import Advice
from aptmc.session.start_up import Spent

BY_SOMEBODY = (StopReason.INTERRUPTED, StopReason.TERMINATED, StopReason.STOPPED)
WORTH_NAMING = 0.05  # of all the time
# Of a part that nobody can tell how far it is, as much again may be to come. And of what is enough
# for the way to the first draws, a warm-up and some draws need as much once more.
UNKNOWN, AND_DRAWS = 0.5, 2.0
LEAST_SHARE = 0.1  # done: less says little about the rest
USUAL = 5.0  # seconds: in less, nobody can tell how long Python and a compiler take to start


def no_draws(stopped: StopReason, start_up: tuple[Spent, ...]) -> Advice:
    """What to say of a run without draws."""
    total = sum(part.seconds for part in start_up)
    if stopped in BY_SOMEBODY and start_up:
        # Whoever ended it knows that it was early, and does not ask for a longer budget.
        last = start_up[-1]
        counted = last.reached.rpartition(": ")[2]
        reached = f" ({counted})" if counted and last.share is not None else ""
        when = f"while {last.what}{reached}, {total:.2g} s after the call"
        return Advice(
            f"{stopped} {when}, before the first draws", "Let it go on for longer", serious=True
        )
    is_last = [*[False] * (len(start_up) - 1), True]
    named = [
        part
        for part, is_where_it_ended in zip(start_up, is_last, strict=False)
        if is_where_it_ended or part.seconds >= WORTH_NAMING * total
    ]
    why = "the coldest rung has no draws"
    if stopped in (StopReason.TOO_SHORT, StopReason.BUDGET_SPENT):
        why = str(StopReason.TOO_SHORT)
    elif stopped is not StopReason.STILL_RUNNING:
        why += f": {stopped}"
    if not named:
        return Advice(why, "Use a longer budget", serious=True)
    took = [_took(part, first=place == 0) for place, part in enumerate(named)]
    listed = " and ".join([", ".join(took[:-1]), took[-1]] if len(took) > 1 else took)
    remedy = f"A budget of about {_rounded_up(enough(start_up))} s should be enough"
    return Advice(f"{why}: {listed}", remedy, serious=True)


def enough(start_up: tuple[Spent, ...]) -> float:
    """Seconds in which there should be draws, by what was seen of the way to them."""
    seconds = AND_DRAWS * sum(
        part.seconds / (UNKNOWN if part.share is None else max(part.share, LEAST_SHARE))
        for part in start_up
    )
    return max(seconds, USUAL) if start_up[-1].share is None else seconds


def _took(part: Spent, *, first: bool) -> str:
    verb = " took" if first else ""
    counted = part.reached.rpartition(": ")[2]
    reached = f" ({counted})" if counted and part.share is not None else ""
    return f"{part.what}{verb} {part.seconds:.2g} s{reached}"


def _rounded_up(seconds: float) -> str:
    """To one or two digits, as people say it."""
    unit = 10.0 ** math.floor(math.log10(max(seconds, 1.0)))
    step = unit if seconds < 2 * unit and unit == 1.0 else unit / 2
    return f"{math.ceil(seconds / step) * step:g}"
