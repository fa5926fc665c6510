"""How long a warm-up is to be, and what follows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from aptmc.warmup.guess import SHARE

ROUNDS_AT_LEAST = 0.1  # of what is left
LEAST_LEFT = 1e-9  # of a warm-up's length: what is less is the rest of a sum


@final
class Plan:
    """Of a run's budget, so much for the warm-up.

    :param given: how long the user wants that to be
    """

    def __init__(self, given: float | None) -> None:
        self._given = given
        self._lengths: tuple[float, float] | None = None
        self._searched = 0.0  # how long a descent or an annealing took
        self._counted_in = ""  # the unit of the budget, if that is no time
        self.pace = 1.0  # seconds in such a unit, as a search has shown

    def count_in(self, unit: str) -> bool:
        """The unit of this sitting's budget; whether an earlier one, in another, planned others."""
        if unit == self._counted_in:
            return False
        self._counted_in, self._lengths, self._searched = unit, None, 0.0
        return True

    def searched(self, of_budget: float, elapsed: float) -> None:
        """A search has taken so much: what is left is planned with that in mind."""
        self._searched, self.pace = of_budget, elapsed / max(of_budget, LEAST_LEFT)

    def is_made_anew(self) -> None:
        """What was planned was for a search, too, and that is over."""
        self._lengths = None

    def lengths(self, left: float) -> tuple[float, float]:
        """How long the warm-up is to be, and what follows.

        A plan was made in an earlier sitting, perhaps; one of a few seconds makes none for an hour.
        """
        if left > 0.0:
            length = SHARE * (left + self._searched) if self._given is None else self._given
            # Where a search has found most of it, what it took comes off the rounds.
            if self._searched > 0.0:
                least = ROUNDS_AT_LEAST * min(left, 10.0 * length)
                length = max(length - self._searched, least)
            if self._lengths is None or (self._given is None and length > self._lengths[0]):
                self._lengths = length, max(left - length, 0.0)
        return self._lengths or (0.0, 0.0)

    def memory(self) -> dict[str, Any]:
        """By name, as `recall` takes it."""
        return {
            "plan": self._lengths, "searched": self._searched, "counted_in": self._counted_in,
        }  # fmt: skip

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on with what another has planned."""
        self._lengths, self._searched = memory["plan"], memory["searched"]
        self._counted_in = memory["counted_in"]
