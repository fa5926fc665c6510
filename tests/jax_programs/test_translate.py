"""Programs of JAX, written for numba: the same numbers as JAX's own."""

import numpy as np
import pytest

from aptmc.jax_programs.opened import counts_of_scan
from aptmc.jax_programs.translate import function_of
from aptmc.jax_programs.writer import Untranslatable

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
stats, special = jax.scipy.stats, jax.scipy.special

RNG = np.random.default_rng(1)
TABLE, DATA, GROUP = RNG.normal(size=(20, 3)), RNG.normal(size=20), RNG.integers(0, 3, size=20)
SQUARE = TABLE.T @ TABLE / 20 + np.eye(3)
THETA = np.array([0.3, -0.2, 0.7])


@pytest.fixture(autouse=True)
def with_64_bits():
    with jax.enable_x64(True):
        yield


def both_ways(function, *arguments):
    """What the written function gives, and what JAX does."""
    program = jax.make_jaxpr(function)(*arguments)
    names = tuple(f"a{place}" for place in range(len(arguments)))
    found = np.empty(sum(variable.aval.size for variable in program.jaxpr.outvars))
    function_of(program, "program", names)(*(np.ravel(one) for one in arguments), found)
    expected = jax.tree.leaves(function(*arguments))
    return found, np.concatenate([np.ravel(np.asarray(one, np.float64)) for one in expected])


def numbers(t):
    return [
        jnp.sum(jax.nn.log_sigmoid(TABLE @ t)),
        stats.gamma.logpdf(jnp.exp(DATA), jnp.exp(t[0]), scale=jnp.exp(t[1])).sum(),
        special.ndtri(jax.nn.sigmoid(t)),
        special.erf(t) + jnp.sign(t) * jnp.floor(5 * t) - jnp.round(3 * t),
        jnp.where(t > 0, t**3, jnp.abs(t) ** 1.5) / (1.0 + jnp.arange(3)) ** -2,
        jnp.arctan2(t, 2.0) + jnp.log1p(t) * jnp.expm1(t) + jnp.tanh(t) % 0.3,
    ]


def shapes(t):
    wide = TABLE * t
    first, _, last = wide[:3]
    return [
        jnp.concatenate([t, wide[2], t[::-1]]).reshape(3, 3).T,
        jnp.pad(wide[:2], ((1, 0), (0, 2)), constant_values=7.0),
        jnp.stack([t, t[::2].repeat(2)[:3]], axis=1),
        special.logsumexp(wide, axis=1) + jnp.max(wide, axis=1) - jnp.argmin(wide, axis=1),
        jnp.cumsum(wide, axis=0)[-1] + jnp.cumprod(t[::-1])[::-1] + jnp.prod(wide[:4], axis=0),
        lax.dynamic_update_slice(jnp.zeros(6), t, (jnp.int32(9),)),
        t[GROUP] @ TABLE,
        last - first,
        jnp.zeros(4).at[jnp.array([1, 1, 3])].add(t),
        jnp.any(wide > 1, axis=0) & jnp.all(wide < 3, axis=0),
    ]


def control(t):
    def row(carried, one):
        return carried * jnp.tanh(t[1]) + one, carried * one

    last, all_ = lax.scan(row, t[0], DATA, reverse=True)
    halved, steps = lax.while_loop(
        lambda pair: jnp.sum(pair[0] ** 2) > 1e-3, lambda pair: (pair[0] / 2, pair[1] + 1), (t, 0)
    )
    chosen = lax.switch(jnp.int32(4 * t[2]), [jnp.sin, jnp.cos, lambda x: x**3], t)
    return [last, all_, halved, steps, chosen, lax.cond(t[0] > 9, jnp.sum, jnp.max, t)]


def matrices(t):
    return [
        stats.multivariate_normal.logpdf(t, jnp.zeros(3), SQUARE * jnp.exp(t[0])),
        jnp.linalg.cholesky(SQUARE + jnp.outer(t, t)),
        jax.scipy.linalg.solve_triangular(SQUARE, t, lower=False, trans=1),
        TABLE.T @ (TABLE @ t),
        jnp.einsum("ij,kj->ik", TABLE[:2] * t, TABLE[:4]),
    ]


# numba compiles each of these for some seconds.
LONG = pytest.mark.validation


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(numbers, marks=LONG),
        pytest.param(shapes, marks=LONG),
        control,
        pytest.param(matrices, marks=LONG),
    ],
)
def test_programs_give_what_jax_gives(function):
    found, expected = both_ways(function, THETA)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@LONG
def test_gradients_are_programs_too():
    def density(t):
        last, _ = lax.scan(lambda c, x: (c * jnp.tanh(t[1]) + x * t[GROUP[0]], c), t[0], DATA)
        return last + stats.multivariate_normal.logpdf(t, jnp.zeros(3), SQUARE * jnp.exp(t[0]))

    found, expected = both_ways(jax.grad(density), THETA)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@LONG
def test_random_numbers_are_those_of_jax():
    def draws(words):
        one, two, three = jax.random.split(jax.random.wrap_key_data(words), 3)
        return [
            jax.random.normal(one, (3,)),
            jax.random.gamma(two, jnp.array([0.4, 3.0])),
            jax.random.uniform(jax.random.fold_in(three, 4), (2, 2)),
            jax.random.categorical(three, jnp.zeros(4)),
        ]

    found, expected = both_ways(draws, np.array([3, 9], np.uint32))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_what_is_not_known_is_said():
    program = jax.make_jaxpr(jnp.fft.fft)(THETA)
    with pytest.raises(Untranslatable, match=r"complex128|fft"):
        function_of(program, "program", ("theta",))


def test_a_scan_of_newer_jax_tells_its_arguments_as_a_tree():
    class Tree:
        def unpack(self):
            return [(None, None), (None,), (None, None, None)]

    assert counts_of_scan({"ft_in": Tree()}) == (2, 1)
    assert counts_of_scan({"num_consts": 3, "num_carry": 1}) == (3, 1)
