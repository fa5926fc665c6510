"""`kernel="auto"`: what is chosen from what a problem offers, and what a run says of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.kernels import Metric, default

PRIOR = aptmc.Prior(x=stats.norm(0, 3))


def log_likelihood(theta):
    return -0.5 * float(theta[0] - 1.0) ** 2


def gradient(theta):
    return [1.0 - theta[0]]


def sampled(problem, **options):
    return aptmc.sample(
        problem, budget=800, seed=1, on=aptmc.VirtualTime(1), progress=False, **options
    )


def said_of(run):
    return [note for note in run.summary().notes if note.startswith("kernel: ")]


@pytest.mark.parametrize(
    ("problem", "kind", "words"),
    [
        (aptmc.Tempered(log_likelihood, PRIOR), aptmc.EllipticalSlice, "density and no gradient;"),
        (
            aptmc.Tempered(log_likelihood, PRIOR, gradient=gradient),
            aptmc.EllipticalSlice,
            "because with one parameter a gradient does not pay;",
        ),
        (
            aptmc.Tempered(log_likelihood, aptmc.Prior(k=stats.poisson(2))),
            aptmc.EllipticalSlice,
            "k is a whole number",
        ),
        (
            aptmc.Abc.early(
                lambda theta, rng, tolerance: abs(theta[0] + rng.standard_normal() - 1.0), PRIOR
            ),
            aptmc.OneHit,
            "has a simulator",
        ),
    ],
    ids=["density", "gradient", "whole number", "simulator"],
)
def test_what_is_chosen_and_why(problem, kind, words):
    run = sampled(problem)
    assert isinstance(run.settings.kernel, kind)
    (said,) = said_of(run)
    assert said.startswith(f"kernel: {kind.__name__}, because")
    assert words in said


def test_it_says_what_the_warmup_has_measured():
    (said,) = said_of(sampled(aptmc.Tempered(log_likelihood, PRIOR)))
    cost = float(said.partition("a step takes ")[2].split()[0])
    assert 1.0 <= cost < 5.0
    assert "made of one Student distribution" in said


@pytest.mark.parametrize("kernel", ["auto", aptmc.Nuts(), aptmc.Hmc(leaps=3)], ids=str)
def test_of_trajectories_it_says_how_many_how_long_and_how_many_went_astray(kernel, monkeypatch):
    monkeypatch.setattr(default, "FEWEST_DIMENSIONS_OF_LEAPS", 1)
    run = sampled(aptmc.Tempered(log_likelihood, PRIOR, gradient=gradient), kernel=kernel)
    (said,) = said_of(run)
    number = int(run.steps_done[0])
    assert number == round(run.statistics["accepted"][0] / run.acceptance_rates[0]) > 0
    leaps = run.statistics["leaps"][0] / number
    assert f"{number:,} trajectories of {leaps:.1f} leaps in the mean" in said
    astray = int(run.statistics["divergences"][0])
    assert said.endswith(f"on the coldest rung, of which {astray or 'none'} went astray")
    assert ("as it was given" in said) == (kernel != "auto")


def test_trajectories_that_go_astray_are_counted():
    """One is, wherever it begins: nobody moves, and that is said, too."""

    def spike(theta):
        return 0.0 if theta[0] == 0.0 else -1e4

    problem = aptmc.Power(spike, {"x": 0.0}, gradient=lambda theta: [0.0])
    given = aptmc.Hmc(Metric(np.ones((1, 1, 1)), np.array([0.5])), leaps=1)
    run = sampled(problem, kernel=given, ladder=[1], pools=aptmc.Shared(2))
    (said,) = said_of(run)
    number = int(run.steps_done[0])
    assert f"{number:,} trajectories of 1.0 leaps" in said
    assert f"of which {number:,} went astray" in said
    (advice,) = [one for one in run.advice if "went astray" in one.problem]
    assert advice.problem.startswith("100.0%")


def test_of_a_kernel_that_was_given_nothing_is_said():
    assert not said_of(sampled(aptmc.Tempered(log_likelihood, PRIOR), kernel=aptmc.RandomWalk(1.0)))


def test_a_problem_of_ones_own_says_so_itself():
    class Walked(aptmc.Tempered):
        def default_kernel(self):
            return aptmc.RandomWalk("auto")

    (said,) = said_of(sampled(Walked(log_likelihood, PRIOR)))
    assert said.startswith("kernel: RandomWalk, because the problem itself says so")


def test_a_store_keeps_the_reason_and_so_does_a_report(tmp_path):
    problem = aptmc.Tempered(log_likelihood, PRIOR)
    run = sampled(problem, store=tmp_path / "run.zarr")
    assert said_of(aptmc.open(tmp_path / "run.zarr")) == said_of(run)
    page = run.report(tmp_path / "report.html").read_text()
    assert "why this kernel" in page
    again = aptmc.resume(tmp_path / "run.zarr", problem, budget=200, on=aptmc.VirtualTime(1))
    assert said_of(again)[0].partition(";")[0] == said_of(run)[0].partition(";")[0]
