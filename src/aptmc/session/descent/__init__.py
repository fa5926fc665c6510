"""The descent: a population that goes down from the prior to small tolerances, and never waits.

It is how a likelihood-free run begins. Nothing of it counts, so that it need not be exact; but it
finds states for all chains, and measures what the run has to know: how much of the prior lies
within a tolerance, what a hit costs there, and how far parameters spread.
"""

from aptmc.session.descent.descent import Descent
from aptmc.session.descent.errand import Errand, RunErrand, Tell, carry_out, say_nothing
from aptmc.session.descent.goal import Affordable, DownTo, Goal
from aptmc.session.descent.reached import Reached, reached_by, reached_so_far, share_text
from aptmc.session.descent.stages import Stage, mass_curve, rows_within, share_within, step_size_at

__all__ = [
    "Affordable",
    "Descent",
    "DownTo",
    "Errand",
    "Goal",
    "Reached",
    "RunErrand",
    "Stage",
    "Tell",
    "carry_out",
    "mass_curve",
    "reached_by",
    "reached_so_far",
    "rows_within",
    "say_nothing",
    "share_text",
    "share_within",
    "step_size_at",
]
