"""What a warm-up has found so far, and how it learns more from each round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.coordinator.state import Coordinator, moves_done
from aptmc.errors import InputError
from aptmc.kernels import EllipticalSlice, Kernel, Seen, Students
from aptmc.kernels.base import STEPS
from aptmc.kernels.default import Choice, rival_of
from aptmc.kernels.fitted_reference import referred_rows, share_of_prior
from aptmc.kernels.student_fit import fit_coldest
from aptmc.keys import WARMUP, Key
from aptmc.ladder import LEARNED
from aptmc.problem.chain_state import ACCEPTED, value_column
from aptmc.schedule import DEADLINES_PER_SWEEP
from aptmc.session.descent import Stage, rows_within, step_size_at
from aptmc.session.session import Session, Usage
from aptmc.settings import Settings
from aptmc.store import Draws
from aptmc.warmup import power_ladders
from aptmc.warmup.annealing import Annealing, Windows
from aptmc.warmup.approach import nearest, scale_of
from aptmc.warmup.getting_about import is_soon, moves_until_forgotten
from aptmc.warmup.guess import (
    DEADLINES_AT_FIRST,
    approach_to,
    enough_chains,
    first_deadlines,
    first_kernel,
    with_deadlines,
)
from aptmc.warmup.power_ladders import first_ladder
from aptmc.warmup.seen_by_all import SeenByAll, chosen_for_each, is_wanted, with_round
from aptmc.warmup.tolerances import TolerancesApproach

# Exchanges may take a 50th of the time of whoever carries them out.
COST_OF_DEADLINES = 0.02
MOSTLY_COLD = "most chains stand on the coldest rung, for there they soon forget where they began"


@final
class Found:
    """Levels, kernel and deadlines, as they are after the rounds so far."""

    remembers = (
        "levels", "kernel", "every", "shortest", "renews", "reference", "gets_about",
        "is_one_hill", "changed", "seen",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self.asked = settings  # with the first guess of what is to be found
        self.problem, self.to_find = settings.problem, settings.to_find
        self.approach = approach_to(settings.problem)
        self.levels = settings.ladder.levels
        learns = self.to_find.kernel
        self.kernel = settings.kernel if learns is None else first_kernel(settings, learns)
        self.every = first_deadlines(settings)
        self.shortest = 0.0  # time between deadlines that does not cost too much
        self.gets_about = False  # whether chains of the posterior forget soon where they began
        self.is_one_hill = False  # whether a population saw them do so in one distribution
        self.changed = ""  # why the kernel is what it is, if the warm-up has seen that
        self.renews = False  # every step is a fresh draw, as in rejection sampling
        self.reference: Students | None = None  # at the hot end, if one was fitted by now
        self.seen: SeenByAll = []  # in the last rounds, while that is not enough of each rung

    def memory(self) -> dict[str, Any]:
        """All that was found so far, by name, as `recall` takes it."""
        own = {name: getattr(self, name) for name in self.remembers}
        return own | {name: getattr(self.approach, name) for name in self.approach.remembers}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on with what another has found."""
        if "kernel" not in memory:
            raise InputError(
                "the warm-up of this run was begun by an earlier version of aptmc and cannot go "
                "on: sample anew, or go on with the version that began it"
            )
        for name in self.remembers:
            setattr(self, name, memory.get(name, getattr(self, name)))
        for name in self.approach.remembers:
            setattr(self.approach, name, memory.get(name, getattr(self.approach, name)))
        if self.to_find.kernel is not None:
            # One of the user's own, which no store holds, begins again.
            self.kernel = first_kernel(self.settings(), self.kernel)

    # --- learning -----------------------------------------------------------------------------

    def learn_kernel(self, session: Session, rows: list[FloatTable]) -> None:
        """Have the kernel adapt to what a round has seen."""
        if not self.kernel.learns:
            return
        machine, totals, kernel = session.machine, session.record.totals, session.kernel
        moves = moves_done(machine)
        seen = Seen(
            levels=self.levels,
            states=[table[:, : self.problem.dimension] for table in rows],
            moves=moves,
            steps=moves * session.tuning[:, STEPS],
            accepted=totals[:, ACCEPTED].copy(),
            statistics={name: totals[:, place].copy() for name, place in kernel.places.items()},
            reference_level=self.problem.reference_level,
            support=self.problem.support,
            by_all=self._seen_by_all(session, rows),
        )
        adapted = self.kernel.adapted(seen)
        if not isinstance(adapted, Kernel) or adapted.statistics != kernel.statistics:
            raise InputError(
                f"{type(self.kernel).__name__}.adapted must give a kernel with the same "
                f"statistics, {kernel.statistics}, got {adapted!r}"
            )
        self.kernel = adapted

    def _seen_by_all(self, session: Session, rows: list[FloatTable]) -> list[FloatTable] | None:
        """For each rung, states that all rungs have seen; None, where each sees enough itself."""
        can = self.problem.ladder_kind == "powers" and not self.problem.reference_is_fitted
        if not (can and self.kernel.learns_from_all and is_wanted(rows)):
            self.seen = []
            return None
        self.seen = with_round(self.seen, self.levels, rows)
        rng = Key(self.asked.seed, 2, session.machine.epoch, WARMUP).generator()
        dimension = self.problem.dimension
        chosen = chosen_for_each(self.seen, self.levels, value_column(dimension), rng)
        return [table[:, :dimension] for table in chosen]

    def learn_reference(self, rows: list[FloatTable]) -> bool:
        """Fit what stands at the hot end to what was seen of the posterior; whether there is one.

        :param rows: by rung, states that its chains came to
        """
        dimension = self.problem.dimension
        fitted = fit_coldest([table[:, :dimension] for table in rows], self.reference)
        if fitted is None:
            return False
        is_first, self.reference = self.reference is None, fitted
        if is_first:  # all rungs are like the coldest from now on
            wish, levels = self.to_find.ladder, self.levels
            if wish is not None:
                values = self.brought(rows[0])[:, value_column(dimension)]
                fewest, most = wish.range
                levels = first_ladder(values, wish.swap_rate, fewest=fewest, most=most)
            self.kernel = self.kernel.respaced(np.zeros(len(levels), np.int64))
            self.levels = levels
        return True

    def brought(self, rows: FloatTable) -> FloatTable:
        """States of earlier, with the reference as it is now."""
        if self.reference is None:
            return rows
        share = share_of_prior(self.problem)
        return referred_rows(rows, self.problem.dimension, self.reference, share)

    def learn_from_descent(self, stages: Sequence[Stage], coldest: float, *, is_wide: bool) -> None:
        """Stand on rungs down to a tolerance, with steps that suit what was seen there.

        :param is_wide: so many draws of the prior hit that nothing is better than to go on with
            them, on that rung alone
        """
        if is_wide and self._can_renew:
            self.renew(coldest)
            return
        if self.to_find.ladder is not None:
            assert isinstance(self.approach, TolerancesApproach)
            self.move_to(self.approach.after_descent(self.to_find.ladder, stages, coldest))
        if not self.kernel.learns:
            return
        value = value_column(self.problem.dimension)
        rows = [rows_within(stages, level, value) for level in self.levels]
        sizes = np.array([step_size_at(stages, level) for level in self.levels])
        self.kernel = self.kernel.adapted(
            self._unmoved(self.kernel, rows)._replace(step_sizes=sizes)
        )

    def learn_from_annealing(
        self, annealing: Annealing, mover: Windows, why: str
    ) -> list[tuple[float, FloatTable]]:
        """Stand on powers that suit what was seen on the way, with what was learnt there.

        Most chains stand in the posterior where they get about by themselves: other rungs are there
        for modes that no particle came to. Gives states, by power.

        :param mover: by which one goes on, the annealing or a trial after it
        :param why: it is this one, if both were tried
        """
        stages = annealing.stages[::-1]
        asked, wish = self.levels, self.to_find.ladder
        self.kernel, self.changed = mover.kernel(), why
        self.levels = tuple(stage.level for stage in stages)
        rows = [stage.rows for stage in stages]
        remembered = list(zip(self.levels, rows, strict=True))
        if wish is None or not annealing.has_arrived:
            self.move_to(asked)
            return remembered
        rates = self.swap_rates(rows)
        fewest, most = wish.range
        levels = power_ladders.respaced(
            np.array(self.levels), rates, wish.swap_rate, fewest=fewest, most=most
        )
        self.move_to(levels)
        if mover.mixes and not self._needs_hot_draws:
            self.gets_about = self.is_one_hill = True
            self.kernel = mover.guide.of_one_hill(self.kernel)
        return remembered

    def see_whether_it_gets_about(self, chains: Sequence[Draws], moves_left: float) -> None:
        """Have most chains stand on the coldest rung, if these soon forget where they began there.

        It is asked again after each late round, for references become better.

        :param chains: the draws of each on the coldest rung, moved by the present kernel
        :param moves_left: for all chains, about, when the warm-up is over
        """
        if self.is_one_hill or len(self.levels) == 1 or not self._may_be_mostly_cold:
            return
        forgotten = moves_until_forgotten(self.problem, self.kernel, self.levels[0], chains)
        settings = self.settings()
        layout = enough_chains(settings, gets_about=True).layout(settings.ladder, 1)
        each = moves_left / layout.rung.size
        self.gets_about = is_soon(forgotten, rungs=len(self.levels), moves_left=each)

    @property
    def _may_be_mostly_cold(self) -> bool:
        """Whether ladder and pools are left to the warm-up, and no draws of warm rungs are wanted.

        Lanes have thousands of chains, enough on each rung.
        """
        is_left = self.to_find.ladder is not None and self.to_find.pools
        return is_left and not (self._needs_hot_draws or self.asked.on.computes_errands_alone)

    @property
    def rival(self) -> EllipticalSlice | None:
        """Another one, for the warm-up to choose between both, if that was left to us."""
        if self.to_find.kernel is None or not self.asked.chosen or self.changed:
            return None
        if not self.asked.on.computes_any_kernel:
            return None
        return rival_of(self.kernel)

    def change_kernel(self, other: Choice, remembered: list[tuple[float, FloatTable]]) -> None:
        """Move in another way, with what it learns from what the first has seen.

        :param remembered: states, by power
        """
        kernel = first_kernel(self.settings(), other.kernel)
        rows = [self.approach.states_for(level, remembered) for level in self.levels]
        seen = self._unmoved(kernel, rows)._replace(support=self.problem.support)
        self.kernel, self.changed = kernel.adapted(seen), other.why

    def _unmoved(self, kernel: Kernel, rows: list[FloatTable]) -> Seen:
        """States of each rung that a kernel is to learn from, and that another has moved."""
        nothing = np.zeros(len(self.levels))
        return Seen(
            levels=self.levels,
            states=[table[:, : self.problem.dimension] for table in rows],
            moves=nothing,
            steps=nothing,
            accepted=nothing,
            statistics=dict.fromkeys(kernel.statistics, nothing),
            reference_level=self.problem.reference_level,
        )

    @property
    def _needs_hot_draws(self) -> bool:
        """Whether draws of warmer rungs count: the evidence is made of them, and a reference of
        states that came from there.
        """
        makes_evidence = self.asked.keep == "all" and self.problem.has_evidence
        return makes_evidence or self.to_find.reference

    @property
    def _can_renew(self) -> bool:
        """Whether ladder and kernel are both left to the warm-up, and the kernel knows how to."""
        wish = self.to_find.ladder
        if wish is None or wish.rungs is not None or wish.hottest is not None:
            return False
        can = self.asked.on.computes_any_kernel and self.to_find.kernel is not None
        return can and self.kernel.renewing() is not None

    def renew(self, level: float) -> None:
        """Draw from the prior again and again, on one rung: there is nothing to exchange."""
        kernel = self.kernel.renewing()
        assert kernel is not None
        self.levels, self.kernel, self.renews = (level,), kernel, True
        self.every = self.asked.budget

    def begin_deadlines(self, sweep: float, first_round: float) -> None:
        """Some in a sweep, and in the first round not more than it takes to see what they cost.

        Before anything is compiled, a round of exchanges may take longer than a short move.
        """
        if self.to_find.deadlines is not None and not self.renews:
            self.every = max(sweep / DEADLINES_PER_SWEEP, first_round / DEADLINES_AT_FIRST)

    def learn_deadlines(self, machine: Coordinator, usage: Usage) -> None:
        """One deadline in each sweep, if that does not cost too much."""
        if self.to_find.deadlines is None:
            return
        passed = int(machine.passed[0])
        if passed > 0:
            # Virtual time charges nothing. In real time the first deadlines may be slow once.
            cost = usage.overhead.exchanges / passed
            self.shortest = min(cost / COST_OF_DEADLINES, usage.elapsed / DEADLINES_AT_FIRST)
        if machine.completed.min() >= machine.sweep.max():
            self.every = float(machine.sweep_time.max())
        self.every = max(self.every, self.shortest)

    def move_to(self, levels: tuple[float, ...]) -> None:
        """Stand on other rungs, with what was learnt on the nearest of the old ones."""
        old, new = scale_of(np.array(self.levels)), scale_of(np.array(levels))
        self.kernel = self.kernel.respaced(nearest(old, new))
        self.levels = levels

    def swap_rates(self, rows: list[FloatTable]) -> Floats:
        """How often neighbours would swap, from draws of all rungs."""
        return self.approach.swap_rates(self.levels, rows)

    # --- settings -----------------------------------------------------------------------------

    def settings(self) -> Settings:
        """The settings as they stand."""
        found, to_find = self.asked, self.to_find
        if to_find.ladder is not None:
            found = found.found(ladder=self.approach.ladder(self.levels))
        if to_find.reference:
            reference = LEARNED if self.reference is None else self.reference
            found = found.found(ladder=replace(found.ladder, reference=reference))
        if to_find.kernel is not None:
            chosen = self.changed or found.chosen
            found = found.found(kernel=self.kernel.frozen(), chosen=chosen)
        if to_find.deadlines is not None:
            schedule = with_deadlines(to_find.deadlines, self.every, self.shortest)
            found = found.found(schedule=schedule)
        if to_find.pools:
            found = found.found(pools=enough_chains(found, gets_about=self.gets_about))
            if self.gets_about and found.ladder.rungs > 1:
                found = found.found(chosen=with_mostly_cold(found.chosen))
        return found


def with_mostly_cold(chosen: str) -> str:
    """The reason for a kernel that was left to us, and for where chains stand; once."""
    return f"{chosen}; {MOSTLY_COLD}" if chosen and MOSTLY_COLD not in chosen else chosen
