"""Jumps between models with different numbers of parameters, and steps within each."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, Integers, is_compiled, source_of
from aptmc.errors import InputError
from aptmc.kernels.base import Kernel
from aptmc.kernels.code import code_of
from aptmc.kernels.jump_maps import check_maps
from aptmc.kernels.learned import BEST_IN_ONE, better_scale
from aptmc.kernels.parts import Parts
from aptmc.kernels.proposing import AUTO, need_density
from aptmc.kernels.seen import FEWEST_DRAWS, Seen
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem, check_function

# Places in the tuning after the number of steps; the widths of steps follow.
SHARE_OF_JUMPS, WIDTHS = 1, 2
SPREAD = 1.5  # steps are shorter by up to so many powers of ten


@class_named_clearly
@final
@dataclass(frozen=True, eq=False)
class ReversibleJump(Kernel):
    """Models 0, 1, 2 and so on, each with the parameters of the one before and some more.

    Green (1995). A *birth* goes from a model to the next larger one: the parameters there are a
    function of those here and of as many uniform random numbers as there are more of them, which is
    one to one. A *death* is the way back, and undoes it. In between one parameter after the other
    is moved at random. States are arrays of one length, the model first, with NaN in places that
    are not used (`aptmc.nested_prior`).

    :param sizes: how many parameters each model has
    :param birth: birth(theta, draws, there) writes the parameters of the larger model to `there`,
        from those of the smaller and the uniform draws, and returns the log of the absolute
        Jacobian determinant
    :param death: death(theta, draws, there) writes the parameters of the smaller model to `there`,
        and to `draws` those from which a birth would lead back; it returns the log of its own
        Jacobian, which is minus that of the birth
    :param block: where the last parameters of a model are blocks of this many, of which the order
        does not matter to prior and likelihood (components of a mixture, say): one at random
        changes places with the last before each step, so that any of them may die
    :param jumps: the share of steps that are births or deaths
    :param widths: of steps of each parameter, by rung; "auto": found in the warm-up
    :param steps: how many local steps make one move
    """

    sizes: tuple[int, ...]
    # A store holds no functions, so that one which is read from there has none.
    birth: Callable[..., float] | None = None
    death: Callable[..., float] | None = None
    block: int = 0
    jumps: float = 0.5
    widths: str | FloatTable = AUTO
    steps: int = 1
    is_learning: bool = False  # whether the widths are those of a warm-up under way

    statistics = ("births", "born", "deaths", "died", "updates", "updated")
    suits_any_reference = False  # states of several lengths have no covariance

    def __post_init__(self) -> None:
        sizes = tuple(self.sizes) if isinstance(self.sizes, Sequence | np.ndarray) else ()
        whole = all(isinstance(size, int) and size >= 0 for size in sizes)
        if not whole or len(sizes) < 2 or any(np.diff(sizes) <= 0):
            raise InputError(
                "sizes must be whole numbers that grow from model to model, two at least, got "
                f"{self.sizes!r}: (1, 3, 5), say"
            )
        object.__setattr__(self, "sizes", sizes)
        for name in ("birth", "death"):
            if getattr(self, name) is not None:
                check_function(getattr(self, name), name, "theta, draws, there")
        if not isinstance(self.jumps, int | float) or not 0.0 < self.jumps < 1.0:
            raise InputError(f"jumps must be a number between 0 and 1, got {self.jumps!r}")
        if self.block != 0:
            whole_number("block", self.block)
            if any((size - sizes[0]) % self.block for size in sizes):
                raise InputError(
                    f"each model must have whole blocks of {self.block} more than the first, got "
                    f"sizes {sizes}"
                )
        whole_number("steps", self.steps)

    @property
    @override
    def code(self) -> Hashable:
        """Sizes and functions: the other settings reach the step as numbers."""
        return ReversibleJump, code_of((self.sizes, self.birth, self.death, self.block))

    # --- learning -----------------------------------------------------------------------------

    @property
    @override
    def learns(self) -> bool:
        """Whether the widths are "auto", or have been found so far."""
        return self.is_learning or isinstance(self.widths, str)

    @override
    def at_first(self, spread: Floats, rungs: int) -> ReversibleJump:
        """With "auto", steps of length one: nothing is known of padded parameters."""
        if not isinstance(self.widths, str):
            return self
        return replace(self, widths=np.ones((rungs, max(self.sizes))), is_learning=True)

    @override
    def adapted(self, seen: Seen) -> ReversibleJump:
        """With "auto", widths in the proportions of what was seen, of the right acceptance."""
        if not self.is_learning or isinstance(self.widths, str):
            return self
        widths = self.widths.copy()
        updates, updated = seen.statistics["updates"], seen.statistics["updated"]
        for rung, states in enumerate(seen.states):
            if len(states) < FEWEST_DRAWS or updates[rung] < FEWEST_DRAWS:
                continue
            spread = spread_of(states[:, 1 : 1 + widths.shape[1]], widths[rung])
            size = float(np.exp(np.mean(np.log(widths[rung] / spread))))
            size = better_scale(size, updated[rung] / updates[rung], BEST_IN_ONE)
            widths[rung] = size * spread
        return replace(self, widths=widths)

    @override
    def respaced(self, nearest: Integers) -> ReversibleJump:
        """With "auto", for each new rung the widths of the nearest old one."""
        if not self.is_learning or isinstance(self.widths, str):
            return self
        return replace(self, widths=self.widths[nearest])

    @override
    def frozen(self) -> ReversibleJump:
        """The widths that were found, as if they were given."""
        return replace(self, is_learning=False)

    # --- moving -------------------------------------------------------------------------------

    @override
    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """The number of steps, the share of jumps, then the widths."""
        self._check(problem)
        if isinstance(self.widths, str):
            raise InputError(
                "the widths of steps are found in a warm-up, and there was none: leave out "
                "warmup=0, or give widths"
            )
        widths = np.broadcast_to(
            np.asarray(self.widths, np.float64), (ladder.rungs, self.sizes[-1])
        )
        common = np.tile([float(self.steps), float(self.jumps)], (ladder.rungs, 1))
        return np.column_stack([common, widths])

    def _check(self, problem: Problem) -> None:
        need_density(problem, "ReversibleJump")
        if self.birth is None or self.death is None:
            raise InputError(
                "ReversibleJump needs two functions, birth and death: give both, "
                "ReversibleJump(sizes, birth, death)"
            )
        if problem.dimension != 1 + self.sizes[-1]:
            raise InputError(
                f"the largest model has {self.sizes[-1]} parameters, so that states need "
                f"{1 + self.sizes[-1]} places, the model first, got {problem.dimension}: "
                f"{', '.join(problem.names)}"
            )
        if problem.is_compiled and not (is_compiled(self.birth) and is_compiled(self.death)):
            raise InputError(
                "the problem is compiled, so birth and death must be too: write @numba.njit above "
                "them, or leave it out of the problem's functions"
            )

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """A birth, a death, or a step of one parameter; each is accepted as Metropolis does.

        Births and deaths are proposed equally often in all models, so that what is left of Green's
        ratio is the Jacobian. What cannot be born or die stays.
        """
        self._check(parts.problem)
        assert self.birth is not None
        assert self.death is not None
        check_maps(self.sizes, source_of(self.birth), source_of(self.death), parts.problem)
        dimension, value, log_prior = parts.dimension, parts.value, parts.log_prior
        evaluate, log_weight, accepts = parts.evaluate, parts.log_weight, parts.accepts
        sizes, block, most = np.array(self.sizes), self.block, len(self.sizes) - 1
        is_fast = parts.target.is_compiled
        birth = self.birth if is_fast else source_of(self.birth)
        death = self.death if is_fast else source_of(self.death)
        births, born = parts.place("births"), parts.place("born")
        deaths, died = parts.place("deaths"), parts.place("died")
        updates, updated = parts.place("updates"), parts.place("updated")

        def step(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
        ) -> bool:
            model = int(here[0])
            size = sizes[model]
            if block > 0 and size > sizes[0]:
                # The target does not know the order, so this leaves it as it is.
                chosen = sizes[0] + block * int((size - sizes[0]) // block * rng.random())
                for i in range(block):
                    kept = here[1 + chosen + i]
                    here[1 + chosen + i] = here[1 + size - block + i]
                    here[1 + size - block + i] = kept
            kind = rng.random() / tuning[SHARE_OF_JUMPS]
            log_ratio = 0.0
            done = updated
            if kind < 0.5:
                info[births] += 1.0
                if model == most:
                    return False
                done = born
                draws, new = np.empty(sizes[model + 1] - size), np.empty(sizes[model + 1])
                for i in range(draws.size):
                    draws[i] = rng.random()
                log_ratio = birth(here[1 : 1 + size].copy(), draws, new)
                there[0] = model + 1.0
            elif kind < 1.0:
                info[deaths] += 1.0
                if model == 0:
                    return False
                done = died
                draws, new = np.empty(size - sizes[model - 1]), np.empty(sizes[model - 1])
                log_ratio = death(here[1 : 1 + size].copy(), draws, new)
                for i in range(draws.size):
                    if not 0.0 < draws[i] < 1.0:
                        return False
                there[0] = model - 1.0
            else:
                info[updates] += 1.0
                if size == 0:
                    return False
                new = here[1 : 1 + size].copy()
                place = int(size * rng.random())
                length = tuning[WIDTHS + place] * 10.0 ** (-SPREAD * rng.random())
                new[place] += length * rng.standard_normal()
                there[0] = here[0]
            for i in range(dimension - 1):
                there[1 + i] = new[i] if i < new.size else math.nan
            evaluate(there, info)
            log_ratio += log_weight(level, there[value]) - log_weight(level, here[value])
            log_ratio += there[log_prior] - here[log_prior]
            goes = accepts(log_ratio, rng.random())
            if goes:
                info[done] += 1.0
            return goes

        return step

    def __repr__(self) -> str:
        return f"ReversibleJump(sizes={self.sizes}, jumps={self.jumps})"


def spread_of(states: FloatTable, before: Floats) -> Floats:
    """The standard deviations of padded parameters; what was before, where hardly any were seen."""
    spread = before.copy()
    for place in range(spread.size):
        values = states[:, place]
        values = values[~np.isnan(values)]
        if values.size >= FEWEST_DRAWS and values.std() > 0.0:
            spread[place] = values.std()
    return spread
