"""Truncated normal draws and their mass, against scipy."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from aptmc.kernels.truncated import draw_truncated, log_mass
from tests.support.statistical import follows

DRAWS = 20_000


class Case(NamedTuple):
    """A normal and its bounds."""

    mean: float
    scale: float
    lower: float
    upper: float

    @property
    def distribution(self):
        bounds = [(bound - self.mean) / self.scale for bound in (self.lower, self.upper)]
        return stats.truncnorm(*bounds, loc=self.mean, scale=self.scale)


CASES = {
    "wide": Case(0.3, 1.0, -6.0, 5.0),
    "moderate": Case(1.0, 0.7, 0.0, 3.0),
    "narrow": Case(0.3, 0.6, 0.0, 1.0),
    "narrow, mean near an end": Case(0.001, 0.55, 0.0, 1.0),
    "very narrow": Case(10.0 + 1e-9, 2.0, 10.0, 10.0 + 3e-9),
    "just above twice the scale": Case(0.2, 0.4999, 0.0, 1.0),
    "just below twice the scale": Case(0.2, 0.5001, 0.0, 1.0),
    "from below": Case(0.5, 1.0, 0.0, math.inf),
    "from above": Case(-4.5, 2.0, -math.inf, -4.0),
    "mean at the edge": Case(1e-6, 1.0, 0.0, math.inf),
    "no bounds": Case(-2.0, 3.0, -math.inf, math.inf),
    "tiny scale": Case(0.5, 1e-8, 0.0, 1.0),
    "far from zero": Case(1e6, 5.0, 1e6 - 1.0, 1e6 + 20.0),
}


def draws(case: Case, draw=draw_truncated, seed: int = 1):
    rng = np.random.default_rng(seed)
    return np.array([draw(rng, *case) for _ in range(DRAWS)])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_draws_follow_the_truncated_normal_between_the_bounds(case: Case) -> None:
    values = draws(case)
    assert (values >= case.lower).all()
    assert (values <= case.upper).all()
    if case.upper - case.lower < 1e-8:
        # So narrow that floating-point numbers are few: uniform up to their spacing.
        assert np.unique(values).size > 1000
        values += np.spacing(10.0) * (np.random.default_rng(2).random(DRAWS) - 0.5)
        assert follows(values, stats.uniform(case.lower, case.upper - case.lower).cdf)
    else:
        assert follows(values, case.distribution.cdf)


def clipped(rng, mean, scale, lower, upper):
    return min(max(mean + scale * rng.standard_normal(), lower), upper)


def uniform(rng, mean, scale, lower, upper):
    return lower + (upper - lower) * rng.random()


def reflected(rng, mean, scale, lower, upper):
    value = mean + scale * rng.standard_normal()
    return 2 * lower - value if value < lower else value


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [(clipped, "moderate"), (uniform, "narrow"), (reflected, "from below")],
)
def test_wrong_ways_to_truncate_are_caught(wrong, kind: str) -> None:
    assert not follows(draws(CASES[kind], wrong), CASES[kind].distribution.cdf)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_compiled_and_plain_draws_are_the_same_bit_for_bit(case: Case) -> None:
    fast, slow = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(300):
        assert draw_truncated(fast, *case) == draw_truncated.py_func(slow, *case)
    assert fast.random() == slow.random()


def is_log_mass(function) -> bool:
    """Whether it agrees with scipy in all cases, up to rounding."""
    for case in CASES.values():
        if case.upper - case.lower < 1e-8:
            continue  # scipy loses digits: see below
        density, truncated = stats.norm(case.mean, case.scale), case.distribution
        expected = density.logpdf(case.mean) - truncated.logpdf(case.mean)
        # The density is the larger of the numbers that are subtracted.
        rounding = 1e-14 * max(1.0, abs(truncated.logpdf(case.mean)))
        if not abs(function(*case) - expected) < 10 * rounding:
            return False
    return True


def test_the_mass_between_the_bounds_is_that_of_scipy() -> None:
    assert is_log_mass(log_mass)
    assert is_log_mass(log_mass.py_func)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda *case: 0.0,
        lambda mean, scale, lower, upper: log_mass(mean, scale, lower, math.inf),
        lambda mean, scale, lower, upper: log_mass(mean, 1.001 * scale, lower, upper),
        lambda mean, scale, lower, upper: log_mass(mean + 0.001 * scale, scale, lower, upper),
    ],
    ids=["forgotten", "half of it", "scale", "mean"],
)
def test_wrong_masses_are_caught(wrong) -> None:
    assert not is_log_mass(wrong)


@pytest.mark.parametrize("width", [1e-4, 1e-8, 1e-12, 1e-16, 1e-100])
def test_the_mass_between_close_bounds_keeps_its_digits(width: float) -> None:
    """With scales far above the width the density is constant, up to a relative width ** 2 / 8."""
    for share in (0.0, 0.1, 0.5, 1.0):
        expected = math.log(width / math.sqrt(2.0 * math.pi))
        found = log_mass(0.0, 1.0, -share * width, (1.0 - share) * width)
        assert abs(found - expected) < width**2 + 1e-13 * abs(expected)


def test_no_bounds_leave_all_the_mass() -> None:
    assert log_mass(3.0, 2.0, -math.inf, math.inf) == 0.0
    assert log_mass(0.0, 1.0, 0.0, math.inf) == pytest.approx(math.log(0.5), rel=1e-15)
