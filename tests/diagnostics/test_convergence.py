"""Bulk and tail effective sample size and R-hat: what ArviZ says, without its gaps."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from arviz_stats.base.array import array_stats as untyped_arviz

from aptmc.diagnostics.convergence import (
    _r_hat_of_halves,
    bulk_effective_sample_size,
    r_hat,
    tail_effective_sample_size,
)
from aptmc.errors import InputError

arviz: Any = untyped_arviz
DRAWS = np.random.default_rng(1).normal(size=(4, 501)).cumsum(axis=1) * 0.01
DRAWS += np.random.default_rng(2).normal(size=DRAWS.shape)


@pytest.mark.parametrize("chains", [1, 2, 4])
def test_effective_sample_sizes_are_those_of_arviz(chains: int) -> None:
    draws = DRAWS[:chains]
    assert bulk_effective_sample_size(draws) == arviz.ess(draws, method="bulk")
    expected = arviz.ess(draws, method="tail", prob=(0.05, 0.95))
    assert tail_effective_sample_size(draws) == expected


@pytest.mark.parametrize("chains", [2, 4])
def test_r_hat_is_that_of_arviz(chains: int) -> None:
    assert r_hat(DRAWS[:chains]) == arviz.rhat(DRAWS[:chains], method="rank")


def test_one_chain_may_be_given_without_its_axis() -> None:
    for function in (bulk_effective_sample_size, tail_effective_sample_size, r_hat):
        assert function(DRAWS[0]) == function(DRAWS[:1])
        assert np.isfinite(function(DRAWS[0]))


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_r_hat_of_halves_is_what_arviz_does_with_chains_it_has_split(scale: float) -> None:
    # ArviZ has no R-hat for one chain. For two, the same steps must give its answer, whether the
    # difference is in the centre or (scale 3) in the spread, which only the folded draws show.
    chains = np.random.default_rng(3).normal(size=(2, 400)) * np.array([[1.0], [scale]])
    halves = np.concatenate([chains[:, :200], chains[:, -200:]])
    assert _r_hat_of_halves(halves) == pytest.approx(arviz.rhat(chains), rel=1e-12)


def test_r_hat_of_one_chain_sees_a_drift() -> None:
    noise = np.random.default_rng(4).normal(size=1001)
    assert r_hat(noise) < 1.01
    assert r_hat(noise + np.linspace(0, 5, 1001)) > 1.5


def test_chains_that_never_moved() -> None:
    assert np.isnan(r_hat(np.full(10, 0.1)))
    assert np.isnan(r_hat(np.full((3, 10), 0.1)))
    assert r_hat([[0.1] * 100, [0.7] * 100]) == float("inf")
    assert bulk_effective_sample_size(np.full((2, 10), 0.1)) == 20


def test_two_point_draws_give_a_number() -> None:
    # Folded at the median 1/2, these draws are constant.
    draws = np.tile([0, 1], (2, 50))
    assert r_hat(draws) == pytest.approx(1, abs=0.02)
    assert r_hat(draws[0]) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("draws", [[], [1.0, 2.0, 3.0], [[1.0, 2.0, 3.0]] * 2])
def test_too_few_draws_give_nan(draws: list[float]) -> None:
    for function in (bulk_effective_sample_size, tail_effective_sample_size, r_hat):
        assert np.isnan(function(draws))


def test_unusable_draws_are_refused() -> None:
    for function in (bulk_effective_sample_size, tail_effective_sample_size, r_hat):
        with pytest.raises(InputError, match=r"equal lengths, got \[3, 2\]: cut them to 2"):
            function([[1.0, 2.0, 3.0], [1.0, 2.0]])
        with pytest.raises(InputError, match="finite"):
            function([1.0, 2.0, float("nan"), 3.0])


def test_arviz_is_imported_only_when_asked_for_and_without_warnings() -> None:
    code = (
        "import sys, aptmc.diagnostics as diagnostics\n"
        "assert 'arviz_stats' not in sys.modules\n"
        "diagnostics.r_hat([1.0, 2.0, 1.0, 2.0, 3.0])\n"
        "assert 'arviz_stats' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=_environment())


def _environment() -> dict[str, str]:
    # The child must find the same aptmc, installed or not.
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
