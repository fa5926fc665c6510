"""Problems: what is sampled."""

from aptmc.problem.abc import Abc
from aptmc.problem.base import Problem
from aptmc.problem.power import Power
from aptmc.problem.prior.prior import Prior
from aptmc.problem.tempered import Tempered

__all__ = ["Abc", "Power", "Prior", "Problem", "Tempered"]
