"""Advice for runs on lanes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aptmc.pools import Groups
from aptmc.problem import Abc
from aptmc.problem.in_steps import WholeBecause, in_steps
from aptmc.result.one_advice import Advice


def about_whole_simulations(whole_because: WholeBecause | None) -> Iterator[Advice]:
    """What is lost where simulations are not left in mid-way."""
    if whole_because is not None:
        yield Advice(
            "lanes ran whole simulations, one in each tick, so those that march in step on a GPU "
            "wait for the longest in every tick, which can cost a factor of ten; draws are exact "
            f"all the same. It was so because {whole_because.because}",
            whole_because.remedy,
            serious=False,
        )


def why_whole(settings: Any) -> WholeBecause | None:
    """Why simulations were not left in mid-way on lanes; None if they were."""
    problem = settings.problem
    on_lanes = isinstance(settings.pools, Groups) and isinstance(problem, Abc)
    if not on_lanes or not problem.is_compiled:
        return None
    return in_steps(problem).whole_because
