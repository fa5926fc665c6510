"""Problems of PEtab: models in SBML, simulated by libRoadRunner or AMICI, through pyPESTO.

AMICI is compiled where it is installed, and so is each of its models. One problem is a published
one, HIV in the plasma of a patient (Perelson and others, Science 1996), and lies in a clone of
github.com/Benchmarking-Initiative/Benchmark-Models-PEtab. The variable APTMC_PETAB_BENCHMARKS says
where; without it that test is skipped.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import aptmc

pytestmark = pytest.mark.filterwarnings("ignore")  # what pyPESTO loads has much to say
FILE = Path(__file__).parents[1] / "support" / "decay" / "decay.yaml"
FAR = 4.4  # standard errors: by chance once in 100,000 times
PRIOR = stats.norm(-0.6, 0.05)  # of the decimal logarithm of the rate
TIMES, MEASURED, NOISE = np.array([0.0, 1, 2, 4]), np.array([2.1, 1.4, 0.7, 0.5]), 0.2


def problem_of(file, simulator="roadrunner", **others):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for library in ("petab", simulator, "pypesto"):
            pytest.importorskip(library)
        import pypesto.petab

        read = pypesto.petab.PetabImporter.from_yaml
        importer = read(file, simulator_type=simulator, **others)
        # pyPESTO 0.7 gives RoadRunner the logarithms of fixed parameters for their values.
        table = importer.petab_problem.parameter_df
        table.loc[table["estimate"] == 0, "parameterScale"] = "lin"
        return aptmc.from_pypesto(importer.create_problem())


@pytest.fixture(scope="module", params=["roadrunner", "amici"])
def problem(request, tmp_path_factory):
    if request.param == "roadrunner":
        return problem_of(FILE)
    folder = tmp_path_factory.mktemp("amici")
    with pytest.MonkeyPatch.context() as patch:
        # AMICI wants the swig of its own version, that of this environment, before any other.
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
        return problem_of(FILE, "amici", output_folder=str(folder), model_name="decay")


def log_likelihood(log_rate, scale):
    """What the model says without its simulator: 2 scale exp(-rate t), measured with noise."""
    means = 2 * scale * np.exp(-(10.0**log_rate) * TIMES.reshape(-1, 1, 1))
    return stats.norm(means, NOISE).logpdf(MEASURED.reshape(-1, 1, 1)).sum(axis=0)


def test_likelihood_and_prior_are_those_of_the_problem(problem):
    assert problem.names == ("rate", "scale")
    theta = np.array([-0.3, 1.1])
    expected = log_likelihood(-0.3, 1.1).item()
    assert problem.log_likelihood(theta) == pytest.approx(expected, abs=1e-3)  # as it integrates
    prior = PRIOR.logpdf(-0.3) - np.log(3.9)
    assert problem.prior.log_density(theta) == pytest.approx(prior, abs=1e-6)
    if problem.gradient is not None:  # AMICI has sensitivities
        step = 1e-6
        by_hand = [
            (log_likelihood(*(theta + one)) - log_likelihood(*(theta - one))).item() / (2 * step)
            for one in step * np.eye(2)
        ]
        np.testing.assert_allclose(problem.gradient(theta), by_hand, rtol=1e-3)


@pytest.mark.parametrize(("on", "moves"), [(aptmc.InProcess(), 3000), (aptmc.Processes(2), 1500)])
def test_a_run_finds_the_posterior(problem, request, on, moves):
    if "amici" in request.node.callspec.id and on.processors > 1:
        from amici.sim.sundials import hdf5_enabled

        if not hdf5_enabled:
            pytest.skip("without HDF5 an AMICI model cannot be sent to workers")
    run = aptmc.sample(problem, budget=f"{moves} moves", seed=1, on=on, progress=False)
    rate, scale = np.linspace(-2, 1, 901)[:, None], np.linspace(0.1, 4, 901)[None, :]
    logs = log_likelihood(rate, scale) + PRIOR.logpdf(rate)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    for name, values in {"rate": rate, "scale": scale}.items():
        row, mean = run.summary()[name], (weights * values).sum()
        assert abs(row.mean - mean) < FAR * row.mcse
        flat = np.exp(log_likelihood(rate, scale))  # a posterior without the prior of the rate
        other = (flat * values).sum() / flat.sum()
        assert name == "scale" or abs(row.mean - other) > FAR * row.mcse


# --- HIV in plasma --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hiv():
    clone = os.environ.get("APTMC_PETAB_BENCHMARKS")
    if not clone:
        pytest.skip("APTMC_PETAB_BENCHMARKS names no clone of Benchmark-Models-PEtab")
    return Path(clone) / "Benchmark-Models" / "Perelson_Science1996"


def load(times, clearance, loss):
    """Particles in plasma: infected cells die at rate `loss`, and particles at rate `clearance`.

    No new cells are infected but by particles of before; the equations are linear.
    """
    burst, infection = 480.0, 3.9e-7 * 11000.0
    cells, particles = 15061.32075, 1.86e6
    born = infection * particles / (loss - clearance)
    left, dying = np.exp(-loss * times), np.exp(-clearance * times)
    from_before = (cells - born) * (left - dying) / (clearance - loss)
    return particles * dying + burst * loss * (from_before + born * times * dying)


def measurements(folder):
    table = folder / "measurementData_Perelson_Science1996.tsv"
    rows = [line.split("\t") for line in table.read_text().splitlines()]
    columns = [rows[0].index(name) for name in ("time", "measurement")]
    return np.array([[float(row[one]) for one in columns] for row in rows[1:]]).T


def by_quadrature(folder, size=900):
    """Means and standard deviations of the decimal logarithms of both rates and of the noise.

    For given rates a multiple of 1 / noise^2 has a gamma distribution.
    """
    times, measured = measurements(folder)
    clearance = np.linspace(-5, 5, size + 1)[:, None]  # seldom the same as the other
    loss = np.linspace(-5, 5, size)[None, :]
    squares = np.zeros((size + 1, size))
    for time, value in zip(times, measured, strict=True):
        with np.errstate(all="ignore"):
            expected = load(time, 10.0**clearance, 10.0**loss)
            squares += np.nan_to_num(np.log10(value / expected), nan=np.inf) ** 2
    half = len(times) / 2
    weights = (squares / squares.min()) ** -half
    weights /= weights.sum()
    noise = 0.5 * (np.log(squares) - np.log(2) - special.digamma(half)) / np.log(10)
    spread = 0.25 * special.polygamma(1, half) / np.log(10) ** 2
    found = {}
    for name, values, own in (("c", clearance, 0), ("delta", loss, 0), ("sd", noise, spread)):
        values = np.where(weights > 0, values, 0.0)
        mean = (weights * values).sum()
        found[name] = mean, np.sqrt((weights * values**2).sum() - mean**2 + own)
    return found


@pytest.mark.parametrize(
    "theta", [(0.26, -0.25, -0.85), (-1.0, -2.0, 0.0), (1.0, -4.0, 0.3), (3.0, -4.0, 0.3)]
)
def test_the_likelihood_of_a_published_problem_is_that_of_its_equations(hiv, theta):
    times, measured = measurements(hiv)
    expected = np.log10(load(times, 10.0 ** theta[0], 10.0 ** theta[1]))
    of_logs = stats.norm(expected, 10.0 ** theta[2]).logpdf(np.log10(measured))
    found = problem_of(hiv / "Perelson_Science1996.yaml").log_likelihood(np.array(theta))
    exact = (of_logs - np.log(measured * np.log(10))).sum()
    assert found == pytest.approx(exact, abs=1e-3)  # as it integrates
    # Noise of the numbers themselves, and not of their logarithms, would be noticed.
    assert abs(found - of_logs.sum()) > 1.0


@pytest.mark.validation  # thousands of simulations
def test_a_published_problem_has_the_posterior_of_quadrature(hiv):
    found = problem_of(hiv / "Perelson_Science1996.yaml")
    assert found.names == ("c", "delta", "sd_task0_model0_perelson1_V")
    expected = by_quadrature(hiv)
    on = aptmc.VirtualTime(1)
    run = aptmc.sample(found, budget="50000 moves", seed=1, on=on, progress=False)
    summary = run.summary()
    for label, (name, (mean, sd)) in zip(found.names, expected.items(), strict=True):
        row = summary[label]
        assert abs(row.mean - mean) < FAR * row.mcse, name
        squares = (np.concatenate(run.series(label)) - mean) ** 2
        error = squares.std() / np.sqrt(row.ess)
        assert abs(squares.mean() - sd**2) < FAR * error, name
    # Draws of the prior, whose means are zero, would be noticed.
    assert abs(summary["c"].mean) > FAR * summary["c"].mcse
    assert abs(summary[found.names[2]].mean) > FAR * summary[found.names[2]].mcse
