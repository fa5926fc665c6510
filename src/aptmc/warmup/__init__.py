"""The warm-up: rounds that double in length, between which settings are adapted, then frozen.

What is decided here looks at the past, so no draw of the warm-up is part of the posterior.
"""

from aptmc.warmup.guess import first_guess
from aptmc.warmup.outcome import Round, WarmUp
from aptmc.warmup.tuner import Tuner

__all__ = ["Round", "Tuner", "WarmUp", "first_guess"]
