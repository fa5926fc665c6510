"""What every kernel offers: a step, what belongs to a rung as numbers, and how it learns."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats, FloatTable, Integers, compiler_words
from aptmc.errors import InputError
from aptmc.kernels.code import code_of
from aptmc.kernels.fitted_reference import numbers_of, share_of_prior, with_reference
from aptmc.kernels.parts import Parts
from aptmc.kernels.seen import Seen
from aptmc.kernels.stages import GOES, GOES_ON, Stages, stages_of
from aptmc.kernels.students import Students
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem
from aptmc.problem.chain_state import ACCEPTED, OWN, STATUS, move_model
from aptmc.targets import Target

STEPS = 0  # the place in every kernel's tuning of the number of local steps that make a move


class Kernel(ABC):
    """How a chain moves between exchanges, and how it learns to. One small class; only `step` must
    be written.
    """

    # What steps count beside how many were accepted: `run.statistics` has the sums by rung.
    statistics: tuple[str, ...] = ()
    # Whether numba understands the step. If not, problems are computed in plain Python.
    compiles = True
    # Whether its steps leave alone what `Parts.evaluate` fills in, whatever the reference is. Not
    # those that know the target of a rung otherwise: they need the prior as reference.
    suits_any_reference = True

    @abstractmethod
    def step(self, parts: Parts) -> Callable[..., bool]:
        """A function like `aptmc.problem.chain_state.step_model`, built of the parts of a problem.

        It must leave the target of each rung as it is. On a rung that is nothing but the reference
        it is not asked: there every step is a fresh draw.
        """

    def stages(self, parts: Parts) -> Stages | None:
        """The same step so that one can leave it in mid-way, as lanes do; None: it has none."""
        return None

    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """One row of numbers for each rung, or an error if they do not fit. Steps are given theirs.

        The first is the number of local steps that make a move, so that backends can group cheap
        moves into units that are worth sending.
        """
        return np.ones((ladder.rungs, 1))

    @final
    def numbers(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """By rung, all that a move is given as numbers: the tuning, and the fitted reference."""
        table = self.tuning(problem, ladder)
        if not problem.reference_is_fitted:
            return table
        reference = ladder.reference if isinstance(ladder.reference, Students) else None
        numbers = numbers_of(reference, share_of_prior(problem))
        return np.column_stack([table, np.tile(numbers, (len(table), 1))])

    def search_tuning(
        self, problem: Problem, ladder: Ladder, covariance: FloatTable | None
    ) -> Floats:
        """One row for the search for first states, in which nothing has to be exact.

        :param covariance: of the states that are to be moved; None: nobody is to be moved yet
        """
        row: Floats = self.tuning(problem, ladder)[-1]
        return row

    def search_anywhere(
        self, problem: Problem, ladder: Ladder, states: FloatTable
    ) -> Floats | None:
        """One row for the same search, with proposals like all of those who search.

        Where it does not lead farther than steps do, it is not used. None, the default: this kernel
        has no such proposals.

        :param states: the parameters of those who search, one row each, without copies
        """
        return None

    # --- learning -----------------------------------------------------------------------------

    @property
    def learns(self) -> bool:
        """Whether a warm-up is held for it: if it says how it is adapted."""
        return type(self).adapted is not Kernel.adapted

    @property
    def anneals(self) -> bool:
        """Whether a warm-up begins with a population that goes from the prior to the posterior."""
        return False

    @property
    def learns_from_all(self) -> bool:
        """Whether it can use what all rungs have seen, where each has seen little (`by_all`)."""
        return False

    def looks_at(self, rung: int, theta: FloatTable, log_target: Floats) -> FloatTable | None:
        """What tells, beside parameters and likelihood, where chains of a rung stay for long.

        A warm-up asks for it to see whether chains of the coldest rung get about by themselves. A
        column for each; None, the default: this kernel cannot tell.

        :param theta: states, one row each
        :param log_target: the log density there of what the rung samples, up to a constant
        """
        return None

    def at_first(self, spread: Floats, rungs: int) -> Kernel:
        """The kernel of the first round.

        :param spread: about the standard deviations of the parameters, before anything is known
        """
        return self

    def adapted(self, seen: Seen) -> Kernel:
        """The kernel of the next round, from what the last one has seen of each rung."""
        return self

    def respaced(self, nearest: Integers) -> Kernel:
        """The same for another ladder.

        :param nearest: for each new rung, the old one whose settings suit it best
        """
        return self

    def frozen(self) -> Kernel:
        """The same with what it has learnt as given by hand: it learns no more."""
        return self

    def renewing(self) -> Kernel | None:
        """The same with a fresh draw from the reference in each step, where its steps are learnt.

        A warm-up asks for it where more than a tenth of such draws hit, so that nothing is better.
        It must have the same `code`. None, the default: this kernel cannot.
        """
        return None

    # --- computing ----------------------------------------------------------------------------

    @property
    def code(self) -> Hashable:
        """What of the kernel is in its compiled step: those with equal code share one.

        By default all that it holds. A kernel whose settings reach its step through `tuning` alone
        may leave them out, and is not compiled again when it is adapted.
        """
        return type(self), code_of(vars(self))

    @final
    @property
    def places(self) -> dict[str, int]:
        """Where in `info` its statistics are."""
        return {name: OWN + place for place, name in enumerate(self.statistics)}

    @final
    @property
    def info_length(self) -> int:
        """How many numbers a move's `info` has."""
        return OWN + len(self.statistics)

    @final
    def move(self, problem: Problem, target: Target) -> Callable[..., None]:
        """The move function for a problem; compiled once per problem and code."""
        moves, code = problem.compiled_moves, None
        if target.is_compiled:
            code = (target, self.code)
            if code in moves:
                return moves[code]
        parts = Parts(problem, target, self.places)
        body = _steps(self.step(parts), parts, self.info_length)
        if problem.reference_is_fitted:
            body = with_reference(body, target, self.info_length)
        try:
            move = target.like(move_model, body)
        except Exception as error:
            raise InputError(
                f"the step of {self!r} cannot be compiled: write it in Python that numba "
                "understands, or say `compiles = False` in its class to have it called from "
                f"Python. numba says: {compiler_words(error)}"
            ) from error
        if code is not None:
            moves[code] = move
        return move


def _steps(step: Callable[..., bool], parts: Parts, info_length: int) -> Callable[..., None]:
    """The loop of every move."""
    level_of_reference = parts.problem.reference_level
    reference_level = np.nan if level_of_reference is None else level_of_reference
    renew, copy_into, helper = parts.renew, parts.copy_into, parts.target.helper
    stages = stages_of(step)
    if stages is None:
        step = helper(step)

        def move(
            level: float, tuning: Floats, state: Floats, rng: Any, outcome: Floats, info: Floats
        ) -> None:
            there = np.empty(state.size)
            copy_into(outcome, state)
            for i in range(info_length):  # a fitted reference follows
                info[i] = 0.0
            # Whoever has no state yet looks for one, which need not be exact.
            is_lost = math.isnan(state[0])
            for _ in range(int(tuning[STEPS])):
                if level == reference_level or is_lost:
                    goes = renew(level, rng, there, info)
                else:
                    goes = step(level, tuning, outcome, rng, there, info)
                has_failed = info[STATUS] != 0.0
                if goes or is_lost or has_failed:  # be it how far a lost one was from being found
                    copy_into(outcome, there)
                    if has_failed:
                        return
                    if goes:
                        info[ACCEPTED] += 1.0
                        if is_lost:
                            return

        return _finished(move, parts)

    size, begin, advance = stages.size, helper(stages.begin), helper(stages.advance)

    def move_in_stages(
        level: float, tuning: Floats, state: Floats, rng: Any, outcome: Floats, info: Floats
    ) -> None:
        """The same, where the step is run here: a copy less for the compiler to make."""
        there, memory = np.empty(state.size), np.empty(size)
        copy_into(outcome, state)
        for i in range(info_length):
            info[i] = 0.0
        is_lost = math.isnan(state[0])
        for _ in range(int(tuning[STEPS])):
            if level == reference_level or is_lost:
                goes = renew(level, rng, there, info)
            else:
                begin(level, tuning, outcome, rng, there, memory, info)
                stage = GOES_ON
                while stage == GOES_ON:
                    stage = advance(level, tuning, outcome, rng, there, memory, info)
                goes = stage == GOES
            has_failed = info[STATUS] != 0.0
            if goes or is_lost or has_failed:
                copy_into(outcome, there)
                if has_failed:
                    return
                if goes:
                    info[ACCEPTED] += 1.0
                    if is_lost:
                        return

    return _finished(move_in_stages, parts)


def _finished(move: Callable[..., None], parts: Parts) -> Callable[..., None]:
    """The same, and what the state keeps for users is written at the end, if there is any."""
    finish = parts.problem.finishing(parts.target)
    if finish is None:
        return move
    walk = parts.target.helper(move)

    def move_and_finish(
        level: float, tuning: Floats, state: Floats, rng: Any, outcome: Floats, info: Floats
    ) -> None:
        walk(level, tuning, state, rng, outcome, info)
        if info[STATUS] == 0.0:
            finish(rng, outcome)

    return move_and_finish
