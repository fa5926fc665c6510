"""The table of reported errors: what counts, and what is kept."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.reported_errors.calibration import Errors, calibrated
from experiments.reported_errors.kept import Kept


def errors(seed, *, is_right=True):
    """A mean whose errors are as reported, a square that is off, and one that nobody knows."""
    error = np.random.default_rng(seed).normal(size=3) * [1.0, 2.0, 1.0] + [0.0, 0.0, 5.0]
    truth, is_parameter = np.array([0.0, 0.0, 3.0]), np.array([True, False, True])
    return Errors(error, np.ones(3), np.full(3, 0.5), truth, is_parameter, 100.0 + seed, is_right)


def test_what_the_reference_does_not_know_is_left_out():
    found = calibrated([*map(errors, range(1000)), errors(1, is_right=False)])
    assert found.runs == 1000
    # Of 1,000 normal errors, 4 standard errors of a root mean square.
    assert found.reported == pytest.approx(1.0, abs=4 / 2000**0.5)
    assert found.every == pytest.approx(2.5**0.5, rel=4 / 2000**0.5)
    assert found.by_chain == pytest.approx(2 * found.reported)
    assert found.size == pytest.approx(found.every)
    planted = [run._replace(truth=np.zeros(3)) for run in map(errors, range(1000))]
    assert calibrated(planted).reported > 3.0


def test_runs_are_kept_and_not_measured_again(tmp_path):
    path = tmp_path / "kept.jsonl"
    first = Kept(path).runs("normal", 0.5, [1, 2], errors)
    asked = []

    def measure(seed):
        asked.append(seed)
        return errors(seed)

    again = Kept(path).runs("normal", 0.5, [1, 2, 3], measure)
    assert asked == [3]
    for one, other in zip(first, again[:2], strict=True):
        for mine, kept in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, kept)
