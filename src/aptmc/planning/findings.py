"""What predictions mean, in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from aptmc.clock import time_in_words
from aptmc.planning.coordinators import FULL
from aptmc.planning.planner import Planner
from aptmc.planning.prediction import Prediction

FAR = math.log(2.0)  # a correction beyond a factor of two is worth a warning


def findings(planner: Planner, saturation: int | None, rows: Sequence[Prediction]) -> Iterator[str]:
    """What a table of predictions shows, one sentence or two each.

    :param saturation: how many processors one coordinator can just serve
    """
    yield _check(planner)
    yield from _coordinator(planner, saturation, rows)
    for one, several in _side_by_side(rows):
        gain = several.ess_per_hour / one.ess_per_hour
        words = "" if math.isnan(gain) else f" and {gain:.2g} times the effective draws"
        yield (
            f"{one.processors:,} processors: {several.coordinators} independent runs, each with "
            f"its own coordinator and {one.processors // several.coordinators:,} processors, give "
            f"utilisation {several.utilisation:.2f} instead of {one.utilisation:.2f}{words}"
            f"{_warmup(one, several, planner.pilot.time_unit)}"
        )
    yield from _chains(planner, rows)
    yield from _settings(planner, rows)
    yield from _limits(planner)


def _check(planner: Planner) -> str:
    pilot, own = planner.pilot, planner.own
    unit = pilot.time_unit
    words = (
        f"the pilot itself, simulated: utilisation {own.utilisation:.3f} (measured "
        f"{pilot.utilisation:.3f}), {own.moves_per_second:,.3g} moves/{unit} (measured "
        f"{pilot.moves_per_second:,.3g})"
    )
    worst = pilot.effective.worst
    correction = planner.correction[worst]
    if pilot.transitions is not None and math.isfinite(correction):
        words += f", effective draws {1.0 / correction:.2g} times those measured: corrected for"
    return words


def _coordinator(
    planner: Planner, saturation: int | None, rows: Sequence[Prediction]
) -> Iterator[str]:
    unit = planner.pilot.time_unit
    if planner.cost == 0.0:
        yield (
            "no cost of the coordinator is known, so none was counted: give cost=, 0.1 ms for "
            "worker processes, say"
        )
        return
    measured = "measured" if planner.request.cost is None else "given"
    most = 1.0 / planner.cost
    words = (
        f"one coordinator takes {time_in_words(planner.cost, unit)} for a completion "
        f"({measured}), so it can serve {most:,.3g} moves/{unit} at most"
    )
    if saturation is None:
        yield f"{words}; moves are grouped so that it never comes to that"
        longest = max(rows, key=lambda row: row.steps)
        if longest.steps >= 2.0:
            yield (
                f"on {longest.processors:,} processors {longest.steps:.0f} of the pilot's moves "
                "make one, and exchanges are so much the rarer for each: group=False shows what it "
                "would be like otherwise"
            )
    else:
        yield f"{words}: beyond {saturation:,} processors one coordinator is the limit"


def _side_by_side(rows: Sequence[Prediction]) -> Iterator[tuple[Prediction, Prediction]]:
    for one, other in pairwise(rows):
        if one.processors == other.processors:
            yield one, other


def _warmup(one: Prediction, several: Prediction, unit: str) -> str:
    if several.warmup == 0.0:
        return ""
    return (
        f"; each has a warm-up of its own, of {time_in_words(several.warmup, unit)}, where one run "
        f"would need {time_in_words(one.warmup, unit)}"
    )


def _chains(planner: Planner, rows: Sequence[Prediction]) -> Iterator[str]:
    pilot = planner.pilot
    if not pilot.schedule.can_change_deadlines or planner.request.chains_per_rung is not None:
        return
    movers = int(pilot.standing(pilot.chains_per_rung, pilot.movers).sum())
    short = [row for row in rows if row.processors + 2 > movers and row.coordinators == 1]
    if short:
        needs = ", ".join(f"{row.chains_per_rung} for {row.processors:,}" for row in short)
        yield (
            f"more chains are needed: the pilot's {movers} keep at most {movers - 2} processors "
            f"busy. Chains on each rung: {needs} processors (pools=aptmc.Shared(…))"
        )


def _settings(planner: Planner, rows: Sequence[Prediction]) -> Iterator[str]:
    pilot = planner.pilot
    if pilot.transitions is None or not pilot.schedule.can_change_deadlines:
        return
    usual = type(pilot.schedule.rule(pilot.ladder.kind)).__name__
    rules = {row.exchange for row in rows} - {usual}
    for rule in sorted(rules):
        yield f"with several chains on each rung exchange=aptmc.{rule}() does better than {usual}()"
    fewer = [f"{row.processors:,}" for row in rows if row.rungs < pilot.ladder.rungs]
    if fewer:
        yield (
            "every second rung would do, with as many chains in all, on "
            f"{', '.join(fewer)} processors"
        )


def _limits(planner: Planner) -> Iterator[str]:
    pilot = planner.pilot
    if pilot.transitions is None:
        yield (
            "effective draws are a rough guess, as many per move as in the pilot: a pilot with "
            'keep="all" and thin=1 lets exchanges be simulated, too, and the ladder be judged'
        )
        return
    worst = pilot.effective.worst
    if not np.isfinite(pilot.effective.per_second[worst]):
        yield "the pilot has too few draws to tell effective draws from: run it for longer"
    elif abs(math.log(planner.correction[worst])) > FAR:
        yield (
            "the pilot's moves describe its mixing badly, so effective draws are doubtful: a "
            "longer pilot helps, unless there are very many parameters"
        )
    if planner.own.utilisation > 0.0 and planner.own.load > FULL:
        yield "the pilot's own coordinator was at its limit: its latency is overstated"
