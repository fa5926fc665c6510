"""The descent of a warm-up: how far down it has come, and what is learnt of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from aptmc.backends.base import Engine
from aptmc.errors import InputError, StopReason
from aptmc.problem.chain_state import value_column
from aptmc.session.descent import Affordable, Descent, Reached, Stage, reached_by, reached_so_far
from aptmc.session.first_states import descent_for
from aptmc.session.session import Session, Usage
from aptmc.settings import Settings
from aptmc.warmup.found import Found
from aptmc.warmup.how_far_down import goal_of
from aptmc.warmup.possible_distances import at_possible, possible_distances


@final
class Descending:
    """Goes down from the prior to the tolerances of a run, in one sitting or several."""

    def __init__(self, settings: Settings) -> None:
        """Prepare to go.

        :param settings: as they were asked for
        """
        self._settings, self._to_find = settings, settings.to_find
        self._under_way: Descent | None = None
        self._earlier: dict[str, Any] = {}  # what an earlier sitting knew of it
        self._reached: Reached | None = None
        self.stages: list[Stage] = []  # when it is over

    def go(self, engine: Engine, first: Session, found: Found) -> Usage:
        """Go down, and tell `found` what was learnt; stopped, if it was, on the way.

        :param first: who computes needs to know of a session
        """
        settings, left = found.settings(), engine.left()
        descent = self._under_way = descent_for(
            settings.problem,
            settings.ladder,
            settings.kernel,
            settings.seed,
            goal_of(settings, self._to_find, left),
        )
        if self._earlier:
            descent.recall(self._earlier)
        usage = engine.search(first, descent)
        if usage.failure is not None:
            raise usage.failure
        if usage.stopped is not StopReason.STILL_RUNNING:
            return usage
        coldest, draws = descent.has_reached, None
        if not descent.stages:
            raise InputError(descent.out_of_reach(settings.ladder.levels))
        if isinstance(descent.goal, Affordable):
            # All simulations of the prior may lie within what was asked for.
            coldest = descent.goal.chosen(descent.stages, usage.of_budget)
            coldest = max(coldest, descent.goal.coldest)
            draws = descent.goal.aimed_at(descent.stages)
            if descent.goal.wanted is None:
                column = value_column(settings.problem.dimension)
                rows = [stage.rows for stage in descent.stages]
                coldest = at_possible(coldest, possible_distances(rows, column))
            if coldest == 0.0 and descent.goal.effective_draws is None:
                draws = None  # it was no choice: nothing is smaller
        elif coldest > descent.goal.coldest:
            raise InputError(descent.out_of_reach(settings.ladder.levels))
        self._under_way, self._earlier = None, {}
        reached = reached_by(descent, coldest, asked=self._asked_for, effective_draws=draws)
        # Draws from the prior that count are not given up: where some never end, no rejection.
        may_reject = reached.is_wide and reached.given_up == 0
        found.learn_from_descent(descent.stages, coldest, is_wide=may_reject)
        self._reached = reached._replace(by_rejection=found.renews)
        self.stands_on(found.levels)
        self.stages = list(descent.stages)
        return usage

    @property
    def how_far(self) -> Reached | None:
        """How far down it came; of a descent under way, or cut off, so far."""
        if self._under_way is None:
            return self._reached
        return reached_so_far(self._under_way, asked=self._asked_for)

    def stands_on(self, levels: tuple[float, ...]) -> None:
        """What was reached is told of the ladder as it stands."""
        if self._reached is not None:
            wish = self._to_find.ladder
            self._reached = self._reached.on(levels, 1.0 if wish is None else wish.swap_rate)

    @property
    def _asked_for(self) -> float | None:
        """The tolerance that was asked for; None, if the run is to choose."""
        wish, ladder = self._to_find.ladder, self._settings.ladder
        return ladder.levels[0] if wish is None else wish.coldest

    def memory(self) -> dict[str, Any]:
        """All that is known of it, by name, as `recall` takes it."""
        return {
            "reached": None if self.how_far is None else self.how_far.notes(),
            "descended": self._earlier if self._under_way is None else self._under_way.memory(),
        }

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on after an earlier sitting."""
        self._earlier = memory.get("descended", {})
        self._reached = Reached.from_notes(memory.get("reached"))
