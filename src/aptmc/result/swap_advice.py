"""Advice on exchanges: what their rates show, and where a ladder ends too early."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aptmc.compiled import Floats
from aptmc.result.one_advice import Advice
from aptmc.settings import Settings

RARE_SWAPS, USUAL_SWAPS = 0.1, 0.9


def about_swaps(
    rates: Floats,
    round_trips: int,
    *,
    was_searched: bool,
    ends_short_at: float | None = None,
    is_mostly_cold: bool = False,
) -> Iterator[Advice]:
    """What the exchange rates of neighbours show.

    :param was_searched: whether the ladder was found in the warm-up
    :param ends_short_at: the hottest power, if the prior lies beyond it
    :param is_mostly_cold: whether chains of the coldest rung get about by themselves: then round
        trips are there for modes that nobody knows of
    """
    never = np.flatnonzero(np.isnan(rates))
    rare = np.flatnonzero(rates < RARE_SWAPS)
    usual = np.flatnonzero(rates > USUAL_SWAPS)
    if never.size > 0:
        yield Advice(
            f"{_pairs(never)} never waited at the same deadline, so they could not swap",
            "Use more chains, pools=aptmc.Shared(2), and deadlines with jitter, "
            "aptmc.Anytime(every=…, jitter=0.5)",
            serious=True,
        )
    if rare.size > 0:
        yield Advice(
            f"{_pairs(rare)} hardly ever swap ({_percent(rates[rare].min())} of the time)",
            "Use more rungs there"
            if not was_searched
            else "Use a longer budget, of which the warm-up has its share",
            serious=True,
        )
    # A ladder of two rungs has none to spare.
    if usual.size > 0 and rates.size > 1:
        yield Advice(
            f"{_pairs(usual)} nearly always swap ({_percent(rates[usual].max())} of the time)",
            "Use fewer rungs: these cost time and add little"
            if not was_searched
            else "Use a longer budget, of which the warm-up has its share",
            serious=False,
        )
    # Where no swaps succeed there are no round trips, which need no second remedy.
    if rates.size > 0 and round_trips == 0 and never.size == rare.size == 0:
        yield Advice(
            "no state travelled from the coldest rung to the hottest and back",
            "Use a longer budget, or deadlines that come more often",
            serious=not is_mostly_cold,
        )
    if ends_short_at is not None:
        yield Advice(
            f"the ladder ends at power {ends_short_at:.3g}: modes that chains cannot reach there "
            "are missing without a sign",
            "End it at power 0, which is the prior, or leave the ladder out",
            serious=False,
        )


def ends_short_at(settings: Settings) -> float | None:
    """The hottest power of a ladder that could have ended at the prior, and does not."""
    if settings.problem.is_stored:  # what is left of one in a store says nothing of its prior
        return None
    end, ladder = settings.problem.reference_level, settings.ladder
    is_short = ladder.kind == "powers" and ladder.rungs > 1 and end not in (None, ladder.levels[-1])
    return ladder.levels[-1] if is_short else None


def _pairs(colder: np.ndarray) -> str:
    named = [f"{rung} and {rung + 1}" for rung in colder[:3].tolist()]
    more = f" and {colder.size - 3} pairs more" if colder.size > 3 else ""
    return f"rungs {', '.join(named)}{more}"


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"
