"""A model of Stan, taken apart through BridgeStan.

It is compiled where BridgeStan can do that: it wants a compiler, `make` and Stan's sources, which
it gets from GitHub, or finds where the variable BRIDGESTAN says: some 13 processor seconds for each
program. Otherwise they are skipped, or the variable APTMC_STAN_LIBRARY says where
`tests/support/schools.stan` lies compiled.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import InputError
from aptmc.frontends.stan import _reason
from aptmc.frontends.stan_variables import variables_of
from experiments.posteriordb.posteriors import posterior
from tests.support.pymc_models import EFFECTS, ERRORS

# Of a library that was compiled by hand.
pytestmark = pytest.mark.filterwarnings("ignore:The version of the compiled model")
ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "support" / "schools.stan"
POSTERIORDB = ROOT / "experiments" / "posteriordb" / "stan" / "eight_schools_noncentered.stan"
DATA = {"J": 8, "y": EFFECTS, "sigma": ERRORS, "prior_only": 0}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    bridgestan = pytest.importorskip("bridgestan")
    found = os.environ.get("APTMC_STAN_LIBRARY")
    if found:
        return found
    _skip_without_sources(bridgestan)
    copy = tmp_path_factory.mktemp("stan") / PROGRAM.name  # what is compiled lies beside a program
    copy.write_text(PROGRAM.read_text())
    return str(bridgestan.compile_model(copy))


def _skip_without_sources(bridgestan):
    try:
        bridgestan.compile.verify_bridgestan_path(bridgestan.compile.get_bridgestan_path())
    except Exception as error:
        pytest.skip(f"BridgeStan has no sources here: {error}")


@pytest.fixture(scope="module")
def problem(compiled):
    return aptmc.from_stan(compiled, DATA)


@pytest.fixture(scope="module")
def theta():
    return np.random.default_rng(1).normal(size=10)


def densities(problem, theta):
    found = np.empty(2)
    problem.density(theta.copy(), found)
    return found


def test_a_flag_in_the_data_gives_prior_and_likelihood(problem, theta):
    log_prior, log_likelihood = densities(problem, theta)
    tau = np.exp(theta[1])
    effects = theta[0] + tau * theta[2:]
    assert log_likelihood == pytest.approx(stats.norm(effects, ERRORS).logpdf(EFFECTS).sum())
    # Stan leaves out the half in a half Cauchy.
    prior = stats.norm(0, 5).logpdf(theta[0]) + stats.cauchy(0, 5).logpdf(tau)
    prior += stats.norm(0, 1).logpdf(theta[2:]).sum() + theta[1]
    assert log_prior == pytest.approx(prior)


def test_the_gradient_is_that_of_the_rung(problem, theta):
    weight, slopes, steps = 0.3, np.empty(10), 1e-5 * np.eye(10)
    problem.slopes(theta.copy(), weight, slopes)

    def on_rung(where):
        return densities(problem, where) @ [1.0, weight]

    differences = [(on_rung(theta + step) - on_rung(theta - step)) / 2e-5 for step in steps]
    assert slopes == pytest.approx(differences, rel=1e-5, abs=1e-6)


def test_users_see_what_stan_computes(problem, theta):
    assert [one.name for one in problem.variables] == ["mu", "tau", "z", "theta", "y_new"]
    seen = problem.parametrisation.arrays(theta)
    assert seen["theta"] == pytest.approx(theta[0] + np.exp(theta[1]) * theta[2:])
    again = pickle.loads(pickle.dumps(problem))
    assert densities(again, theta).tolist() == densities(problem, theta).tolist()


def test_generated_quantities_belong_to_the_generator_of_the_move(problem, theta):
    def drawn(seed):
        found = np.empty(19)
        problem.shown.show(np.random.default_rng(seed), theta.copy(), found)
        return found[-1]

    assert drawn(1) == drawn(1) != drawn(2)


def test_a_run_finds_the_posterior(problem):
    run = aptmc.sample(
        problem,
        budget=8000,
        ladder=aptmc.Ladder.powers([1.0, 0.3, 0.05]),
        on=aptmc.VirtualTime(1),
        seed=1,
    )
    row = run.summary()["mu"]
    assert abs(row.mean - 4.41) < 4.4 * np.hypot(row.mcse, 0.03)  # of posteriordb
    assert abs(row.mean - 7.7) > 4.4 * row.mcse  # the mean of the data, without a prior


def test_other_data_are_another_problem(compiled, problem):
    other = aptmc.from_stan(compiled, DATA | {"y": EFFECTS + 1})
    assert other.fingerprint()["density"] != problem.fingerprint()["density"]


def test_a_program_is_taken_as_text_from_beginning_to_end(tmp_path):
    """One of posteriordb, compiled, sampled, stored, resumed, replayed; its data changed."""
    _skip_without_sources(pytest.importorskip("bridgestan"))
    data = {"J": 8, "y": EFFECTS, "sigma": ERRORS}
    problem = aptmc.from_stan(POSTERIORDB.read_text(), data)
    assert problem.has_evidence  # the flag is found in the program
    store = tmp_path / "schools.zarr"
    run = aptmc.sample(
        problem, budget=40_000, ladder=aptmc.Ladder.powers([1.0, 0.3, 0.05]),
        on=aptmc.VirtualTime(1), store=store, seed=1,
    )  # fmt: skip
    reference = posterior("eight_schools_noncentered").reference
    for label in ("mu", "tau", "theta[1]"):
        mean, error, *_ = reference[label]
        row = run.summary()[label.replace("[1]", "[0]")]
        assert abs(row.mean - mean) < 4.4 * np.hypot(row.mcse, error)
        assert row.mcse < 0.3  # neither the data's own nor the prior's mean would do
    more = aptmc.resume(store, problem, budget=300, on=aptmc.VirtualTime(1))
    assert more.completions > run.completions
    assert aptmc.replay(store, problem).is_same
    assert aptmc.open(store).draws["posterior"]["theta"].shape[-1] == 8
    other = aptmc.from_stan(POSTERIORDB.read_text(), data | {"y": EFFECTS + 1})
    with pytest.raises(InputError, match="density has changed"):
        aptmc.resume(store, other, budget=100, on=aptmc.VirtualTime(1))


TRANSLATOR = """Command make STANCFLAGS=--include-paths=. /tmp/m_model.so failed with code 2.
stdout:
./bin/stanc --include-paths=. --o=/tmp/m.hpp /tmp/m.stan

stderr:
Syntax error in '/tmp/m.stan', line 1, column 20 to column 21, parsing error:
   -------------------------------------------------
     1:  parameters { real x } model { x ~ normal(0, 1); }
                             ^
   -------------------------------------------------

";" expected after variable declaration.
make: *** [Makefile:75: /tmp/m.hpp] Error 1
"""
WHERE = 'Syntax error, line 1, column 20 to column 21: ";" expected after variable declaration.'


def test_a_program_that_does_not_compile_is_told_where_and_why():
    _skip_without_sources(pytest.importorskip("bridgestan"))
    with pytest.raises(InputError) as raised:
        aptmc.from_stan("parameters { real x } model { x ~ normal(0, 1); }")
    assert str(raised.value) == f"BridgeStan cannot compile the Stan program: {WHERE}"


def test_what_the_translator_says_is_one_sentence():
    assert _reason(RuntimeError(TRANSLATOR)) == WHERE
    assert _reason(RuntimeError(TRANSLATOR.replace("make:", "make[1]:"))) == WHERE  # within make
    assert (
        _reason(RuntimeError("g++: fatal error: no space\nmore\n")) == "g++: fatal error: no space"
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"J": 8, "prior_only": 0}, "does not accept its data: mismatch"),
        (DATA | {"y": np.full(8, np.nan)}, "y has data that are no numbers"),
        ([1.0, 2.0], "got list: make a dictionary of it"),
        ("[1, 2]", "that gives names to values"),
        ("nowhere.json", "No such file"),
    ],
)
def test_data_that_do_not_fit_are_refused(compiled, data, said):
    with pytest.raises(InputError, match=said) as raised:
        aptmc.from_stan(compiled, data)
    assert "\n" not in str(raised.value)


def test_what_is_no_model_is_refused(tmp_path):
    pytest.importorskip("bridgestan")
    no_library = tmp_path / "model.so"
    no_library.write_text("no library")
    for model, said in {
        "nowhere.stan": "there is no Stan program nowhere.stan",
        "nowhere.so": "there is no compiled Stan model nowhere.so",
        "schools.txt": "a Stan program itself, got 'schools.txt'",
        str(no_library): "cannot be loaded",
    }.items():
        with pytest.raises(InputError, match=said) as raised:
            aptmc.from_stan(model)
        assert "\n" not in str(raised.value)


def test_a_program_without_parameters_is_refused():
    _skip_without_sources(pytest.importorskip("bridgestan"))
    with pytest.raises(InputError, match="no parameters"):
        aptmc.from_stan("model { }")


def test_a_missing_bridgestan_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "bridgestan", None)
    with pytest.raises(InputError, match=r"pip install 'aptmc\[stan\]'"):
        aptmc.from_stan("parameters { real x; }")


class OtherBridgeStan:
    """Compiles nothing, and does not know what others have compiled."""

    def __init__(self, version):
        self.__version__, self.compiled = version, []

    def compile_model(self, path):
        self.compiled.append(path)
        return path.with_suffix(".so")

    def StanModel(self, *_, **__):  # noqa: N802 (as BridgeStan has it)
        raise AttributeError("undefined symbol: bs_param_initialize")


def test_what_another_bridgestan_has_compiled_is_compiled_anew_and_sources_are_named(monkeypatch):
    compiled = []
    for version in ("2.7.0", "2.9.0"):
        other = OtherBridgeStan(version)
        monkeypatch.setitem(sys.modules, "bridgestan", other)
        with pytest.raises(InputError, match=rf"BridgeStan {version}, .*bs_param.* BRIDGESTAN"):
            aptmc.from_stan("parameters { real x; }")
        compiled += other.compiled
    assert compiled[0] != compiled[1]
    for path in compiled:
        path.unlink()


def test_matrices_are_shown_row_by_row():
    variables, order = variables_of(["a.1.1", "a.2.1", "a.1.2", "a.2.2", "a.1.3", "a.2.3", "b"])
    assert [(one.name, one.shape) for one in variables] == [("a", (2, 3)), ("b", ())]
    assert order.tolist() == [0, 2, 4, 1, 3, 5, 6]
