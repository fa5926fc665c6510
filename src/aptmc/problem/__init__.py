"""Problems: what is sampled."""

from aptmc.problem.abc import Abc
from aptmc.problem.base import Problem
from aptmc.problem.power import Power
from aptmc.problem.prior.given import given
from aptmc.problem.prior.iid import iid
from aptmc.problem.prior.nested import nested_prior
from aptmc.problem.prior.prior import Prior
from aptmc.problem.tempered import Tempered
from aptmc.problem.variables import Variable

__all__ = [
    "Abc",
    "Power",
    "Prior",
    "Problem",
    "Tempered",
    "Variable",
    "given",
    "iid",
    "nested_prior",
]
