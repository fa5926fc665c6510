"""Densities and a model of NumPyro in lanes: how fast they are, and whether their means are right.

    python -m benchmarks.lanes_densities          two minutes at most on a GPU, three here
    python -m benchmarks.lanes_densities --quick  a few seconds each, to see that all of it works

Prints a table, in Markdown, and keeps it (in the folder OUT, if the environment names one). True
means are known: of the two modes by construction, of the logistic regression by quadrature in three
dimensions, of the eight schools in one, for all but the spread of effects can be integrated out.
Groups of lanes are independent, so their means tell the standard errors.

JAX is used to read functions, not to compute: it is asked to stay on processors, unless
JAX_PLATFORMS says otherwise, and so leaves the GPU's memory to the lanes.
"""

from __future__ import annotations

import argparse
import datetime
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.special import expit

import aptmc
from aptmc.compiled import Floats, FloatTable
from aptmc.kernels.hamiltonian import Metric
from aptmc.kernels.students import Mixed, Students
from benchmarks import tables
from benchmarks.jax_density import EFFECTS, ERRORS, eight_schools

ENOUGH = 0.3  # of a budget, that must be left when first states are found
TABLE = Path(__file__).with_suffix(".json")
HEAD = """| problem | kernel | schedule | bits | lanes | s to compile | evaluations per s | \
moves of a chain | means | should be | off by |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


class Case(NamedTuple):
    """A problem whose means are known."""

    name: str
    problem: Any
    looked_at: Callable[[Any], list[FloatTable]]  # of a run: series by chain and draw
    truth: list[float]


class Row(NamedTuple):
    """What one run has shown."""

    problem: str
    kernel: str
    schedule: str
    bits: int
    lanes: int
    ready: float  # seconds of a short run that compiled; none where the run's own warm-up did
    rate: float  # evaluations per second
    moves: float  # of each chain
    means: list[float]
    truth: list[float]
    off: list[float]  # standard errors


# --- two modes in four dimensions, of which one is wide: trajectories there take longer -----------

DIMENSION, APART, WIDE, NARROW, BROAD = 4, 1.5, 0.6, 0.3, 3.0
MODES = [f"x{place}" for place in range(DIMENSION)]
POWERS = [1.0, 0.35, 0.12, 0.04, 0.0]


def two_modes() -> Case:
    """Equal weights: a half of the draws are in the wide one."""
    from jax import numpy as jnp

    def log_mode(theta: Any, middle: float, spread: float) -> Any:
        away = jnp.sum((theta - middle) ** 2) / spread**2
        return -0.5 * away - DIMENSION * jnp.log(spread)

    def log_likelihood(theta: Any) -> Any:
        """Relative to the prior, so that the posterior is the mixture itself."""
        both = jnp.logaddexp(log_mode(theta, -APART, WIDE), log_mode(theta, APART, NARROW))
        return both + 0.5 * jnp.sum(theta**2) / BROAD**2

    prior = aptmc.Prior(**{name: stats.norm(0, BROAD) for name in MODES})
    problem = aptmc.Tempered(log_likelihood, prior)

    def share_and_mean(run: Any) -> list[FloatTable]:
        total: FloatTable = np.mean([np.stack(run.series(name)) for name in MODES], axis=0)
        return [(total < _border()).astype(float), total]

    return Case("two modes in 4 dimensions", problem, share_and_mean, [0.5, 0.0])


def _border() -> float:
    """Between the modes: where means of the coordinates are as many spreads away from either."""
    return -APART + 2.0 * APART * WIDE / (WIDE + NARROW)


# --- a logistic regression of three coefficients --------------------------------------------------

SEEN, COEFFICIENTS, PRIOR_SPREAD = 60, np.array([0.5, -1.0, 0.8]), 2.0


def _regression_data() -> tuple[FloatTable, Floats]:
    rng = np.random.default_rng(20)
    rows = np.column_stack([np.ones(SEEN), rng.standard_normal((SEEN, 2))])
    return rows, (rng.random(SEEN) < expit(rows @ COEFFICIENTS)).astype(float)


def logistic_regression() -> Case:
    """Of whom each has two covariates."""
    from jax import numpy as jnp

    rows, outcomes = _regression_data()

    def log_likelihood(theta: Any) -> Any:
        scores = jnp.asarray(rows) @ theta
        return jnp.sum(jnp.asarray(outcomes) * scores - jnp.logaddexp(0.0, scores))

    names = ["a", "b", "c"]
    problem = aptmc.Tempered(
        log_likelihood, aptmc.Prior(**{name: stats.norm(0, PRIOR_SPREAD) for name in names})
    )
    mean, _ = regression_moments()

    def coefficients(run: Any) -> list[FloatTable]:
        return [np.stack(run.series(name)) for name in names]

    return Case("logistic regression", problem, coefficients, mean.tolist())


def regression_moments(nodes: int = 40, width: float = 6.0) -> tuple[Floats, FloatTable]:
    """Mean and covariance of the posterior, by quadrature around its middle, twice."""
    rows, outcomes = _regression_data()
    mean, covariance = COEFFICIENTS, 0.15 * np.eye(3)
    places, weights = np.polynomial.legendre.leggauss(nodes)
    for _ in range(2):
        factor = np.linalg.cholesky(covariance)
        mesh = np.stack(np.meshgrid(*[width * places] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        theta = mean + mesh @ factor.T
        scores = theta @ rows.T
        logs = scores @ outcomes - np.logaddexp(0.0, scores).sum(axis=1)
        logs -= 0.5 * (theta**2).sum(axis=1) / PRIOR_SPREAD**2
        density = np.exp(logs - logs.max()) * np.einsum("i,j,k", *[weights] * 3).ravel()
        density /= density.sum()
        mean = density @ theta
        covariance = (density[:, None] * (theta - mean)).T @ (theta - mean)
    return mean, covariance


# --- eight schools, not centred, a model of NumPyro -----------------------------------------------


def schools() -> Case:
    """As NumPyro has it: what lanes move are its coordinates, what is shown its parameters."""
    import jax

    with jax.enable_x64(True):
        problem = aptmc.from_numpyro(eight_schools())

    def shown(run: Any) -> list[FloatTable]:
        draws = run.draws.posterior
        return [np.asarray(draws[name]) for name in ("mu", "tau")]

    return Case("eight schools of NumPyro", problem, shown, schools_moments())


def schools_moments(steps: int = 20_000, farthest: float = 2e4) -> list[float]:
    """The means of mu and tau: given tau, the effects and mu are normal."""
    tau = np.linspace(np.log(1e-6), np.log(farthest), steps)
    spread = np.exp(tau)
    variances = ERRORS**2 + spread[:, None] ** 2
    precision = 1.0 / 25.0 + (1.0 / variances).sum(axis=1)
    mean = (EFFECTS / variances).sum(axis=1) / precision
    logs = -0.5 * (np.log(variances) + EFFECTS**2 / variances).sum(axis=1)
    logs += 0.5 * precision * mean**2 - 0.5 * np.log(precision)
    logs += tau - np.log1p((spread / 5.0) ** 2)
    density = np.exp(logs - logs.max())
    density /= density.sum()
    return [float(density @ mean), float(density @ spread)]


# --- runs -----------------------------------------------------------------------------------------


def _regression_kernels() -> dict[str, Any]:
    """On a single rung: each suited to the posterior."""
    mean, covariance = regression_moments()
    metric = Metric(covariance[None], np.array([0.7]))
    one = Mixed(np.ones(1), mean[None], covariance[None], 8.0)
    return {
        "Nuts": aptmc.Nuts(metric, doublings=4),
        "Hmc": aptmc.Hmc(metric, leaps=3),
        "EllipticalSlice": aptmc.EllipticalSlice(Students.of([one])),
        "RandomWalk": aptmc.RandomWalk({"a": 0.4, "b": 0.45, "c": 0.5}),
    }


def _modes_kernel() -> Any:
    powers = np.array(POWERS)
    variances = 1.0 / (powers / WIDE**2 + (1.0 - powers) / BROAD**2)
    metrics = variances[:, None, None] * np.eye(DIMENSION)
    return aptmc.Nuts(Metric(metrics, np.array([0.35, 0.4, 0.5, 0.6, 0.8])), doublings=5)


def _schools_kernel() -> Any:
    """mu is known to 5 or so, log tau and the effects to 1."""
    spreads = np.diag([11.0, 1.4, *[1.0] * 8])
    return aptmc.Nuts(Metric(spreads[None], np.array([0.35])), doublings=5)


def measured(
    case: Case, kernel: str, settings: dict[str, Any], on: Callable[..., Any], lanes: int,
    bits: int, budget: float, schedule: str = "Anytime",
) -> Row:  # fmt: skip
    """One run, behind a short one that compiles."""
    given = {"thin": 10, "progress": False, "seed": 1} | settings
    ready = 0.0
    if kernel != "auto":
        given["schedule"] = getattr(aptmc, schedule)(every=31)
        begun = time.perf_counter()
        aptmc.sample(case.problem, budget=100, on=on(lanes, bits=bits, budget_in="ticks"), **given)
        ready = time.perf_counter() - begun
    for longer in (1.0, 2.0, 4.0):
        run = aptmc.sample(case.problem, budget=longer * budget, on=on(lanes, bits=bits), **given)
        # Budgets count from the call.
        if run.elapsed > ENOUGH * budget and run.chains()[0].time.size > 1:
            break
    means, off = [], []
    for series, expected in zip(case.looked_at(run), case.truth, strict=True):
        by_group = series.mean(axis=1)
        error = by_group.std(ddof=1) / np.sqrt(by_group.size)
        means.append(float(by_group.mean()))
        off.append(float((by_group.mean() - expected) / error))
    made = run.rung_of_chain.size // 2
    rate = float(run.statistics["work"].sum()) / run.elapsed
    return Row(
        case.name, kernel, schedule, bits, made, ready, rate,
        run.completions / (2 * made), means, case.truth, off,
    )  # fmt: skip


def show(row: Row) -> None:
    """A row of the table."""

    def listed(numbers: list[float], kind: str) -> str:
        return ", ".join(format(number, kind) for number in numbers)

    print(
        f"| {row.problem} | {row.kernel} | {row.schedule} | {row.bits} | {row.lanes:,} | "
        f"{row.ready:.1f} | {row.rate:.2e} | {row.moves:.0f} | {listed(row.means, '.4f')} | "
        f"{listed(row.truth, '.4f')} | {listed(row.off, '+.1f')} |",
        flush=True,
    )


def rows(lanes: int, budget: float, on: Callable[..., Any]) -> list[Row]:
    """All of them, shown one after the other, and kept as they come.

    :param on: makes lanes: on(count, bits=...)
    """
    found: list[Row] = []
    modes, regression, effects = two_modes(), logistic_regression(), schools()

    def one(
        case: Case, kernel: str, bits: int, settings: dict[str, Any],
        schedule: str = "Anytime", longer: float = 1.0,
    ) -> None:  # fmt: skip
        row = measured(case, kernel, settings, on, lanes, bits, longer * budget, schedule)
        show(row)
        found.append(row)
        date = datetime.date.today().isoformat()
        device = str(on(1, bits=bits).device).partition(" with ")[0]
        kept = [each._asdict() for each in found]
        tables.write(TABLE, {"device": device, "date": date, "rows": kept})

    print(HEAD)
    for_modes = {"ladder": aptmc.Ladder.powers(POWERS), "kernel": _modes_kernel()}
    for schedule in ("Anytime", "Uncorrected"):
        one(modes, "Nuts", 32, for_modes, schedule)
    for name, kernel in _regression_kernels().items():
        one(regression, name, 32, {"ladder": aptmc.Ladder.powers([1.0]), "kernel": kernel})
    for bits in (32, 64):
        given = {"ladder": aptmc.Ladder.powers([1.0]), "kernel": _schools_kernel()}
        one(effects, "Nuts", bits, given)
    one(effects, "auto", 32, {}, longer=4.0)
    return found


def main(given: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lanes_densities")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", choices=["auto", "gpu", "cpu"], default="auto")
    parser.add_argument("--lanes", type=int, help="65,536 on a GPU, 320 on processors")
    parser.add_argument("--budget", type=float, help="seconds of a run: 4, on processors 10")
    asked = parser.parse_args(given)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")

    def on(count: int, bits: Any, **options: Any) -> Any:
        return aptmc.Lanes(count, bits=bits, settle=0.3, device=asked.device, **options)

    is_gpu = on(1, bits=64).device.is_gpu
    budget = asked.budget or (1.0 if asked.quick else 4.0 if is_gpu else 10.0)
    rows(asked.lanes or (65_536 if is_gpu else 320), budget, on)


if __name__ == "__main__":
    main()
