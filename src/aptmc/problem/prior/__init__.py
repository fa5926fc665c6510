"""Priors: what is known of the parameters before the data."""

from aptmc.problem.prior.prior import Prior

__all__ = ["Prior"]
