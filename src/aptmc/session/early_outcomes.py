"""What was computed on the way to first states, kept so that nobody computes it again.

A search for first states is determined by its seed: whoever goes on with a run makes the same moves
again, and takes those from here that an earlier sitting had time for.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt

from aptmc.keys import Key
from aptmc.session.orders import ComputeAll, Order, Outcome
from aptmc.session.start_up import StoppedEarly


@final
class EarlyOutcomes:
    """Outcomes of orders, by key. Those of another state than before are not taken."""

    def __init__(self) -> None:
        self._kept: dict[Key, tuple[Order, Outcome]] = {}

    def remembering(self, compute_all: ComputeAll) -> ComputeAll:
        """The same, but for what is known already."""

        def compute(orders: list[Order]) -> list[Outcome | None]:
            outcomes = [self._find(order) for order in orders]
            missing = [place for place, outcome in enumerate(outcomes) if outcome is None]
            if missing:
                try:
                    new = compute_all([orders[place] for place in missing])
                except StoppedEarly as stopped:
                    for order, outcome in stopped.done:
                        self._keep(order, outcome)
                    raise
                for place, found in zip(missing, new, strict=True):
                    outcomes[place] = found
                    if found is not None:
                        self._keep(orders[place], found)
            return outcomes

        return compute

    def forget(self) -> None:
        """The chains have their states: nobody will ask again."""
        self._kept.clear()

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All of it, as a checkpoint holds it; nothing, if there is none."""
        if not self._kept:
            return {}
        orders, outcomes = zip(*self._kept.values(), strict=True)
        return {
            "early/key": np.array([order.key[1:] for order in orders], np.int64),
            "early/from": np.array([order.state for order in orders]),
            "early/level": np.array([order.level for order in orders]),
            "early/rung": np.array([order.rung for order in orders], np.int64),
            "early/tuning": np.array([order.tuning for order in orders]),
            "early/state": np.array([outcome.state for outcome in outcomes]),
            "early/info": np.array([outcome.info for outcome in outcomes]),
        }

    def recall(self, arrays: dict[str, npt.NDArray[Any]], seed: int) -> None:
        """What another sitting of the same seed has computed."""
        for place, name in enumerate(arrays.get("early/key", np.empty((0, 3))).tolist()):
            order = Order(
                Key(seed, *name),
                int(arrays["early/rung"][place]),
                float(arrays["early/level"][place]),
                arrays["early/tuning"][place],
                arrays["early/from"][place],
            )
            self._keep(order, Outcome(arrays["early/state"][place], arrays["early/info"][place]))

    def _keep(self, order: Order, outcome: Outcome) -> None:
        copied = order._replace(state=order.state.copy(), tuning=order.tuning.copy())
        self._kept[order.key] = copied, outcome

    def _find(self, order: Order) -> Outcome | None:
        before, outcome = self._kept.get(order.key, (None, None))
        if before is None:
            return None
        is_same = (before.rung, before.level) == (order.rung, order.level)
        is_same &= np.array_equal(before.state, order.state, equal_nan=True)
        is_same &= np.array_equal(before.tuning, order.tuning)
        return outcome if is_same else None
