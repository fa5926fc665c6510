"""What a benchmark should show, and whether it has."""

from __future__ import annotations

from collections.abc import Iterable


class GoalsMissed(Exception):
    """A benchmark has printed its tables, and some of its numbers are not as they should be."""

    def __init__(self, missed: Iterable[str]) -> None:
        super().__init__("\n".join(missed))


def raise_if_missed(missed: list[str]) -> None:
    """Say which, if there are any."""
    if missed:
        raise GoalsMissed(missed)


def above(what: str, found: float, most: float | None, unit: str) -> list[str]:
    """In words, if a number is larger than it should be at most."""
    if most is None or found <= most:
        return []
    return [f"{what}: {found:.2f} {unit}, and {most:g} at most was the goal"]
