"""Tempered likelihood: rung densities are prior * likelihood ** beta."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.c_functions import DENSITY, GRADIENT, from_c
from aptmc.compiled import Floats
from aptmc.jax_programs.programs import density_of
from aptmc.problem.base import check_function
from aptmc.problem.chain_state import log_prior_column, value_column
from aptmc.problem.density import DensityProblem, checked_call, evaluate_model
from aptmc.problem.prior.prior import Prior, checked_prior
from aptmc.problem.weights import power_log_weight
from aptmc.problem.words import function_name
from aptmc.targets import INTERPRETED, Target, target_of


@class_named_clearly
@final
class Tempered(DensityProblem):
    """A posterior with a likelihood, tempered as prior * likelihood ** beta.

    :param log_likelihood: a function of the parameters, an array in the prior's order. Compiled end
        to end if it is a function of numba, of JAX or of C (a pointer that `ctypes` has from a
        library) and the prior's families are known ones
    :param prior: the prior, with the parameters' names
    :param gradient: a function of the same array that gives the gradient of the log likelihood, for
        kernels that use one. That of a function of JAX is found

    >>> from scipy import stats
    >>> prior = Prior(mean=stats.norm(0, 10))
    >>> def log_likelihood(theta):
    ...     return -0.5 * (theta[0] - 3) ** 2
    >>> Tempered(log_likelihood, prior)
    Tempered(log_likelihood, Prior(mean=norm(0, 10)))
    """

    value_name = "log_likelihood"
    start_remedy = (
        "chains start with draws from the prior, and {} was -inf at all of these. Narrow the prior "
        "to where it is finite, or let it fall off towards that region in place of -inf"
    )
    ladder_kind = "powers"
    has_evidence = True
    reference_level = 0.0

    def __init__(
        self,
        log_likelihood: Callable[[Floats], Any],
        prior: Prior,
        *,
        gradient: Callable[[Floats], Any] | None = None,
    ) -> None:
        check_function(log_likelihood, "log_likelihood")
        checked_prior(prior)
        held = prior.parametrisation
        log_likelihood = from_c(log_likelihood, DENSITY, "log_likelihood")
        gradient = from_c(gradient, GRADIENT, "gradient")
        found = density_of(
            log_likelihood, gradient, held.size, "log_likelihood", has_gradient=held.is_identity
        )
        self.log_likelihood = found.function
        self.prior = prior
        self.notes = found.notes
        super().__init__(
            prior.variables,
            "log_likelihood",
            target=target_of(found.function) if prior.is_compiled else INTERPRETED,
            gradient=found.gradient,
        )

    def __repr__(self) -> str:
        more = "" if self.gradient is None else f", gradient={function_name(self.gradient)}"
        return f"Tempered({function_name(self.log_likelihood)}, {self.prior!r}{more})"

    @property
    @override
    def reference(self) -> Prior:
        """The prior, which is the target at power 0."""
        return self.prior

    @override
    def check_levels(self, levels: tuple[float, ...]) -> None:
        """Any powers will do; power 0 is the prior."""

    @override
    def log_weight(self) -> Callable[[float, float], float]:
        """Exchanges look at the log likelihood, weighed by beta."""
        return power_log_weight

    @override
    def evaluation(self, target: Target) -> Callable[[Floats], None]:
        """Prior first; the likelihood is not computed where the prior is zero."""
        if target.is_compiled:
            log_prior_at = self.prior.functions(target).log_density
            log_likelihood_at = self.of_coordinates(self.log_likelihood, target)
            return target.within(
                evaluate_model, _evaluation(self.dimension, log_prior_at, log_likelihood_at)
            )

        def checked_log_likelihood_at(theta: Floats) -> float:
            where = self.describe(theta)
            return checked_call(
                self.log_likelihood, self.function_name, self.constrain(theta), where
            )

        return _evaluation(self.dimension, self._log_prior_at(), checked_log_likelihood_at)

    def _log_prior_at(self) -> Callable[[Floats], float]:
        log_density = self.prior.functions(INTERPRETED).log_density

        def log_prior_at(theta: Floats) -> float:
            return float(log_density(theta))

        return log_prior_at

    @override
    def draw_start(self, rng: np.random.Generator) -> Floats:
        return self.prior.draw(rng)


def _evaluation(
    dimension: int,
    log_prior_at: Callable[[Floats], float],
    log_likelihood_at: Callable[[Floats], float],
) -> Callable[[Floats], None]:
    value, log_prior = value_column(dimension), log_prior_column(dimension)

    def evaluate(row: Floats) -> None:
        theta = row[:dimension].copy()
        row[log_prior] = log_prior_at(theta)
        # The likelihood may be costly, or undefined, where the prior is zero.
        row[value] = -math.inf if row[log_prior] == -math.inf else log_likelihood_at(theta)

    return evaluate
