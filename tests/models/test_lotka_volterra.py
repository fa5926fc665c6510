"""The Lotka-Volterra simulator: bit for bit, against exact laws, and against the paper.

Statistical checks have the false-alarm rate of `tests.support.statistical`, seeds are fixed, and
each check is shown to refuse a wrong model.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import sparse, stats
from scipy.sparse.linalg import expm_multiply

from aptmc import Key
from aptmc.models import lotka_volterra
from aptmc.models.lotka_volterra import advance, grow, simulate, simulated_distance
from tests.support.statistical import FALSE_ALARM, follows

THETAS = {
    "the truth": [1.0, 0.005, 0.6],
    "no prey": [0.1, 0.5, 0.6],
    "no predators": [0.5, 0.001, 8.0],
    "no predators, many prey": [4.0, 0.001, 12.0],
    "no predators, more prey than integers": [15.0, 0.001, 40.0],
    "no predators, more prey than floats": [90.0, 0.001, 300.0],
    "nothing happens": [0.0, 0.0, 0.0],
    "deaths only": [0.0, 0.0, 5.0],
}


def generator(number=0):
    return Key(seed=53, chain=0, number=number).generator()


@pytest.fixture(params=THETAS.values(), ids=THETAS.keys())
def theta(request):
    return np.array(request.param)


# --- the same bits ------------------------------------------------------------------------------


def test_compiled_and_plain_python_agree_bit_for_bit(theta, monkeypatch):
    compiled = []
    for number in range(2):
        rng, other = generator(number), generator(number)
        compiled.append(
            (simulate(theta, rng), rng.random(), simulated_distance(theta, other, 3.0),
             other.random())
        )  # fmt: skip
    # Plain Python all the way down.
    for name in ("advance", "grow", "log_ratio"):
        monkeypatch.setattr(lotka_volterra, name, getattr(lotka_volterra, name).py_func)
    for number, (counts, next_number, distance, other_number) in enumerate(compiled):
        rng, other = generator(number), generator(number)
        assert np.array_equal(simulate.py_func(theta, rng), counts)
        assert rng.random() == next_number
        assert simulated_distance.py_func(theta, other, 3.0) == distance
        assert other.random() == other_number


@pytest.mark.parametrize("tolerance", [0.5, 1.0, 3.0, math.inf])
def test_early_stop_finds_the_distance_of_the_whole_path(theta, tolerance):
    for number in range(20):
        whole = simulate(theta, generator(number))
        expected = lotka_volterra.distance(whole, lotka_volterra.OBSERVED)
        distance, events = simulated_distance(theta, generator(number), tolerance)
        assert distance == (expected if expected <= tolerance else math.inf)
        assert events >= 0.0


def test_early_stop_saves_events():
    theta = np.array([1.0, 0.005, 0.6])
    taken = [
        sum(simulated_distance(theta, generator(number), tolerance)[1] for number in range(200))
        for tolerance in (0.1, 1.0, math.inf)
    ]
    assert taken[0] < 0.5 * taken[1]
    assert taken[1] < taken[2]


def test_distance_is_the_largest_log_ratio():
    observed = lotka_volterra.OBSERVED
    simulated = observed.copy()
    simulated[3] *= math.e
    simulated[7] /= 2.0 * math.e
    assert lotka_volterra.distance(simulated, observed) == pytest.approx(1.0 + math.log(2.0))
    simulated[9] = 0.0
    assert lotka_volterra.distance(simulated, observed) == math.inf


# --- ends of a path -----------------------------------------------------------------------------


def test_nothing_happens_where_all_rates_are_zero():
    assert advance(np.zeros(3), 50.0, 100.0, 1.0, generator()) == (50.0, 100.0, 0.0)
    assert np.all(simulate(np.zeros(3), generator()) == 50.0)


def test_every_event_is_counted():
    # Deaths of 100 predators, then one jump of the prey, which stay 50 without births.
    result = advance(np.array([0.0, 0.0, 1.0]), 50.0, 100.0, 1e9, generator())
    assert result == (50.0, 0.0, 101.0)
    # Predation alone: 50 prey are eaten.
    result = advance(np.array([0.0, 1.0, 0.0]), 50.0, 100.0, 1e9, generator())
    assert result == (0.0, 150.0, 50.0)


def test_extinct_prey_stay_extinct_at_once():
    assert advance(np.ones(3), 0.0, 100.0, 1e9, generator()) == (0.0, 100.0, 0.0)
    assert simulated_distance(np.array([0.0, 9.0, 0.0]), generator(), math.inf)[0] == math.inf


@pytest.mark.parametrize("prey", [1.0, 50.0, 1e100, 1e300, math.inf])
@pytest.mark.parametrize("exponent", [0.0, 30.0, 100.0, 700.0, 701.0])
def test_growth_has_no_gap_up_to_infinity(prey, exponent):
    for draw in (grow, grow.py_func):
        number = draw(prey, exponent, generator())
        assert number >= prey
        assert number == draw(prey, exponent, generator())
        if exponent == 0.0:
            assert number == prey


# --- exact laws ---------------------------------------------------------------------------------


@njit
def advance_often(theta, prey, predators, duration, size, rng):
    counts = np.empty((size, 2))
    for i in range(size):
        counts[i, 0], counts[i, 1], _ = advance(theta, prey, predators, duration, rng)
    return counts


@njit
def grow_often(prey, exponent, size, rng):
    counts = np.empty(size)
    for i in range(size):
        counts[i] = grow(prey, exponent, rng)
    return counts


def follows_counts(counts, exact):
    """Whether counts agree with a discrete law: spread over its steps, they are uniform."""
    below, at = exact.cdf(counts - 1), exact.cdf(counts)
    spread = below + generator(99).random(counts.size) * (at - below)
    return follows(spread, stats.uniform.cdf)


def yule(prey, exponent):
    """The law of a pure birth process: prey plus a negative binomial number."""
    return stats.nbinom(prey, math.exp(-exponent), loc=prey)


@pytest.mark.parametrize(("prey", "exponent"), [(1.0, 0.5), (50.0, 1.0), (7.0, 9.0)])
def test_growth_without_predators_is_a_yule_process(prey, exponent):
    counts = grow_often(prey, exponent, 50_000, generator())
    assert follows_counts(counts, yule(prey, exponent))
    assert not follows_counts(counts, yule(prey, 1.05 * exponent))


def test_huge_growth_is_gamma_distributed():
    counts = grow_often(5.0, 40.0, 50_000, generator())  # 10 ** 18 prey
    assert follows(counts / math.exp(40.0), stats.gamma(5.0).cdf)
    assert not follows(counts / math.exp(40.1), stats.gamma(5.0).cdf)


def test_without_predation_prey_are_born_and_predators_die():
    theta, duration = np.array([1.2, 0.0, 0.6]), 1.5
    counts = advance_often(theta, 50.0, 100.0, duration, 20_000, generator())
    prey, predators = counts.T
    born, alive = yule(50.0, 1.2 * duration), stats.binom(100, math.exp(-0.6 * duration))
    assert follows_counts(prey, born)
    assert follows_counts(predators, alive)
    assert not follows_counts(prey, yule(50.0, 1.22 * duration))
    assert not follows_counts(predators, stats.binom(100, math.exp(-0.62 * duration)))
    # Mean and variance as the books have them; independent of one another.
    growth = math.exp(1.2 * duration)
    assert born.mean() == pytest.approx(50.0 * growth)
    assert born.var() == pytest.approx(50.0 * growth * (growth - 1.0))
    assert stats.pearsonr(prey, predators).pvalue > FALSE_ALARM


def exact_law(theta, prey, predators, duration, size=60):
    """Probabilities of (prey, predators) by the master equation on a square that holds the mass."""
    x, y = (grid.ravel() for grid in np.meshgrid(range(size), range(size), indexing="ij"))
    rates = (theta[0] * x, theta[1] * x * y, theta[2] * y)
    changes = ((1, 0), (-1, 1), (0, -1))
    flow = sparse.csr_matrix((size * size, size * size))
    for rate, (dx, dy) in zip(rates, changes, strict=True):
        inside = (rate > 0) & (x + dx < size) & (y + dy < size)
        source = np.flatnonzero(inside)
        target = (x + dx)[source] * size + (y + dy)[source]
        shape = flow.shape
        flow = flow + sparse.csr_matrix((rate[source], (target, source)), shape)
        flow = flow - sparse.csr_matrix((rate[source], (source, source)), shape)
    start = np.zeros(size * size)
    start[int(prey) * size + int(predators)] = 1.0
    law = expm_multiply(flow * duration, start, traceA=duration * flow.diagonal().sum())
    law = law.reshape(size, size)
    assert law[-1].sum() + law[:, -1].sum() < 1e-9
    return law


def follows_law(counts, law):
    """Chi-squared, with rare states as one; predators are not followed once the prey are gone."""
    size = law.shape[0]
    merged = law.copy()
    merged[0, 0], merged[0, 1:] = law[0].sum(), 0.0
    x, y = counts.astype(int).T
    seen = np.bincount(x * size + np.where(x == 0, 0, y), minlength=size * size)
    expected = merged.ravel() * len(counts)
    common = expected >= 10.0
    seen = np.append(seen[common], seen[~common].sum())
    expected = np.append(expected[common], len(counts) - expected[common].sum())
    return stats.chisquare(seen, expected).pvalue > FALSE_ALARM


def test_small_system_follows_the_master_equation():
    theta = np.array([1.0, 0.3, 0.9])
    counts = advance_often(theta, 3.0, 3.0, 1.0, 200_000, generator())
    assert (counts[:, 0] == 0.0).mean() > 0.01  # every end of a path is among them
    assert (counts[:, 1] == 0.0).mean() > 0.01
    assert follows_law(counts, exact_law(theta, 3.0, 3.0, 1.0))
    for wrong in range(3):
        other = theta.copy()
        other[wrong] *= 1.1
        assert not follows_law(counts, exact_law(other, 3.0, 3.0, 1.0))


@njit
def by_first_reactions(theta, rng):
    """The textbook's other method: every reaction draws its own time, and the first one happens."""
    counts = np.zeros(10)
    prey, predators, time = 50, 100, 0.0
    seen = 0
    while True:
        rates = (theta[0] * prey, theta[1] * prey * predators, theta[2] * predators)
        first, soonest = -1, np.inf
        for reaction in range(3):
            if rates[reaction] > 0.0:
                wait = rng.exponential(1.0 / rates[reaction])
                if wait < soonest:
                    first, soonest = reaction, wait
        time += soonest
        while seen < 10 and time > seen + 1.0:
            counts[seen] = prey
            seen += 1
        if seen == 10:
            return counts
        if first == 0:
            prey += 1
        elif first == 1:
            prey -= 1
            predators += 1
        else:
            predators -= 1


@njit
def simulate_often(simulator, theta, size, rng):
    counts = np.empty((size, 10))
    for i in range(size):
        counts[i] = simulator(theta, rng)
    return counts


def test_paths_agree_with_another_method():
    theta = np.array([1.0, 0.005, 0.6])
    ours = simulate_often(simulate, theta, 3_000, generator(1))
    theirs = simulate_often(by_first_reactions, theta, 3_000, generator(2))
    wrong = simulate_often(simulate, np.array([1.0, 0.0051, 0.6]), 3_000, generator(3))

    def agree(first, second):
        # Ten times: Bonferroni.
        values = [stats.ks_2samp(first[:, i], second[:, i]).pvalue for i in range(10)]
        return min(values) > FALSE_ALARM / 10

    assert agree(ours, theirs)
    assert not agree(wrong, theirs)


# --- the paper's number -------------------------------------------------------------------------


@njit
def hits_of_prior_draws(size, tolerance, predation_factor, rng):
    theta = np.empty(3)
    hits = 0
    for _ in range(size):
        for j in range(3):
            theta[j] = rng.standard_exponential()
        theta[1] *= predation_factor
        distance, _ = simulated_distance(theta, rng, tolerance)
        hits += distance <= tolerance
    return hits


# The paper's rejection sample: 2,364 of ten million prior draws hit at tolerance 1.
PAPER_HITS, PAPER_DRAWS = 2364, 10_000_000


def test_prior_draws_hit_as_often_as_the_paper_found():
    size = 400_000

    def agrees(hits):
        table = [[hits, size - hits], [PAPER_HITS, PAPER_DRAWS - PAPER_HITS]]
        return stats.chi2_contingency(table).pvalue > FALSE_ALARM

    assert agrees(hits_of_prior_draws(size, 1.0, 1.0, generator()))
    # A predation hazard that lacks a factor 1/2: the prior is flat near 0, so hits double.
    assert not agrees(hits_of_prior_draws(size, 1.0, 0.5, generator()))


# --- priors and settings ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "log_density"),
    [
        (lotka_volterra.prior_exponential, -1.605),
        (lotka_volterra.prior_uniform, -3.0 * math.log(3.0)),
    ],
)
def test_priors(prior, log_density):
    assert prior().names == ("birth", "predation", "death")
    assert prior().log_density([1.0, 0.005, 0.6]) == pytest.approx(log_density)


@pytest.mark.parametrize(
    ("settings", "rungs"),
    [
        (lotka_volterra.STANDARD_ABC, 1),
        (lotka_volterra.ONE_PROCESSOR, 6),
        (lotka_volterra.SEVERAL_PROCESSORS, 20),
    ],
)
def test_settings_are_ladders(settings, rungs):
    assert settings.tolerances.shape == (rungs,)
    assert settings.variances.shape == settings.standard_deviations.shape == (rungs, 3)
    assert settings.tolerances[0] == 1.0
    assert np.all(np.diff(settings.tolerances) > 0.0)
    assert np.all(np.diff(settings.variances, axis=0) > 0.0)
    assert settings.standard_deviations**2 == pytest.approx(settings.variances)
    assert settings.variances[:, 1] == pytest.approx(settings.variances[:, 0] / 100.0)


def test_constants_cannot_be_changed():
    for array in (lotka_volterra.OBSERVED, lotka_volterra.TIMES, lotka_volterra.TRUTH):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
