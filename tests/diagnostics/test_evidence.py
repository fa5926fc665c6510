"""The log evidence: from exact draws of rungs whose evidence is known, and from runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import integrate, special, stats

import aptmc
from aptmc.diagnostics import log_evidence
from aptmc.diagnostics.evidence import Evidence
from aptmc.diagnostics.evidence_steps import hyperbolic
from aptmc.diagnostics.likelihoods import BLOCKS
from tests.support.statistical import standard_errors_off

# Ten observations with mean 1.3 and variance 1 of N(x, 1), and the prior N(0, 10 ** 2).
OBSERVATIONS, MEAN, PRIOR_VARIANCE = 10, 1.3, 100.0
POWERS = np.array([1.0, 0.35, 0.12, 0.04, 0.012, 0.004, 0.001, 0.0])
CONSTANT = -0.5 * OBSERVATIONS * (math.log(2 * math.pi) + 1.0)
MARGINAL = stats.norm(0.0, math.sqrt(PRIOR_VARIANCE + 1.0 / OBSERVATIONS))
TRUTH = CONSTANT + 0.5 * math.log(2 * math.pi / OBSERVATIONS) + MARGINAL.logpdf(MEAN)


def log_likelihood(x):
    return CONSTANT - 0.5 * OBSERVATIONS * (x - MEAN) ** 2


def from_scores(scores, powers=POWERS):
    """Log likelihoods of exact draws of each rung, from standard normal numbers."""
    rungs = []
    for score, power in zip(scores, powers, strict=True):
        precision = 1.0 / PRIOR_VARIANCE + OBSERVATIONS * power
        mean = OBSERVATIONS * power * MEAN / precision
        rungs.append(log_likelihood(mean + score / math.sqrt(precision)))
    return rungs


def exact(seed, size=400, powers=POWERS):
    return from_scores(np.random.default_rng(seed).standard_normal((len(powers), size)), powers)


def values_of(evidence: Evidence):
    return [evidence.value, *(check.value for check in evidence[2:])]


def relative_errors(evidences):
    """Root mean square of errors over standard errors: 1 if these are right."""
    return math.sqrt(np.mean([((e.value - TRUTH) / e.standard_error) ** 2 for e in evidences]))


def test_exact_draws_give_the_known_evidence_and_errors_are_right():
    evidences = [log_evidence(POWERS, exact(seed)) for seed in range(150)]
    bridge, thermodynamic, forward, _ = np.transpose([values_of(e) for e in evidences])
    assert standard_errors_off(bridge, TRUTH) < 4
    # On exact moments the rule is off by 2e-6 here, the trapezoid by -0.63, cubics by 0.15.
    assert abs(thermodynamic.mean() - TRUTH) < 0.02
    assert standard_errors_off(forward, TRUTH) < 5
    # 150 squares of about normal numbers: a standard deviation of 0.06; 20 blocks add 6 %.
    assert 0.8 < relative_errors(evidences) < 1.3
    for place in range(2, 5):
        ratios = [(e[place].value - TRUTH) / e[place].standard_error for e in evidences]
        assert np.mean(np.abs(ratios) < 2) > 0.9


@pytest.mark.parametrize(
    "plant",
    [
        pytest.param(lambda rungs: [rungs[0] + 0.5, *rungs[1:]], id="a rung shifted"),
        pytest.param(lambda rungs: rungs[:2] + exact(9, powers=POWERS * 0.8)[2:], id="too warm"),
        pytest.param(lambda rungs: [rung - CONSTANT for rung in rungs], id="constant forgotten"),
        pytest.param(lambda rungs: [np.sort(rung)[40:] for rung in rungs], id="tails cut off"),
    ],
)
def test_planted_errors_are_found(plant):
    values = [log_evidence(POWERS, plant(exact(seed))).value for seed in range(100)]
    assert standard_errors_off(values, TRUTH) > 5


def test_stepping_stones_bracket_the_truth_in_expectation():
    # Few draws of rungs far apart, so that Jensen's gap is wide.
    powers = [1.0, 0.04, 0.0]
    evidences = [log_evidence(powers, exact(seed, 25, powers)) for seed in range(300)]
    forward, reverse = (np.array([e[place].value for e in evidences]) for place in (3, 4))
    assert forward.mean() < TRUTH < reverse.mean()
    assert min(standard_errors_off(forward, TRUTH), standard_errors_off(reverse, TRUTH)) > 4


def test_errors_respect_autocorrelation():
    each = log_evidence(POWERS, exact(1)).standard_error
    repeated = [np.repeat(rung, 20) for rung in exact(1)]
    assert log_evidence(POWERS, repeated).standard_error == pytest.approx(each, rel=0.02)
    # The control: in random order repetitions look like 20 times as many draws.
    rng = np.random.default_rng(1)
    shuffled = log_evidence(POWERS, [rng.permutation(rung) for rung in repeated])
    assert shuffled.standard_error < 0.4 * each


def test_errors_respect_rungs_that_move_together():
    rng = np.random.default_rng(2)
    common = [rng.standard_normal((1, 400)).repeat(len(POWERS), axis=0) for _ in range(150)]
    together = [log_evidence(POWERS, from_scores(scores)) for scores in common]
    assert 0.8 < relative_errors(together) < 1.3
    # The control: rungs that are turned against each other in time look independent.
    apart = [
        log_evidence(POWERS, [np.roll(rung, 53 * i) for i, rung in enumerate(from_scores(scores))])
        for scores in common
    ]
    assert relative_errors(apart) > 1.5


def test_a_rung_may_have_several_chains():
    rungs = exact(3)
    whole = log_evidence(POWERS, rungs)
    pieces = [[rung[:150], rung[150:], rung[:0]] for rung in rungs]
    several = log_evidence(POWERS, pieces)
    assert values_of(several)[1:] == pytest.approx(values_of(whole)[1:], rel=1e-9)
    # The bridge's weights follow the effective draws, which are estimated a bit differently.
    assert several.value == pytest.approx(whole.value, abs=0.1 * whole.standard_error)
    assert several.standard_error == pytest.approx(whole.standard_error, rel=0.5)
    tables = log_evidence(POWERS, [rung.reshape(2, 200) for rung in rungs])
    halves = log_evidence(POWERS, [list(rung.reshape(2, 200)) for rung in rungs])
    assert tables == halves


def test_impossible_draws_from_the_prior_count_as_nothing():
    # A likelihood of exp(-x) on (0, 1), 0 beyond; the prior is uniform on (0, 4).
    powers, truth = [1.0, 0.5, 0.0], math.log((1.0 - math.exp(-1.0)) / 4.0)
    estimates = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        hot = rng.uniform(0.0, 4.0, 1000)
        rungs = [-stats.truncexpon(1.0 * b, scale=1.0 / b).rvs(1000, rng) for b in (1.0, 0.5)]
        evidence = log_evidence(powers, [*rungs, np.where(hot < 1.0, -hot, -np.inf)])
        assert np.isfinite(values_of(evidence)).all()
        estimates.append([*values_of(evidence), evidence.standard_error])
    *columns, error = np.transpose(estimates)
    for column in columns:
        assert standard_errors_off(column, truth) < 4
    # A share of a quarter of 1000 draws has a relative error of 5.5 %, which is most of it.
    assert error.mean() == pytest.approx(0.055, rel=0.15)


def test_rungs_that_do_not_overlap_have_no_finite_error():
    evidence = log_evidence([1.0, 0.0], [np.linspace(-3, -1, 100), np.linspace(-900, -500, 100)])
    assert math.isinf(evidence.standard_error)
    assert "inf" in str(evidence)


def test_rungs_on_which_chains_stand_still_say_nothing():
    """Each has its own few states, of which many draws were made: so few that no error is known."""
    rng = np.random.default_rng(5)
    stuck = [np.repeat(rng.normal(-(4.0**rung), 1.0, 4), 500) for rung in range(4)]
    evidence = log_evidence([1.0, 0.5, 0.2, 0.0], stuck)
    assert math.isinf(evidence.standard_error)
    assert "too few draws in common to tell it" in str(evidence)


def test_a_likelihood_that_says_nothing():
    evidence = log_evidence([1.0, 0.3, 0.0], [[-2.0] * 50] * 3)
    assert values_of(evidence) == pytest.approx([-2.0] * 4)
    assert evidence.standard_error == pytest.approx(0.0, abs=1e-9)
    assert str(evidence).startswith("log evidence -2.000")


@pytest.mark.parametrize(("low", "high"), [(9.0, 0.01), (2.0, 1.998), (1.0, 1.0), (0.1, 3.0)])
def test_the_rule_is_exact_for_hyperbolas(low, high):
    correction, by_low, by_high = hyperbolic(low, high)
    ratio, step = math.sqrt(low / high), 0.7
    if ratio != 1.0:
        # -k / (power + c), with these slopes at power 0 and at the step
        c = step / (ratio - 1.0)
        k = low * c**2
        area = -k * math.log((step + c) / c)
        trapezoid = -0.5 * step * k * (1.0 / c + 1.0 / (step + c))
        assert trapezoid + step**2 * correction == pytest.approx(area, rel=1e-6)
    change = 1e-5
    by_difference = (
        (hyperbolic(low + change, high)[0] - hyperbolic(low - change, high)[0]) / (2 * change),
        (hyperbolic(low, high + change)[0] - hyperbolic(low, high - change)[0]) / (2 * change),
    )
    assert (by_low, by_high) == pytest.approx(by_difference, rel=1e-3)


@pytest.mark.parametrize(
    ("powers", "rungs", "message"),
    [
        ([1.0, 0.1], [[-1.0] * 30] * 2, "from 1 to 0"),
        ([0.5, 0.0], [[-1.0] * 30] * 2, "from 1 to 0"),
        ([1.0, 0.2, 0.2, 0.0], [[-1.0] * 30] * 4, "must decrease"),
        ([1.0, 0.0], [[-1.0] * 30] * 3, "got powers .* and 3 series"),
        ([1.0], [[-1.0] * 30], "two rungs or more"),
        ([1.0, 0.0], [[-1.0] * 30, [-1.0] * 19], "power 0 has a chain of 19 draws"),
        ([1.0, 0.0], [[], [-1.0] * 30], "power 1 has a chain of 0 draws"),
        ([1.0, 0.0], [[-np.inf] * 30, [-1.0] * 30], "power 1 has a log likelihood of -inf"),
        ([1.0, 0.0], [[-1.0] * 30, [np.nan] * 30], "power 0 has a log likelihood of nan"),
        ([1.0, 0.0], [[-1.0] * 30, [-np.inf] * 30], "none of 30 draws from the prior"),
    ],
)
def test_unusable_draws_are_refused(powers, rungs, message):
    with pytest.raises(aptmc.InputError, match=message):
        log_evidence(powers, rungs)


# --- from runs --------------------------------------------------------------------------------

DATA = np.random.default_rng(5).normal(1.3, 1.0, 20)
FLIPS, HEADS = 100_000, 50_000
LOG_CHOICES = math.lgamma(FLIPS + 1) - 2 * math.lgamma(HEADS + 1)
CENTRES = np.array([[-6.0, -6.0], [5.0, 2.0], [-1.0, 6.0]])
WIDTHS, WEIGHTS = np.array([0.3, 0.5, 0.2]), np.array([0.5, 0.3, 0.2])


@njit
def of_a_normal_mean(theta):
    return -0.5 * DATA.size * math.log(2 * math.pi) - 0.5 * ((DATA - theta[0]) ** 2).sum()


@njit
def of_two_coins(theta):
    heads = theta[0] * theta[1]
    if heads <= 0.0 or heads >= 1.0:
        return -math.inf
    return LOG_CHOICES + HEADS * math.log(heads) + (FLIPS - HEADS) * math.log1p(-heads)


@njit
def of_a_mixture(theta):
    density = 0.0
    for k in range(3):
        square = ((theta - CENTRES[k]) ** 2).sum() / WIDTHS[k] ** 2
        density += WEIGHTS[k] * math.exp(-0.5 * square) / (2 * math.pi * WIDTHS[k] ** 2)
    return math.log(density) if density > 0.0 else -math.inf


def normal_evidence():
    covariance = np.eye(DATA.size) + 100.0
    return stats.multivariate_normal(np.zeros(DATA.size), covariance).logpdf(DATA)


def coin_evidence():
    # The product of two uniform numbers has the density -log(p).
    def integrand(p):
        binomial = LOG_CHOICES + special.xlogy(HEADS, p) + special.xlog1py(FLIPS - HEADS, -p)
        return -math.log(p) * math.exp(binomial)

    return math.log(integrate.quad(integrand, 0.48, 0.52, points=[0.5], epsabs=0.0)[0])


def test_the_evidence_of_the_coins_is_the_published_one():
    assert coin_evidence() == pytest.approx(-11.8794, abs=5e-5)


# Over 20 seeds standard errors were right within 15 %, and this large on average.
@pytest.mark.parametrize(
    ("function", "prior", "truth", "usual_error", "budget"),
    [
        (of_a_normal_mean, {"x": stats.norm(0, 10)}, normal_evidence(), 0.025, 20_000),
        pytest.param(
            of_two_coins,
            dict.fromkeys("ab", stats.uniform(0, 1)),
            coin_evidence(),
            0.042,
            40_000,
            marks=pytest.mark.validation,
        ),
        pytest.param(
            of_a_mixture,
            dict.fromkeys("xy", stats.uniform(-10, 20)),
            -math.log(400.0),
            0.041,
            40_000,
            marks=pytest.mark.validation,
        ),
    ],
)
def test_runs_with_default_settings_give_the_known_evidence(
    function, prior, truth, usual_error, budget
):
    run = aptmc.sample(
        aptmc.Tempered(function, aptmc.Prior(**prior)),
        budget=budget,
        on=aptmc.VirtualTime(4),
        keep="all",
        seed=1,
    )
    evidence = run.log_evidence()
    # The error comes from so many blocks; one false alarm in 16,000, as for four normal errors.
    most = stats.t(BLOCKS - 1).ppf(1.0 - 3e-5)
    for value, error in (evidence[:2], *evidence[2:]):
        assert abs(value - truth) < most * error
    assert usual_error / 2.5 < evidence.standard_error < 2.5 * usual_error


def sample(problem, ladder, **changes):
    settings = {
        "kernel": aptmc.RandomWalk(1.0),
        "schedule": aptmc.Anytime(every=3.0),
        "on": aptmc.VirtualTime(),
        "keep": "all",
    }
    return aptmc.sample(problem, budget=200, ladder=ladder, seed=1, **(settings | changes))


def test_runs_that_cannot_know_the_evidence_say_why():
    tempered = aptmc.Tempered(of_a_normal_mean.py_func, aptmc.Prior(x=stats.norm(0, 10)))
    to_the_prior = aptmc.Ladder.powers([1, 0.1, 0])
    with pytest.raises(aptmc.InputError, match='use keep="all"'):
        sample(tempered, to_the_prior, keep="coldest").log_evidence()
    with pytest.raises(aptmc.InputError, match=r"power 0, and this one ends at 0\.1"):
        sample(tempered, aptmc.Ladder.powers([1, 0.3, 0.1])).log_evidence()
    power = aptmc.Power(of_a_normal_mean.py_func, 0.0)
    with pytest.raises(aptmc.InputError, match="Power has no likelihood and prior"):
        sample(power, aptmc.Ladder.powers(3)).log_evidence()
    abc = aptmc.Abc.early(lambda theta, rng, tolerance: abs(theta[0]), tempered.prior)
    tolerances = aptmc.Ladder.tolerances([5.0, 20.0, np.inf])
    with pytest.raises(aptmc.InputError, match="Abc has no likelihood"):
        sample(abc, tolerances, kernel=aptmc.OneHit(1.0)).log_evidence()
    assert math.isfinite(sample(tempered, to_the_prior).log_evidence().value)
