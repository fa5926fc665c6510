"""Whether a posterior needs a ladder at all: one hill does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from aptmc.compiled import Integers
from aptmc.kernels import EllipticalSlice, Students
from aptmc.result.one_advice import Advice

if TYPE_CHECKING:
    from aptmc.settings import Settings

# Of known targets those of one hill get ladders of 12 to 17 rungs, on which a single rung is worth
# 15 times as many draws. Where there are few rungs they cost little, and may be worth more.
LONG = 5


def about_one_hill(rungs: int, modes_seen: int, *, is_mostly_cold: bool) -> Iterator[Advice]:
    """What to say of a long ladder on which nothing but one hill was seen."""
    if rungs >= LONG and modes_seen == 1 and not is_mostly_cold:
        yield Advice(
            f"none of {rungs} rungs shows more than one mode, and most of the work is done above "
            "the coldest",
            "Try ladder=[1], a single rung, which is worth many times as many draws for a "
            "posterior that is one hill, and see whether both agree",
            serious=False,
        )


def is_mostly_cold(settings: Settings, rung_of_chain: Integers) -> bool:
    """Whether most chains of a ladder of powers stand where draws count, for they get about there:
    the other rungs are for modes that nobody knows of.
    """
    on_coldest = int(np.sum(rung_of_chain == 0))
    return settings.ladder.kind == "powers" and 2 * on_coldest > rung_of_chain.size


def modes_seen(settings: Settings) -> int:
    """Into how many pieces the warm-up has divided what a rung has seen, at most; 0: not known."""
    kernel, ladder = settings.kernel, settings.ladder
    if ladder.kind != "powers" or ladder.reference is not None:
        return 0
    if not isinstance(kernel, EllipticalSlice) or not isinstance(kernel.reference, Students):
        return 0
    return max(kernel.reference.components(rung) for rung in range(ladder.rungs))
