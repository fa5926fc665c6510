"""The source of compiled functions as plain Python: what they call, and what they give."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.compiled import Floats, compiled, inlined
from aptmc.errors import InputError
from aptmc.exchange import Reassignment
from aptmc.exchange.rule import Waiting
from aptmc.problem.chain_state import accepts
from aptmc.problem.prior.draws import draw_priors
from aptmc.problem.prior.log_densities import log_any_marginal
from aptmc.targets import INTERPRETED, at_hand, from_python, interpreted, needed_by
from aptmc.targets.quiet_math import QUIET_MATH
from aptmc.targets.when import when_to_compile


@inlined
def doubled(value: float) -> float:
    return 2.0 * value


@compiled
def log_ratio(value: float, other: float) -> float:
    return doubled(math.log(value) - math.log(other))


@compiled
def summed_up(values: Floats) -> float:
    total = 0.0
    for place in range(values.shape[0]):
        total += log_ratio(values[place], 2.0) / values[place]
    return total


def test_nothing_that_is_called_is_compiled():
    values = np.array([1.0, 4.0])
    assert interpreted(summed_up)(values) == pytest.approx(2 * math.log(0.5) + math.log(2) / 2)
    assert not any(one.signatures for one in (doubled, log_ratio, summed_up))


def test_a_function_may_be_called_in_place_of_another():
    assert interpreted(summed_up, log_ratio=lambda one, other: one)(np.array([1.0, 4.0])) == 2.0


def test_what_has_no_result_gives_what_compiled_code_gives():
    values = np.array([0.0, -1.0, math.inf, 1e-310])
    for count in range(5):
        some = values[:count].copy()
        with np.errstate(all="ignore"):
            found = interpreted(summed_up)(some)
        np.testing.assert_equal(found, summed_up(some))


@compiled
def all_of_math(x: float, y: float, found: Floats) -> None:
    found[0], found[1], found[2] = math.exp(x), math.expm1(x), math.log(x)
    found[3], found[4], found[5] = math.log1p(x), math.sqrt(x), math.pow(x, y)
    found[6] = math.lgamma(x)


def test_quiet_mathematics_is_that_of_compiled_code():
    assert QUIET_MATH.inf == math.inf
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 710.0, -1e3, 1e308, math.inf, -math.inf]
    one, other = np.empty(7), np.empty(7)
    for x in (*special, math.nan, 1e-320, 171.0, 1e306):
        for y in (*special, math.nan):
            all_of_math(x, y, one)
            interpreted(all_of_math)(x, y, other)
            np.testing.assert_equal(other, one, err_msg=f"{x}, {y}")


@pytest.mark.parametrize("ties", [False, True])
def test_equal_distances_are_dealt_out_alike(ties):
    """numba and numpy sort what is equal in other orders, unless told to keep it as it is."""
    deal = Reassignment.choose_pairs
    rng = np.random.default_rng(1)
    for number in range(200):
        count = int(rng.integers(2, 60))
        value = rng.integers(0, 3, count).astype(float) if ties else rng.random(count)
        where = np.arange(count)
        waiting = Waiting(where, where * 0, np.maximum.accumulate(value) + 1.0, value)
        found = []
        for choose in (deal, interpreted(deal)):
            pairs = np.zeros((count, 2), np.int64)
            assert choose(0, waiting, np.random.default_rng(number), pairs) == count
            found.append(pairs)
        np.testing.assert_array_equal(*found)


# --- what a plain problem calls -------------------------------------------------------------------


@pytest.fixture
def nothing_on_disk(monkeypatch):
    """As on a machine that has never seen aptmc: nothing is loaded, nothing may be compiled."""
    monkeypatch.setenv("APTMC_COMPILE", "never")
    monkeypatch.setattr("aptmc.compiled.AtFirstUse.load", lambda _: False)


def plain_move(prior, kernel):
    problem = aptmc.Tempered(lambda theta: -0.5 * theta @ theta, prior)
    return problem, kernel.move(problem, INTERPRETED)


@pytest.mark.parametrize("kernel", [aptmc.RandomWalk(1.0), aptmc.Slice(1.0)])
def test_a_move_is_the_same_with_and_without_compiled_helpers(kernel, nothing_on_disk):
    prior = aptmc.Prior(a=stats.gamma(0.7), b=stats.norm(1, 2), c=stats.poisson(3))
    problem, move = plain_move(prior, kernel)
    tuning = kernel.tuning(problem, aptmc.Ladder.powers([1.0, 0.5, 0.0]))
    state = problem.start(np.random.default_rng(1))
    found = []
    for function in (move, at_hand(move)):
        rng, here, there = np.random.default_rng(2), state.copy(), np.empty_like(state)
        info = np.empty(kernel.info_length)
        visited = []
        for step in range(60):
            function([1.0, 0.5, 0.0][step % 3], tuning[0], here, rng, there, info)
            here = there.copy()
            visited.append(here)
        found.append(np.array(visited))
    np.testing.assert_array_equal(*found)
    assert len(np.unique(found[0][:, 0])) > 10


@pytest.mark.parametrize(
    ("family", "helpers"),
    [
        (stats.norm(), {"draw_simple_prior", "log_density"}),
        (stats.gamma(2), {"draw_usual_prior", "log_density"}),
        (stats.poisson(3), {"draw_prior", "log_any_density"}),
    ],
)
def test_the_compiled_helpers_of_a_move_are_known(family, helpers):
    _, move = plain_move(aptmc.Prior(a=family), aptmc.RandomWalk(1.0))
    names = {one.py_func.__name__ for one in needed_by(move)}
    assert helpers <= names
    assert len({"draw_simple_prior", "draw_usual_prior", "draw_prior"} & names) == 1
    assert "accepts" not in names  # of one line: its source is as quick


def test_a_users_function_stays_what_it_is():
    calls = []

    def log_likelihood(theta):
        calls.append(1)
        return -0.5 * theta[0] ** 2

    assert at_hand(log_likelihood) is log_likelihood
    assert at_hand(accepts) is not accepts
    assert at_hand(accepts)(0.0, 0.5)


def test_few_draws_are_not_worth_a_compiler_and_are_the_same(nothing_on_disk):
    prior = aptmc.Prior(a=stats.gamma(0.7), b=stats.norm(1, 2), c=stats.beta(0.4, 3))
    found, expected = np.empty((50, 3)), np.empty((50, 3))
    at_hand(draw_priors)(np.random.default_rng(5), prior.families, prior.parameters, found)
    draw_priors(np.random.default_rng(5), prior.families, prior.parameters, expected)
    np.testing.assert_array_equal(found, expected)
    assert from_python(draw_priors, 10**7) is draw_priors


@pytest.mark.parametrize(
    "frozen",
    [
        stats.gamma(0.5), stats.gamma(2.0), stats.weibull_min(1e4), stats.lognorm(80.0),
        stats.invgamma(0.02), stats.beta(0.5, 0.5), stats.t(3.0), stats.loguniform(1e-300, 1e300),
        stats.triang(0.0), stats.logistic(), stats.poisson(3.0), stats.binom(5, 0.0),
        stats.nbinom(3, 0.5), stats.geom(1.0), stats.randint(-2, 5), stats.truncnorm(8.0, math.inf),
    ],
)  # fmt: skip
def test_densities_are_the_same_bits_and_quiet(frozen):
    prior = aptmc.Prior(x=frozen)
    family, row = int(prior.families[0]), prior.parameters[0]
    plain = at_hand_without_cache(log_any_marginal)
    ends = [0.0, 1.0, -1.0, 1e-300, 1e300, -1e300, math.inf, -math.inf, math.nan, 5e-324, 3.0]
    drawn = prior.draw(np.random.default_rng(3), 200)[:, 0].tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (*ends, *drawn):
            compiled_value = log_any_marginal(value, family, row)
            np.testing.assert_equal(float(plain(np.float64(value), family, row)), compiled_value)


def test_priors_put_together_of_parts_are_the_same_bits():
    prior = aptmc.Prior(
        sd=stats.halfnorm(),
        b=aptmc.iid(aptmc.given(stats.norm, 0, "sd"), 3),
        m=stats.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]]),
        n=aptmc.given(stats.poisson, "sd"),
        p=stats.dirichlet([1, 2, 3]),
    )
    machine, source = prior._composed, prior._composed_source
    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    one, other = np.empty(prior.dimension), np.empty(prior.dimension)
    for _ in range(200):
        machine.draw(ours, one)
        source.draw(theirs, other)
        np.testing.assert_array_equal(one, other)
        assert machine.log_density(one) == source.log_density(one)
    assert source.log_density(-np.ones(prior.dimension)) == -math.inf


def at_hand_without_cache(function):
    return np.errstate(all="ignore")(interpreted(function))


def test_the_environment_says_when_to_compile(monkeypatch):
    monkeypatch.delenv("APTMC_COMPILE")
    assert when_to_compile() == "aside"
    monkeypatch.setenv("APTMC_COMPILE", "later")
    with pytest.raises(InputError, match=r"APTMC_COMPILE must be 'aside', .* got 'later'"):
        when_to_compile()
