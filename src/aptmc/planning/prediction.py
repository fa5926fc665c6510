"""What is predicted, as numbers, as a table and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, final

from aptmc.clock import time_in_words

CLEARLY = 1.0  # standard errors


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A run on so many processors. Times are in seconds, or in units of virtual time."""

    processors: int
    coordinators: int
    """With more than one, each has a ladder of its own and a part of the processors."""
    rungs: int
    chains_per_rung: int
    """For each coordinator."""
    chains: int
    """In all."""
    every: float
    """Time between deadlines."""
    exchange: str
    """The exchange rule."""
    ahead: int
    """Moves that wait at each processor."""
    steps: float
    """How many of the pilot's moves make one move: longer ones cost the coordinator less."""
    utilisation: float
    moves_per_second: float
    moves_error: float
    """Its relative standard error: how well the pilot knows how long moves take."""
    coordinator_load: float
    """The share of time in which a coordinator is at work; 1 is its limit."""
    ess_per_hour: float
    """Effective draws of the coldest rung, of the parameter that has the fewest."""
    ess_error: float
    """Its relative standard error."""
    simulation_error: float
    """The part of that which differs from prediction to prediction."""
    parameter: str
    """The parameter that has the fewest effective draws."""
    warmup: float
    """How long a warm-up would take."""

    def is_clearly_better_than(self, other: Prediction) -> bool:
        """More effective draws, beyond the errors of both simulations."""
        error = math.hypot(self.simulation_error, other.simulation_error)
        return self.ess_per_hour > other.ess_per_hour * (1.0 + CLEARLY * error)

    def times(self, coordinators: int, processors: int) -> Prediction:
        """Several of these side by side, with ladders that know nothing of each other."""
        return replace(
            self,
            processors=processors,
            coordinators=coordinators,
            chains=self.chains * coordinators,
            utilisation=self.utilisation * self.processors * coordinators / processors,
            moves_per_second=self.moves_per_second * coordinators,
            ess_per_hour=self.ess_per_hour * coordinators,
        )


@final
@dataclass(frozen=True, slots=True, repr=False)
class Predictions(Sequence[Prediction]):
    """One prediction after the other, fewest processors first. Prints as a table."""

    rows: tuple[Prediction, ...]
    saturation: int | None
    """How many processors one coordinator can just serve; None if any number."""
    latency: float
    cost: float
    unit: str
    findings: tuple[str, ...]
    """In plain words."""

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Prediction]:
        return iter(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """For programs: what is not known is None."""
        rows = [{name: _known(value) for name, value in asdict(row).items()} for row in self.rows]
        return {
            "unit": self.unit,
            "latency": self.latency,
            "cost": self.cost,
            "saturation": self.saturation,
            "predictions": rows,
            "findings": list(self.findings),
        }

    def __repr__(self) -> str:
        titles = (
            "processors", "coordinators", "chains", "rungs", "deadlines every", "utilisation",
            f"moves/{self.unit}", "ESS/hour", "coordinator busy", "warm-up",
        )  # fmt: skip
        lines = [titles, *(self._cells(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(titles))]
        table = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        ]
        return "\n".join([*table, *self.findings])

    def _cells(self, row: Prediction) -> tuple[str, ...]:
        return (
            f"{row.processors:,}",
            f"{row.coordinators}",
            f"{row.chains:,}",
            f"{row.rungs}",
            time_in_words(row.every, self.unit),
            f"{row.utilisation:.3f}",
            _with_error(row.moves_per_second, row.moves_error),
            _with_error(row.ess_per_hour, row.ess_error),
            f"{row.coordinator_load:.0%}",
            time_in_words(row.warmup, self.unit),
        )


def _with_error(value: float, error: float) -> str:
    if not math.isfinite(value):
        return "unknown"
    return f"{_short(value)} ± {100.0 * error:.2g}%"


def _short(value: float) -> str:
    if not math.isfinite(value):
        return "unknown"
    digits = 3 - 1 - math.floor(math.log10(abs(value))) if value != 0.0 else 0
    return f"{round(value, digits):,.{min(max(digits, 0), 6)}f}"


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
