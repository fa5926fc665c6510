"""What is said of the tolerance of a likelihood-free run: never a prior sold as a posterior.

A tolerance that the run has chosen itself is never called too tight or too wide for its budget:
what is said is what a longer one would give.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from aptmc.result.one_advice import Advice
from aptmc.session.descent import Reached, share_text

MANY_TIMES = 1000.0  # as long: more than that nobody wants to wait
MOST_NAMED = 3  # parameters


def about_tolerance(
    reached: Reached | None,
    alike: Sequence[str],
    parameters: int,
    only_distance: float | None = None,
) -> Iterator[Advice]:
    """What a reader must know before anything else.

    :param alike: parameters whose draws cannot be told from the prior's
    :param parameters: how many there are
    :param only_distance: of all draws, if there is no other
    """
    are_all_alike = len(alike) == parameters > 0
    if reached is not None and reached.is_smallest:
        yield from _about_exact_matches(alike, are_all_alike=are_all_alike)
    elif reached is not None and reached.is_wide and only_distance is not None:
        yield Advice(
            f"all simulations are as far from the data, {only_distance:.3g}, whatever the "
            "parameters, so that the draws are the prior's",
            "Look at what the simulator and the distance give for different parameters",
            serious=True,
        )
    elif reached is not None and (reached.is_wide or not reached.is_as_asked):
        problem = _problem(reached)
        if are_all_alike:
            problem += ", and the draws cannot be told from the prior's"
        yield Advice(problem, _remedy(reached), serious=True)
    elif are_all_alike:
        yield Advice(
            "the draws cannot be told from the prior's",
            "Use a smaller tolerance, or a distance that tells parameters apart",
            serious=True,
        )
    elif alike:
        yield Advice(
            f"the draws of {_some(alike)} cannot be told from the prior's",
            "Use a smaller tolerance; if that changes nothing, the data, as they are compared, say "
            "nothing about them",
            serious=False,
        )


def _about_exact_matches(alike: Sequence[str], *, are_all_alike: bool) -> Iterator[Advice]:
    """At tolerance 0 nothing is left to be asked for but other data, or another distance."""
    if not alike:
        return
    named = "the draws" if are_all_alike else f"the draws of {_some(alike)}"
    yield Advice(
        f"{named} cannot be told from the prior's, though simulations meet the data exactly",
        "The data, as they are compared, say nothing about "
        + ("the parameters" if are_all_alike else "them")
        + ": use a distance that tells parameters apart, if there is one",
        serious=are_all_alike,
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _problem(reached: Reached) -> str:
    level = "∞" if math.isinf(reached.level) else f"{reached.level:.3g}"
    keeps = f"keeps {share_text(reached.prior_share)} of the prior's own simulations"
    if reached.is_as_asked:
        return f"the tolerance {level} {keeps}"
    missed = (
        f"the tolerance that was asked for, {reached.asked:.3g}, was not reached: it is {level}"
    )
    return f"{missed}, which {keeps}" if reached.is_wide else missed


def _remedy(reached: Reached) -> str:
    if not reached.is_as_asked:
        assert reached.asked is not None
        times = reached.times_to(reached.asked)
        if times > MANY_TIMES:
            return "Use a far longer budget, or a larger tolerance"
        return f"Use a longer budget: {max(times, 2.0):.0f} times as long should be enough"
    if not reached.is_chosen:
        return "Use a smaller tolerance, or leave the choice to the run, ladder=aptmc.Ladder.auto()"
    if not math.isfinite(reached.level):
        return "Use a longer budget"
    smaller = reached.tolerance_after(10.0)
    return (
        f"Use a longer budget: ten times as long should give a tolerance of {smaller:.2g} or less"
    )
