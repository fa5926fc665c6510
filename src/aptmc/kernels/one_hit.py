"""The 1-hit kernel for likelihood-free problems (Algorithm 4), with an exact cap on its race."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.errors import InputError
from aptmc.kernels.jumps import check_jumps, draw_anywhere, first_fit, jump_numbers
from aptmc.kernels.learned import Learned, usual_scale
from aptmc.kernels.parts import Parts
from aptmc.kernels.proposals import bounds, propose_normal, propose_truncated
from aptmc.kernels.proposing import Proposing
from aptmc.kernels.students import Students, block_length, log_mixture
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem
from aptmc.problem.chain_state import STATUS, accepts

# Measured: docs/lotka_volterra.md. Time spent in a long race is better spent on other proposals.
DEFAULT_CAP = 1
# Where one draw of the prior in ten hits, one race of so many is lost in 40,000.
FRESH_CAP = 100
# Of the variance of those who search for first states: as large as that of their steps.
SEARCH_SPREAD = 1.0
SEARCH_RIDGE, TINY = 1e-6, 1e-300

# Most proposals, where there is a reference. Steps are left for where it has less than the target.
USUAL_SHARE_OF_JUMPS = 0.9

# Places in the tuning after the number of steps, before the bounds, the factor and the mixture.
CAP, PROPOSALS, JUMPS, BOUNDS = 1, 2, 3, 4
# Proposals are a normal around the present parameters, the same truncated, or draws of the prior.
NORMAL, TRUNCATED, FRESH = 0.0, 1.0, 2.0


@class_named_clearly
@final
@dataclass(frozen=True)
class OneHit(Proposing):
    """Race the proposal against the present parameters: whose simulation hits the ball first?

    Of the two simulations of a round the proposal's is run first, and the other only if that
    missed, since a hit of the proposal decides the race. A race that is undecided after `cap`
    rounds leaves the state as it is. This is exact for every cap that does not look at parameters
    or at the clock; a cap of 1, the default, is plain ABC-MCMC with one simulation per step, and
    `None` is the paper's kernel. On a rung with infinite tolerance each step is a fresh draw from
    the prior.

    :param scale: standard deviation of the proposals: a number; a mapping from names to numbers; or
        a sequence with one entry per rung, each a number or one number per parameter; or "auto": a
        covariance for each rung is found in the warm-up. An infinite one, `math.inf`, has no
        centre: each round of the race is a fresh draw from the prior, without a rival, as in
        rejection sampling. Best where many of them hit, which "auto" finds, too
    :param covariance: covariance matrix of the proposals, in place of `scale`
    :param cap: the most rounds of a race, for all rungs or for each
    :param truncate: propose from a normal truncated to the prior's support (True) or to bounds
        (lower, upper), each a number or one per parameter; only with `scale`
    :param steps: how many local steps make one move
    :param reference: a mixture like the target, `aptmc.kernels.Students`, for all rungs or one for
        each. With "auto" it is fitted to what each rung sees in the warm-up
    :param jumps: the share of proposals that are drawn from the reference, if there is one,
        wherever the chain is: so it comes from mode to mode, and along what is thin and bent

    >>> OneHit(0.5)
    OneHit(scale=0.5, cap=1)
    """

    cap: int | Sequence[int | None] | Integers | None = DEFAULT_CAP
    truncate: bool | tuple[Any, Any] = False
    steps: int = 1
    reference: Students | None = None
    jumps: float = USUAL_SHARE_OF_JUMPS

    fits_reference = True
    statistics = ("simulations", "failures")

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("steps", self.steps)
        check_jumps(self.reference, self.jumps)
        if isinstance(self.cap, np.ndarray):
            object.__setattr__(self, "cap", self.cap.tolist())
        for cap in self.cap if isinstance(self.cap, Sequence) else [self.cap]:
            if cap is not None:
                whole_number("cap", cap)
        if self.truncate is not False and (
            self.covariance is not None or self.learns or self._is_fresh
        ):
            raise InputError(
                "truncate works with scale only, a finite one, not with covariance or what is "
                "learnt: give scales"
            )

    @override
    def first_scale(self, dimension: int) -> float:
        """As for a random walk. A step can be no more acceptable than simulations hit, whatever its
        size, so it stays.
        """
        return usual_scale(dimension)

    @override
    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """Steps, cap, the kind of proposals, the share of jumps, bounds, factor and mixture."""
        _need_simulator(problem)
        rungs = ladder.rungs
        caps = list(self.cap) if isinstance(self.cap, Sequence) else [self.cap] * rungs
        if len(caps) != rungs:
            raise InputError(f"cap must have one entry for each of {rungs} rungs, got {self.cap!r}")
        lower, upper = bounds(self.truncate, problem)
        proposals = NORMAL if self.truncate is False else TRUNCATED
        reference = self.reference
        if isinstance(self.scale, Learned) and self.scale.fitted is not None:
            reference = self.scale.fitted.proposals
        jumps = 0.0 if reference is None else self.jumps
        kind = FRESH if self._is_fresh else proposals
        common = [self.steps, math.nan, kind, jumps, *lower, *upper]
        # What is fresh has no factor; one of the same size keeps its place.
        scaled = replace(self, scale=1.0) if self._is_fresh else self
        table = scaled._table(problem, ladder, common)
        table[:, CAP] = [math.inf if cap is None else cap for cap in caps]
        if reference is None:
            return table
        if reference.dimension != problem.dimension:
            raise InputError(
                f"the reference has {reference.dimension} coordinates, and the problem "
                f"{problem.dimension}, {', '.join(problem.names)}: give one for all of them"
            )
        return np.column_stack([table, jump_numbers(reference, rungs)])

    @override
    def search_tuning(
        self, problem: Problem, ladder: Ladder, covariance: FloatTable | None
    ) -> Floats:
        """Steps that follow the spread of those who search. Races are of no use to them."""
        if covariance is None:
            covariance = np.eye(problem.dimension)
        searching = OneHit(covariance=with_floor(SEARCH_SPREAD * covariance))
        return searching._of_a_search(problem)

    @override
    def search_anywhere(
        self, problem: Problem, ladder: Ladder, states: FloatTable
    ) -> Floats | None:
        """Draws from a mixture that is fitted to those who search."""
        covariance = with_floor(np.atleast_2d(np.cov(states, rowvar=False)))
        reference = first_fit([states], covariance[None]).reference
        return OneHit(covariance=covariance, reference=reference, jumps=1.0)._of_a_search(problem)

    def _of_a_search(self, problem: Problem) -> Floats:
        row: Floats = self.tuning(problem, Ladder((math.inf,), kind="tolerances"))[0]
        return row

    @property
    def _is_fresh(self) -> bool:
        return isinstance(self.scale, float) and self.scale == math.inf

    @override
    def renewing(self) -> OneHit | None:
        """With "auto", an infinite scale, and nearly as many rounds as it takes to hit."""
        return replace(self, scale=math.inf, cap=FRESH_CAP) if self.learns else None

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """Propose parameters, let the prior refuse them, then race them against the present ones.

        If a simulation of the proposal is the first within the tolerance, the chain goes there. If
        one of the present parameters is, they stay, with that simulation in place of their old one.
        If neither is after `cap` rounds, everything stays as it was. Fresh draws from the prior
        have no rival: how likely one of them hits does not depend on where the chain is.
        """
        _need_simulator(parts.problem)
        dimension, log_prior = parts.dimension, parts.log_prior
        log_prior_at, simulate, copy_into = parts.log_prior_at, parts.simulate, parts.copy_into
        draw = parts.draw
        propose = parts.target.library(propose_normal)
        between_bounds = parts.target.library(propose_truncated)
        jump, log_reference = parts.target.library(draw_anywhere), parts.target.library(log_mixture)
        factor = BOUNDS + 2 * dimension
        weights = factor + dimension**2
        numbers_of_one = 1 + block_length(dimension)

        def step(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
        ) -> bool:
            cap = tuning[CAP]
            log_ratio = 0.0  # of the proposal densities, back over forth
            rounds = 0
            if tuning[PROPOSALS] == FRESH:
                while rounds < cap:
                    rounds += 1
                    draw(rng, there)
                    there[log_prior] = log_prior_at(there[:dimension])
                    if simulate(there, rng, level, info):
                        return True
                    if info[STATUS] != 0.0:
                        return False
                return False
            if tuning[JUMPS] > 0.0 and rng.random() < tuning[JUMPS]:
                most = (tuning.size - weights - 1) // numbers_of_one
                mixture = weights + most
                jump(rng, dimension, tuning, weights, mixture, there)
                logs, squares = np.empty(most), np.empty(most)
                log_ratio = log_reference(dimension, tuning, mixture, here, logs, squares)
                log_ratio -= log_reference(dimension, tuning, mixture, there, logs, squares)
            elif tuning[PROPOSALS] == TRUNCATED:
                log_ratio = between_bounds(rng, dimension, tuning, BOUNDS, here, there)
                if log_ratio == -math.inf:
                    return False
            else:
                propose(rng, dimension, tuning, factor, here, there)
            there[log_prior] = log_prior_at(there[:dimension])
            log_ratio += there[log_prior] - here[log_prior]
            if not accepts(log_ratio, rng.random()):
                return False

            if cap == 1.0:
                # Nothing depends on the rival's simulation.
                return simulate(there, rng, level, info)
            rival = here.copy()
            while rounds < cap:
                rounds += 1
                if simulate(there, rng, level, info):
                    return True
                if info[STATUS] != 0.0:
                    return False
                if simulate(rival, rng, level, info):
                    copy_into(here, rival)
                    return False
                if info[STATUS] != 0.0:
                    copy_into(there, rival)
                    return False
            return False

        return step

    def __repr__(self) -> str:
        options: dict[str, Any] = {"cap": self.cap}
        if self.reference is not None:
            options["reference"] = self.reference
        if self.jumps != USUAL_SHARE_OF_JUMPS:
            options["jumps"] = self.jumps
        if self.truncate is not False:
            options["truncate"] = self.truncate
        if self.steps > 1:
            options["steps"] = self.steps
        return self._described(**options)


def with_floor(covariance: FloatTable) -> FloatTable:
    """The same, so that it has an inverse even if all that was seen lies in a plane."""
    floor = SEARCH_RIDGE * np.diag(np.diag(covariance)) + TINY * np.eye(len(covariance))
    return np.asarray(covariance + floor)


def _need_simulator(problem: Problem) -> None:
    if not problem.has_simulator:
        raise InputError(
            f"OneHit needs a simulator, got a problem of kind {type(problem).__name__}: "
            "use aptmc.RandomWalk for a density"
        )
