"""The paper's first experiment: the bias is there without the correction, and gone with it.

A corrected estimate may lie 4 standard errors from the truth. With 20 runs that happens by chance
to one check in 1,300 (Student's t with 19 degrees of freedom); seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest

from aptmc.models import gamma_mixture
from experiments.gamma_mixture import bias, efficiency, figures
from experiments.gamma_mixture.samplers import APTMC_1_FED, APTMC_W, MCMC, SHARED_3

# Virtual time of one run: long enough for the uncorrected bias to stand out.
BUDGETS = {
    APTMC_1_FED: (1e5, 3e5, 1e6, 1e7),
    APTMC_W: (2e4, 2.5e5, 1e5, 4e5),
    SHARED_3: (6e4, 1.5e5, 5e5, 2e6),
}
CASES = [(sampler, power) for sampler in BUDGETS for power in range(4)]
# A shared pool, a quick one; the others come in the validation.
QUICK = [(SHARED_3, 1)]
QUICK_BUDGET = 4e4
LONGEST = {(APTMC_1_FED, 3), (APTMC_W, 1), (SHARED_3, 3)}
OTHERS = [case for case in CASES if case not in QUICK]


def names(value):
    """A sampler or a power, as part of a test's name."""
    return f"p={value}" if isinstance(value, int) else value.name


TRUTHS = (gamma_mixture.MEAN, gamma_mixture.PROBABILITY_BELOW_MIDDLE)


def errors_off(result):
    """Standard errors by which the mean and P(x < 1.7) miss the truth."""
    estimates = (result.mean, result.below_middle)
    return [estimate.errors_from(truth) for estimate, truth in zip(estimates, TRUTHS, strict=True)]


@pytest.mark.parametrize(("sampler", "power"), QUICK, ids=names)
def test_corrected_exchanges_are_unbiased(sampler, power):
    result = bias.measure(sampler, power, corrected=True, budget=QUICK_BUDGET, runs=20)
    assert max(errors_off(result)) < 4.0


def check_that_uncorrected_exchanges_are_biased(sampler, power, budget, least):
    result = bias.measure(sampler, power, corrected=False, budget=budget, runs=20)
    assert min(errors_off(result)) > least
    assert result.mean.value > gamma_mixture.MEAN  # towards slow states


@pytest.mark.parametrize(("sampler", "power"), QUICK, ids=names)
def test_uncorrected_exchanges_are_biased(sampler, power):
    check_that_uncorrected_exchanges_are_biased(sampler, power, QUICK_BUDGET, 6.0)


@pytest.mark.validation
@pytest.mark.parametrize(("sampler", "power"), [case for case in OTHERS if case[1] > 0], ids=names)
def test_uncorrected_exchanges_are_biased_at_other_powers(sampler, power, validation_scale):
    if (sampler, power) in LONGEST and validation_scale < 0.1:
        pytest.skip("takes as long as all the others")
    check_that_uncorrected_exchanges_are_biased(sampler, power, BUDGETS[sampler][power], 10.0)


@pytest.mark.validation(shortest=0.1)
@pytest.mark.parametrize(("sampler", "power"), CASES, ids=names)
def test_corrected_exchanges_are_unbiased_in_long_runs(sampler, power, validation_scale):
    budget = 20.0 * BUDGETS[sampler][power] * validation_scale
    runs = 40 if validation_scale >= 0.1 else 20
    result = bias.measure(sampler, power, corrected=True, budget=budget, runs=runs, seed=1000)
    assert max(errors_off(result)) < 4.0


@pytest.mark.validation
@pytest.mark.parametrize(
    ("name", "power", "published"),
    [("APTMC-W", 0, 53.925), ("APTMC-W", 1, 45.942), ("APTMC-1", 0, 81.156)],
)
def test_autocorrelation_times_are_near_the_published_ones(
    name, power, published, validation_scale
):
    if (name, power) != ("APTMC-1", 0) and validation_scale < 0.1:
        pytest.skip("one of them is enough to see that it works")
    # Runs shorter than a few thousand autocorrelation times would say nothing.
    budget = max(1e6 * validation_scale, 3e5)
    result = efficiency.measure(name, power, budget=budget, runs=9)
    assert result.median_iat == pytest.approx(published, rel=0.25)
    assert result.median_iat == pytest.approx(efficiency.PAPER[name, power].iat, rel=0.25)


@pytest.mark.validation(shortest=0.1)
@pytest.mark.parametrize(("power", "published"), [(1, 95.104), (2, 132.79)])
def test_cutting_holds_at_deadlines_explains_the_published_times(
    power, published, validation_scale
):
    if power != 2 and validation_scale < 0.1:
        pytest.skip("one of them is enough to see that it works")
    # Several thousand autocorrelation times, even in the short version.
    budget = max(1e7 * validation_scale, 5e6)
    cut = efficiency.measure("APTMC-1, holds cut", power, budget=budget, runs=7)
    kept = efficiency.measure("APTMC-1", power, budget=budget, runs=7)
    assert cut.median_iat == pytest.approx(published, rel=0.25)
    assert kept.median_iat > 1.4 * cut.median_iat


def test_exact_numbers_are_exact():
    x = np.linspace(0, 40, 40_001)
    for power in range(4):
        density = gamma_mixture.density(x, power)
        assert np.trapezoid(density, x) == pytest.approx(1.0, abs=1e-6)
        # The anytime density is the target, weighed by the mean hold time x ** power.
        weighed = x**power * gamma_mixture.density(x)
        assert density == pytest.approx(weighed / np.trapezoid(weighed, x), abs=1e-9)
    assert np.trapezoid(x * gamma_mixture.density(x), x) == pytest.approx(2.725)
    assert gamma_mixture.distribution(1.7) == pytest.approx(0.49956, abs=5e-6)
    log_density = [gamma_mixture.log_density(np.array([point])) for point in x[1::100]]
    assert np.exp(log_density) == pytest.approx(gamma_mixture.density(x[1::100]))


def test_hold_times_have_the_stated_mean():
    rng = np.random.default_rng(1)
    for power in range(4):
        hold = gamma_mixture.hold_time(power)
        times = [hold(np.array([3.0]), 0, rng) for _ in range(4000)]
        # A gamma of mean m and scale s has variance m s.
        mean = 3.0**power
        assert np.mean(times) == pytest.approx(mean, abs=5 * np.sqrt(mean * 0.15 / 4000))


@pytest.mark.validation
def test_figures_and_tables_are_made(tmp_path):
    results = [
        bias.measure(sampler, power, corrected=corrected, budget=2000.0, runs=2)
        for sampler in (APTMC_1_FED, APTMC_W)
        for power in (0, 1)
        for corrected in (True, False)
    ]
    figures.draw_bias(results, tmp_path / "bias.png")
    assert bias.table(results).count("\n") == 2 + len(results) - 1
    measured = [
        efficiency.measure(name, 0, budget=20_000.0, runs=2, lags=100)
        for name in efficiency.SAMPLERS
    ]
    figures.draw_autocorrelation(measured, tmp_path / "acf.png")
    assert "53.9" in efficiency.table(measured)
    for name in ("bias.png", "acf.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_plain_mcmc_is_one_chain():
    run = MCMC.run(0, budget=1000.0, seed=1)
    assert len(run.chains()) == 1
    assert not run.chains()[0].exchanged.any()
