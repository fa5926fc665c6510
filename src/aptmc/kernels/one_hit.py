"""The 1-hit kernel for likelihood-free problems (Algorithm 4), with an exact cap on its race."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, Integers, at_speed
from aptmc.errors import InputError
from aptmc.kernels.base import STEPS, Kernel
from aptmc.kernels.priors import prior_functions
from aptmc.kernels.proposals import (
    Scale,
    check_one_given,
    described,
    proposal_factors,
    propose_normal,
    propose_truncated,
)
from aptmc.ladder import Ladder
from aptmc.problem import Abc, Problem
from aptmc.problem.state import (
    ACCEPTED,
    BAD_VALUE,
    FAILURES,
    SIMULATIONS,
    STATUS,
    WORK,
    accepts,
    log_prior_column,
    value_column,
)

# Measured: docs/lotka_volterra.md. Time spent in a long race is better spent on other proposals.
DEFAULT_CAP = 1

# Places in the tuning after the number of steps, before the bounds and the factor.
CAP, IS_TRUNCATED, BOUNDS = 1, 2, 3


@final
@dataclass(frozen=True)
class OneHit(Kernel):
    """Race the proposal against the present parameters: whose simulation hits the ball first?

    Of the two simulations of a round the proposal's is run first, and the other only if that
    missed, since a hit of the proposal decides the race. A race that is undecided after `cap`
    rounds leaves the state as it is. This is exact for every cap that does not look at parameters
    or at the clock; a cap of 1, the default, is plain ABC-MCMC with one simulation per step, and
    `None` is the paper's kernel. On a rung with infinite tolerance each step is a fresh draw from
    the prior.

    :param scale: standard deviation of the proposals: a number; a mapping from names to numbers; or
        a sequence with one entry per rung, each a number or one number per parameter
    :param covariance: covariance matrix of the proposals, in place of `scale`
    :param cap: the most rounds of a race, for all rungs or for each
    :param truncate: propose from a normal truncated to the prior's support (True) or to bounds
        (lower, upper), each a number or one per parameter; only with `scale`
    :param steps: how many local steps make one move

    >>> OneHit(0.5)
    OneHit(scale=0.5, cap=1)
    """

    scale: Scale | None = None
    covariance: npt.ArrayLike | None = None
    cap: int | Sequence[int | None] | Integers | None = DEFAULT_CAP
    truncate: bool | tuple[Any, Any] = False
    steps: int = 1

    def __post_init__(self) -> None:
        check_one_given("OneHit", self.scale, self.covariance)
        whole_number("steps", self.steps)
        if isinstance(self.cap, np.ndarray):
            object.__setattr__(self, "cap", self.cap.tolist())
        for cap in self.cap if isinstance(self.cap, Sequence) else [self.cap]:
            if cap is not None:
                whole_number("cap", cap)
        if self.truncate is not False and self.covariance is not None:
            raise InputError("truncate works with scale only, not with covariance: give scales")

    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """Steps, cap, whether proposals are truncated, their bounds, and the factor."""
        abc, rungs = _abc(problem), ladder.rungs
        dimension = abc.dimension
        factors = proposal_factors(self.scale, self.covariance, abc.names, rungs)
        caps = list(self.cap) if isinstance(self.cap, Sequence) else [self.cap] * rungs
        if len(caps) != rungs:
            raise InputError(f"cap must have one entry for each of {rungs} rungs, got {self.cap!r}")
        lower, upper = self._bounds(abc)
        table = np.empty((rungs, BOUNDS + 2 * dimension + dimension**2))
        table[:, STEPS] = self.steps
        table[:, CAP] = [math.inf if cap is None else cap for cap in caps]
        table[:, IS_TRUNCATED] = self.truncate is not False
        table[:, BOUNDS : BOUNDS + dimension] = lower
        table[:, BOUNDS + dimension : BOUNDS + 2 * dimension] = upper
        table[:, BOUNDS + 2 * dimension :] = factors.reshape(rungs, -1)
        return table

    def _bounds(self, problem: Abc) -> tuple[Floats, Floats]:
        if isinstance(self.truncate, bool):
            return problem.reference.support
        try:
            bounds = [
                np.broadcast_to(np.asarray(bound, dtype=float), problem.dimension)
                for bound in self.truncate
            ]
        except (TypeError, ValueError):
            bounds = []
        if len(bounds) != 2 or not (bounds[0] < bounds[1]).all():
            raise InputError(
                f"truncate must be True or a pair (lower, upper), got {self.truncate!r}"
            )
        return bounds[0], bounds[1]

    def body(self, problem: Problem, *, compiled: bool) -> Callable[..., None]:
        """The race."""
        abc = _abc(problem)
        dimension, rejects_failures = abc.dimension, abc.rejects_failures
        value, log_prior = value_column(dimension), log_prior_column(dimension)
        simulate_into = abc.simulation(compiled=compiled)
        log_prior_at, draw_from_prior = prior_functions(abc, compiled=compiled)
        propose = at_speed(propose_normal, compiled=compiled)
        between_bounds = at_speed(propose_truncated, compiled=compiled)

        def simulate(row: Floats, rng: Any, tolerance: float, info: Floats) -> bool:
            """Whether a simulation hits. Failures are counted, or noted in the status."""
            info[WORK] += simulate_into(row, rng, tolerance)
            info[SIMULATIONS] += 1.0
            if row[value] >= 0.0:
                return bool(row[value] <= tolerance)
            if rejects_failures:
                info[FAILURES] += 1.0
            else:
                info[STATUS] = BAD_VALUE
            return False

        if compiled:
            from numba import njit

            simulate = njit(simulate, nogil=True)

        def move(
            level: float, tuning: Floats, state: Floats, rng: Any, outcome: Floats, info: Floats
        ) -> None:
            cap = tuning[CAP]
            lower = tuning[BOUNDS : BOUNDS + dimension]
            upper = tuning[BOUNDS + dimension : BOUNDS + 2 * dimension]
            factor = tuning[BOUNDS + 2 * dimension :].reshape(dimension, dimension)
            proposal = np.empty_like(state)
            rival = np.empty_like(state)
            outcome[:] = state
            info[:] = 0.0
            for _ in range(int(tuning[STEPS])):
                if level == math.inf:
                    draw_from_prior(rng, proposal)
                    proposal[log_prior] = log_prior_at(proposal[:dimension])
                    if simulate(proposal, rng, level, info):
                        outcome[:] = proposal
                        info[ACCEPTED] += 1.0
                    elif info[STATUS] != 0.0:
                        outcome[:] = proposal
                        return
                    continue

                log_ratio = 0.0  # of the proposal densities, back over forth
                if tuning[IS_TRUNCATED] != 0.0:
                    log_ratio = between_bounds(
                        rng, dimension, factor, lower, upper, outcome, proposal
                    )
                    if log_ratio == -math.inf:
                        continue
                else:
                    propose(rng, dimension, factor, outcome, proposal)
                proposal[log_prior] = log_prior_at(proposal[:dimension])
                log_ratio += proposal[log_prior] - outcome[log_prior]
                if not accepts(log_ratio, rng.random()):
                    continue

                rival[:] = outcome
                rounds = 0
                while rounds < cap:
                    rounds += 1
                    if simulate(proposal, rng, level, info):
                        outcome[:] = proposal
                        info[ACCEPTED] += 1.0
                        break
                    if info[STATUS] != 0.0:
                        outcome[:] = proposal
                        return
                    # With a cap of one round nothing depends on the rival's simulation.
                    if cap > 1.0:
                        if simulate(rival, rng, level, info):
                            outcome[:] = rival
                            break
                        if info[STATUS] != 0.0:
                            outcome[:] = rival
                            return

        return move

    def __repr__(self) -> str:
        options = [described(self.scale, self.covariance), f"cap={self.cap!r}"]
        if self.truncate is not False:
            options.append(f"truncate={self.truncate!r}")
        if self.steps > 1:
            options.append(f"steps={self.steps}")
        return f"OneHit({', '.join(options)})"


def _abc(problem: Problem) -> Abc:
    if not isinstance(problem, Abc):
        raise InputError(
            f"OneHit needs a simulator, got a problem of kind {type(problem).__name__}: "
            "use aptmc.RandomWalk for a density"
        )
    return problem
