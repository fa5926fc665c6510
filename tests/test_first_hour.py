"""Errors of the first hour: what a newcomer gets wrong, and the words that help.

Each message says what was wrong, what was given and what to do. Wrong values of arguments are in
`test_bad_arguments.py`, failures inside moves in `test_failing_*.py`, those of the command line in
`cli/test_commands.py`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from tests.support import seen

PRIOR = aptmc.Prior(x=stats.norm(0, 3))
OBSERVED = np.array([1.0, 2.0])


def simulate(theta, rng):
    return theta[0] + rng.standard_normal(2)


def distance(simulated, observed):
    return float(np.abs(simulated - observed).max())


def abc(
    simulate: Callable[..., Any] = simulate,
    distance: Callable[..., Any] = distance,
    **options: Any,
) -> aptmc.Abc:
    return aptmc.Abc(simulate, PRIOR, observed=OBSERVED, distance=distance, **options)


def sample(problem: Any, **changes: Any) -> aptmc.Run:
    if isinstance(problem, aptmc.Abc):
        simulating = {
            "ladder": aptmc.Ladder.tolerances([1.0, 2.0, 4.0]),
            "kernel": aptmc.OneHit(1.0),
            "on": aptmc.VirtualTime(2),
            "schedule": aptmc.Synchronous(),
        }
        changes = simulating | changes
    return seen.sample(problem, **({"budget": 50.0} | changes))


# --- signatures ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: abc(simulate=lambda theta: theta),
            "simulate is called as simulate(theta, rng), but yours takes (theta): write it as def "
            "simulate(theta, rng)",
        ),
        (
            lambda: abc(simulate=lambda rate, shift, rng: rate),
            "simulate is called as simulate(theta, rng), but yours takes (rate, shift, rng)",
        ),
        (
            lambda: abc(distance=lambda simulated: 0.0),
            "distance is called as distance(simulated, observed), but yours takes (simulated)",
        ),
        (
            lambda: abc(summary=lambda: 0.0),
            "summary is called as summary(data), but yours takes ()",
        ),
        (
            lambda: aptmc.Abc.early(simulate, PRIOR),
            "simulated_distance is called as simulated_distance(theta, rng, tolerance), but yours "
            "takes (theta, rng)",
        ),
        (
            lambda: aptmc.Tempered(lambda a, b: 0.0, PRIOR),
            "log_likelihood is called as log_likelihood(theta), but yours takes (a, b)",
        ),
        (
            lambda: aptmc.Tempered(njit(lambda a, b: 0.0), PRIOR),
            "log_likelihood is called as log_likelihood(theta), but yours takes (a, b): write it "
            "as def log_likelihood(theta)",
        ),
        (
            lambda: abc(simulate=njit(lambda theta: theta), distance=njit(distance)),
            "simulate is called as simulate(theta, rng), but yours takes (theta)",
        ),
        (
            lambda: aptmc.Power(lambda: 0.0, start=0.0),
            "log_density is called as log_density(theta), but yours takes ()",
        ),
    ],
)
def test_a_function_with_other_arguments_is_refused_at_once(
    make: Callable[[], Any], message: str
) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        make()
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    "function", [lambda theta, scale=2.0: 0.0, lambda *theta: 0.0, np.sum, max, seen.log_likelihood]
)
def test_a_function_that_can_be_called_is_taken(function: Callable[..., Any]) -> None:
    assert aptmc.Tempered(function, PRIOR).names == ("x",)


def test_a_function_is_no_problem_yet() -> None:
    with pytest.raises(aptmc.InputError, match=r"use aptmc\.Tempered\(log_likelihood, prior\), or"):
        aptmc.sample(seen.log_likelihood, budget="10 s")


# --- what functions give ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (
            abc(distance=lambda simulated, observed: simulated - observed),
            r"distance returned array\(.*\), must be a single number, at x=",
        ),
        (
            abc(simulate=lambda theta, rng: np.ones(3)),
            r"simulated data have shape \(3,\), observed have \(2,\), and must be alike, at x=",
        ),
        (abc(simulate=lambda theta, rng: None), "simulate returned None, must be an array of num"),
        (
            aptmc.Tempered(lambda theta: None, PRIOR),
            "log_likelihood returned None, must be a single number, at x=",
        ),
        (
            aptmc.Tempered(lambda theta: theta["x"], PRIOR),
            "log_likelihood raised IndexError: only integers",
        ),
    ],
)
def test_a_wrong_answer_is_shown_with_the_parameters(problem: Any, message: str) -> None:
    with pytest.raises(aptmc.MoveFailed, match=message):
        sample(problem)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (
            aptmc.Tempered(njit(lambda theta: theta["x"]), PRIOR),
            "log_likelihood cannot be compiled for theta, an array of floats: No implementation of "
            "function Function(<built-in function getitem>) found for signature: "
            "getitem(array(float64, 1d, C), Literal[str](x)) (",
        ),
        (
            abc(simulate=njit(lambda theta, rng: rng.gauss(0, 1))),
            "simulate cannot be compiled for what it is given: Unknown attribute 'gauss' of type "
            "NumPyRandomGeneratorType (",
        ),
        (
            abc(simulate=njit(lambda theta, rng: rng.gauss(0, 1)), distance=njit(distance)),
            "simulate and what is applied to its result cannot be compiled together: check what "
            "each takes and returns, or leave out @njit to have them called from Python. numba "
            "says: Unknown attribute 'gauss' of type NumPyRandomGeneratorType (",
        ),
    ],
)
def test_what_numba_says_is_one_sentence_with_a_line(problem: Any, message: str) -> None:
    with pytest.raises(aptmc.AptmcError) as refusal:
        sample(problem)
    text = str(refusal.value)
    assert text.startswith(message)
    assert f"{Path(__file__).name}, line " in text
    assert "\n" not in text
    assert "\x1b" not in text


# --- starts -------------------------------------------------------------------------------------


def test_a_likelihood_without_support() -> None:
    problem = aptmc.Tempered(lambda theta: -np.inf, PRIOR)
    with pytest.raises(
        aptmc.InputError,
        match=r"no start of positive density was found.*Narrow the prior to where it is finite",
    ):
        sample(problem)


def test_a_start_without_support() -> None:
    problem = aptmc.Power(lambda theta: 0.0 if theta[0] > 5 else -np.inf, start={"x": 0.0})
    with pytest.raises(
        aptmc.InputError, match=r"no start of positive density.*\{'x': 0\.0\}: give a start"
    ):
        sample(problem, ladder=aptmc.Ladder.powers([1, 0.5, 0.3, 0.1]))


def test_no_hit_found() -> None:
    far = abc(simulate=lambda theta, rng: np.full(2, 1e6), start_simulations=500)
    with pytest.raises(
        aptmc.InputError,
        match=r"no state within tolerance 4 was found.*smallest distances.*1e\+06: use larger tol",
    ):
        sample(far)


# --- processes ----------------------------------------------------------------------------------


def test_a_problem_that_cannot_be_sent_to_workers() -> None:
    lock = threading.Lock()
    problem = aptmc.Tempered(lambda theta: float(lock.locked()), PRIOR)
    with pytest.raises(
        aptmc.InputError,
        match=r"cannot be sent to worker processes \(TypeError: cannot pickle '_thread\.lock'.*"
        r"open it inside the function, or use on=aptmc\.InProcess\(\)",
    ):
        sample(problem, budget=60, on=aptmc.Processes(1), schedule=aptmc.Anytime("10 ms"))


# --- budgets ------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", ["10 minuts", "ten minutes", "5", "1:30", ""])
def test_a_budget_that_is_not_understood(budget: str) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        sample(seen.problem(), budget=budget)
    assert str(refusal.value) == (
        f"budget must be a positive duration, got {budget!r}: use a number of seconds, or words "
        'like budget="10 min" or budget="2 h", or a count, budget="10000 simulations"'
    )


# --- stores -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return seen.stored(tmp_path_factory.mktemp("first_hour"), budget=50.0)


def test_a_store_that_is_there_is_not_overwritten(store: Path) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        sample(seen.problem(), store=store)
    assert str(refusal.value) == (
        f"{store} is there already: go on with it by aptmc.resume({str(store)!r}, problem, "
        "budget=...), or choose another name"
    )


@pytest.mark.parametrize(
    ("names", "difference"),
    [("ab", "log_likelihood has changed"), ("ac", "names is ['a', 'c'], was ['a', 'b']")],
)
def test_another_problem_does_not_go_on_with_a_store(
    store: Path, names: str, difference: str
) -> None:
    prior = aptmc.Prior(**{name: stats.norm(0, 3) for name in names})
    other = aptmc.Tempered(lambda theta: -(theta[0] ** 4), prior)
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.resume(store, other, budget=10, on=aptmc.VirtualTime(2), progress=False)
    message = str(refusal.value)
    assert f"the problem is not the one that is stored in {store}: " in message
    assert difference in message
    assert "names has changed" not in message
    assert message.endswith("if you know that it is the same, force=True")


def test_folders_are_not_made_by_accident(tmp_path: Path) -> None:
    with pytest.raises(aptmc.InputError, match=r"of the store .* is not there: make it"):
        sample(seen.problem(), store=tmp_path / "absent" / "run.zarr")
    with pytest.raises(aptmc.InputError, match=r"absent of the report is not there: make it"):
        sample(seen.problem()).report(tmp_path / "absent" / "report.html")


# --- extras -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("packages", "use", "remedy"),
    [
        (
            ["h5netcdf", "netCDF4"],
            lambda run, path: run.to_netcdf(path),
            "pip install 'aptmc[netcdf]'",
        ),
        (["pandas"], lambda run, path: run.to_dataframe(), "pip install pandas"),
        (["arviz"], lambda run, path: run.to_inference_data(), "pip install arviz"),
    ],
)
def test_a_missing_package_is_named_with_the_line_that_installs_it(
    packages: list[str],
    use: Callable[[aptmc.Run, Path], Any],
    remedy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = sample(seen.problem())
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(aptmc.InputError) as refusal:
        use(run, tmp_path / "file")
    assert remedy in str(refusal.value)


def test_without_matplotlib_a_report_says_why_it_has_no_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = sample(seen.problem())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text = run.report(tmp_path / "run.html").read_text(encoding="utf-8")
    assert "There are no figures, which need matplotlib: pip install" in text
    assert "<h2>Posterior</h2>" in text
    assert "<img" not in text
