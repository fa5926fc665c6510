"""The annealing: a population that goes from the prior to the posterior, power by power.

It is how a run begins whose kernel must know the shape of what it moves in. Shapes and steps differ
between prior and posterior by orders of magnitude: a chain that starts in one with the settings of
the other does not move. Here powers grow so slowly that what suits one suits the next. Nothing of
it counts, so that it need not be exact; but it measures what a run has to know: the kernel's
settings for any power, how powers are to be spaced, states to start from, and whether chains get
about in the posterior by themselves.
"""

from aptmc.warmup.annealing.annealing import Annealing
from aptmc.warmup.annealing.guides import guide_for
from aptmc.warmup.annealing.trial import Trial
from aptmc.warmup.annealing.windows import Windows

__all__ = ["Annealing", "Trial", "Windows", "guide_for"]
