"""As many effective draws as were asked for: the tolerance is chosen for about so many."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import aptmc
from tests.support.wide_prior import ON, PROBLEM
from tests.test_descent import TWO_MODES

LOG = logging.getLogger(__name__)
BUDGETS = {50: 4_000, 200: 10_000}  # by the number that is asked for


@pytest.mark.validation(shortest=0.1)
@pytest.mark.parametrize("wanted", BUDGETS)
@pytest.mark.parametrize("problem", [PROBLEM, TWO_MODES], ids=["wide prior", "two modes"])
def test_a_run_has_about_as_many_as_were_asked_for(problem, wanted) -> None:
    """What they were is shown by `pytest --log-cli-level=INFO`."""
    found = []
    for seed in range(20):
        run = aptmc.sample(
            problem,
            budget=BUDGETS[wanted],
            ladder=aptmc.Ladder.auto(effective_draws=wanted),
            on=ON,
            seed=seed,
            progress=False,
        )
        assert run.reached.effective_draws == wanted
        assert not run.reached.is_wide
        found.append(min(row.ess for row in run.summary().values()))
    LOG.info("%.0f (%.0f to %.0f)", np.median(found), min(found), max(found))
    assert wanted / 2.0 < np.median(found) < 2.0 * wanted
