"""Differential evolution: steps as long as the way between two states that were seen before."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, FloatTables, Generator, Integers, compiled
from aptmc.errors import InputError
from aptmc.kernels.base import Kernel
from aptmc.kernels.learned import best_acceptance, better_scale
from aptmc.kernels.parts import Parts
from aptmc.kernels.proposing import AUTO
from aptmc.kernels.seen import FEWEST_DRAWS, Seen
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem
from aptmc.problem.chain_state import accepts

# Places in the tuning after the number of steps.
SCALE, JUMPS, NOISE, ARCHIVE = 1, 2, 3, 4
MOST_KEPT = 200  # states of a rung
USUAL_SHARE_OF_JUMPS = 0.1
# In ways between two states; so that not only points that such ways add up to can be reached.
USUAL_NOISE = 1e-3


@final
@dataclass(frozen=True, eq=False)
class Archive:
    """By rung: states that were seen in the warm-up, and how long steps are to be."""

    states: FloatTables
    scales: Floats

    def __repr__(self) -> str:
        return f"Archive({self.states.shape[1]} states on {len(self.states)} rungs)"


@class_named_clearly
@final
@dataclass(frozen=True)
class DifferentialEvolution(Kernel):
    """Propose a step along the way from one archived state to another, accept or reject it.

    ter Braak and Vrugt (2008), with an archive that the warm-up fills for each rung and that is
    frozen afterwards: so it is an ordinary random walk, whose steps have the shape of the target,
    also where no covariance could say it. Now and then a step is the whole way, which leads from
    one mode to another if both are in the archive. With a simulator, a proposal that the prior
    allows is simulated once.

    :param archive: "auto", or one from an earlier run
    :param jumps: the share of steps that are the whole way from one state to the other
    :param noise: of each step, as a share of the way between two other states
    :param steps: how many local steps make one move

    >>> DifferentialEvolution(jumps=0.2)
    DifferentialEvolution(jumps=0.2)
    """

    archive: str | Archive = AUTO
    jumps: float = USUAL_SHARE_OF_JUMPS
    noise: float = USUAL_NOISE
    steps: int = 1
    is_learning: bool = False  # whether the archive is that of a warm-up under way

    statistics = ("jumps", "jumped", "simulations", "failures")

    def __post_init__(self) -> None:
        if not isinstance(self.archive, Archive) and self.archive != AUTO:
            raise InputError(f'archive must be "auto" or of an earlier run, got {self.archive!r}')
        for name in ("jumps", "noise"):
            share = getattr(self, name)
            if not isinstance(share, int | float) or not 0.0 <= share < 1.0:
                raise InputError(f"{name} must be a number from 0 to less than 1, got {share!r}")
        whole_number("steps", self.steps)

    @property
    @override
    def code(self) -> Hashable:
        """Its kind alone: settings reach the step as numbers."""
        return (DifferentialEvolution,)

    # --- learning -----------------------------------------------------------------------------

    @property
    @override
    def learns(self) -> bool:
        """Whether the archive is "auto", or has been filled so far."""
        return self.is_learning or self.archive == AUTO

    @override
    def at_first(self, spread: Floats, rungs: int) -> DifferentialEvolution:
        """With "auto", points as far apart as the first guess of the parameters is wide."""
        if self.archive != AUTO:
            return self
        rng = np.random.default_rng(spread.size)
        points = spread * rng.standard_normal((max(2 * spread.size, FEWEST_DRAWS), spread.size))
        scales = np.full(rungs, usual_scale(spread.size))
        archive = Archive(np.tile(points, (rungs, 1, 1)), scales)
        return replace(self, archive=archive, is_learning=True)

    @override
    def adapted(self, seen: Seen) -> DifferentialEvolution:
        """With "auto", states of each rung from the last round, and steps of the best length."""
        if not self.is_learning or not isinstance(self.archive, Archive):
            return self
        before, dimension = self.archive, self.archive.states.shape[2]
        kept = before.states.shape[1]
        enough = [states for states in seen.states if len(states) >= FEWEST_DRAWS]
        if len(enough) == len(seen.states):
            kept = max(kept, min(MOST_KEPT, *map(len, enough)))
        states, scales = [], before.scales.copy()
        steps = seen.steps - seen.statistics["jumps"]
        accepted = seen.accepted - seen.statistics["jumped"]
        for rung, drawn in enumerate(seen.states):
            rows = drawn if len(drawn) >= FEWEST_DRAWS else before.states[rung]
            states.append(rows[np.linspace(0, len(rows) - 1, kept).astype(int)])
            has_simulator = seen.statistics["simulations"][rung] > 0.0
            if seen.is_moving(rung) and steps[rung] >= FEWEST_DRAWS and not has_simulator:
                target = best_acceptance(dimension)
                scales[rung] = better_scale(scales[rung], accepted[rung] / steps[rung], target)
        return replace(self, archive=Archive(np.array(states), scales))

    @override
    def respaced(self, nearest: Integers) -> DifferentialEvolution:
        """With "auto", for each new rung that of the nearest old one."""
        if not self.is_learning or not isinstance(self.archive, Archive):
            return self
        archive = Archive(self.archive.states[nearest], self.archive.scales[nearest])
        return replace(self, archive=archive)

    @override
    def frozen(self) -> DifferentialEvolution:
        """The archive that was filled, as if it was given by hand."""
        return replace(self, is_learning=False)

    # --- moving -------------------------------------------------------------------------------

    @override
    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """The number of steps, their scale, the share of jumps, the noise, then the archive."""
        if not isinstance(self.archive, Archive):
            raise InputError(
                "the archive of DifferentialEvolution() is filled in a warm-up, and there was "
                "none: leave out warmup=0, or give the archive of an earlier run"
            )
        rungs, _, dimension = self.archive.states.shape
        if (rungs, dimension) != (ladder.rungs, problem.dimension):
            raise InputError(
                f"the archive is for {rungs} rungs and {dimension} coordinates, and the problem "
                f"has {ladder.rungs} and {problem.dimension}: give one that fits, or none"
            )
        common = np.tile([self.steps, 0.0, self.jumps, self.noise], (rungs, 1))
        common[:, SCALE] = self.archive.scales
        return np.column_stack([common, self.archive.states.reshape(rungs, -1)])

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """Propose a step, and accept it as Metropolis does; with a simulator, if it also hits."""
        dimension, value, log_prior = parts.dimension, parts.value, parts.log_prior
        propose = parts.target.library(propose_way)
        jumps, jumped = parts.place("jumps"), parts.place("jumped")
        if parts.problem.has_simulator:
            log_prior_at, simulate = parts.log_prior_at, parts.simulate

            def step(
                level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
            ) -> bool:
                is_jump = propose(rng, dimension, tuning, here, there)
                there[log_prior] = log_prior_at(there[:dimension])
                goes = accepts(there[log_prior] - here[log_prior], rng.random())
                goes = goes and simulate(there, rng, level, info)
                if is_jump:
                    info[jumps] += 1.0
                    info[jumped] += goes
                return goes

            return step
        evaluate, log_weight = parts.evaluate, parts.log_weight

        def step_in_density(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
        ) -> bool:
            is_jump = propose(rng, dimension, tuning, here, there)
            evaluate(there, info)
            log_ratio = (
                log_weight(level, there[value])
                - log_weight(level, here[value])
                + there[log_prior]
                - here[log_prior]
            )
            goes = accepts(log_ratio, rng.random())
            if is_jump:
                info[jumps] += 1.0
                info[jumped] += goes
            return goes

        return step_in_density

    def __repr__(self) -> str:
        is_given = isinstance(self.archive, Archive) and not self.is_learning
        said = [repr(self.archive)] if is_given else []
        usual = {"jumps": USUAL_SHARE_OF_JUMPS, "noise": USUAL_NOISE, "steps": 1}
        said += [
            f"{name}={getattr(self, name)!r}"
            for name, value in usual.items()
            if getattr(self, name) != value
        ]
        return f"DifferentialEvolution({', '.join(said)})"


def usual_scale(dimension: int) -> float:
    """The length of steps in ways between two states, whose variance is that of both."""
    return float(2.38 / np.sqrt(2.0 * dimension))


@compiled
def propose_way(
    rng: Generator, dimension: int, tuning: Floats, here: Floats, there: Floats
) -> bool:
    """Write a proposal to the beginning of `there`; whether it is a whole way from one to another.

    A way is as likely as the same way back, whichever states there are, so the proposal is
    symmetric, and so is noise of normal length along each axis.
    """
    count = (tuning.shape[0] - ARCHIVE) // dimension
    is_jump = rng.random() < tuning[JUMPS]
    scale = 1.0 if is_jump else tuning[SCALE]
    begin = ARCHIVE + int(count * rng.random()) * dimension
    end = ARCHIVE + int(count * rng.random()) * dimension
    other_begin = ARCHIVE + int(count * rng.random()) * dimension
    other_end = ARCHIVE + int(count * rng.random()) * dimension
    for i in range(dimension):
        step = scale * (tuning[end + i] - tuning[begin + i])
        noise = tuning[NOISE] * (tuning[other_end + i] - tuning[other_begin + i])
        there[i] = here[i] + step + noise * rng.standard_normal()
    return bool(is_jump)
