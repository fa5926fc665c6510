"""The evidence of a run: whether it has what that takes, and which of its draws it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aptmc.diagnostics import Evidence, log_evidence
from aptmc.errors import InputError
from aptmc.problem.chain_state import value_column

if TYPE_CHECKING:
    from aptmc.result.run import Run


def run_evidence(run: Run) -> Evidence:
    """The log evidence, from the log likelihoods of the draws of all rungs."""
    problem, ladder = run.settings.problem, run.settings.ladder
    if not problem.has_evidence:
        raise InputError(
            f"{type(problem).__name__} has no likelihood and prior of its own, so it has no "
            "evidence: use aptmc.Tempered(log_likelihood, prior)"
        )
    if ladder.levels[-1] != 0.0:
        raise InputError(
            f"the evidence needs a ladder down to the prior, power 0, and this one ends at "
            f"{ladder.levels[-1]:g}: use ladder='auto', or Ladder.powers([1, …, 0])"
        )
    if not run.keeps_all:
        raise InputError('the evidence needs the draws of all rungs: use keep="all"')
    column = value_column(problem.dimension)
    values = [
        [draws.state[:, column] for draws in run.chains(rung)] for rung in range(ladder.rungs)
    ]
    return log_evidence(ladder.levels, values)
