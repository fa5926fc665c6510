"""The comparison with other libraries: its truths, its densities, its table."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aptmc
from aptmc.problem.prior.evaluation import log_density_by_parts
from experiments.comparison import cells as kept
from experiments.comparison.__main__ import AT_ZERO, LIBRARIES, can_be_equal, libraries_for
from experiments.comparison.backends import backend_of
from experiments.comparison.cells import OURS, Cell, publish
from experiments.comparison.densities import DENSITIES
from experiments.comparison.given import PILOT, Answer, Limits
from experiments.comparison.glance import glance
from experiments.comparison.one_run import count_processors_time, estimates, lines_of, run
from experiments.comparison.picture import LOOKS
from experiments.comparison.priors import prior_of
from experiments.comparison.problem import Density
from experiments.comparison.simulators import SIMULATORS
from experiments.comparison.table import least, markdown, row, rows
from experiments.comparison.truths import PUBLISHED, middles, on_a_grid, schools, shells
from experiments.known_targets.simulators import REFERENCES


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_evidence_is_the_published_one(name: str) -> None:
    assert DENSITIES[name].truth.log_evidence == pytest.approx(PUBLISHED[name], abs=0.006)


def test_truths_are_what_their_computation_gives() -> None:
    coarse = middles(0.0, 10.0 * math.pi, 300)
    found = {
        "egg box": on_a_grid(DENSITIES["egg box"], coarse, coarse),
        "shells 10": shells(DENSITIES["shells 10"]),
        "schools": schools(301, 800),
    }
    for name, each in found.items():
        truth = DENSITIES[name].truth
        np.testing.assert_allclose(each["means"], truth.means, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(each["variances"], truth.variances, rtol=1e-3)
        assert each["log_evidence"] == pytest.approx(truth.log_evidence, abs=1e-3)


@pytest.mark.parametrize("name", DENSITIES)
def test_all_forms_of_a_density_agree(name: str) -> None:
    jax = pytest.importorskip("jax")
    jax_densities = import_module("experiments.comparison.jax_densities")
    density = DENSITIES[name]
    prior = prior_of(name)
    assert prior.dimension == density.dimension
    points = density.draw_prior(np.random.default_rng(1), 5)
    # Part after part, which compiles nothing.
    ours = log_density_by_parts(prior.parts, prior.parametrisation, points)
    for point, own in zip(points, ours, strict=True):
        log_prior, log_likelihood = density.log_prior(point), density.log_likelihood(point)
        assert math.isfinite(log_prior)
        # Ours moves what is bounded as it is given; the density is of the same numbers.
        assert own == pytest.approx(log_prior, rel=1e-9)
        with jax.enable_x64(True):
            functions = jax_densities.LOG_PRIORS[name], jax_densities.LOG_LIKELIHOODS[name]
            found = [float(function(point)) for function in functions]
        assert found == pytest.approx([log_prior, log_likelihood], rel=1e-9)
        assert density.quantities(point[None]).shape == (1, len(density.words))
    assert len(density.truth.means) == len(density.words)


def made_up(errors: Any, **others: Any) -> list[dict[str, Any]]:
    truth = DENSITIES["coin"].truth
    return [
        {
            "means": (np.array(truth.means) + error).tolist(),
            "log_evidence": truth.log_evidence + 0.1,
            "evaluations": 1000,
            "elapsed": 1.0,
            "processor": 1.0,
            "lines": 5,
            "note": "",
        }
        | others
        for error in errors
    ]


def test_a_row_counts_what_independent_draws_would_be_worth() -> None:
    density = DENSITIES["coin"]
    sds = np.sqrt(density.truth.variances)
    errors = np.random.default_rng(1).normal(0.0, sds / math.sqrt(50.0), (400, 3))
    found = row(density, "ours", made_up(errors))
    # A chi-square of 400: six standard deviations.
    assert found.worth == pytest.approx((50.0,) * 3, rel=6.0 * math.sqrt(2.0 / 400))
    assert max(map(abs, found.off)) < 4.9
    assert found.evidence == pytest.approx((0.1, 0.0, 0.1))
    biased = row(density, "ours", made_up(errors + 0.5 * sds))
    assert max(map(abs, biased.off)) > 4.9
    assert least(biased) < 5.0


def test_whoever_gives_no_answer_has_a_row_that_says_why() -> None:
    found = row(DENSITIES["coin"], "zeus", [{"failed": "it fell over | here"}])
    assert (found.runs, found.failed) == (0, "it fell over | here")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where cells are kept, and nothing is published yet."""
    monkeypatch.setattr(kept, "CACHE", tmp_path)
    monkeypatch.setattr(kept, "PUBLISHED", tmp_path / "cells.json")
    (tmp_path / "cells").mkdir()
    kept.published.cache_clear()
    yield tmp_path
    kept.published.cache_clear()


def test_what_the_page_shows_can_be_read_without_running_anything(folder: Path) -> None:
    cells = [Cell("coin", "ours", seed, "evaluations") for seed in (1, 2)]
    replies = made_up([np.zeros(3), np.ones(3)])
    for cell, reply in zip(cells, replies, strict=True):
        cell.path.write_text(json.dumps(reply))
    publish(cells[:1])
    for cell in cells:
        cell.path.unlink()
    assert [cell.found() for cell in cells] == [replies[0], None]
    assert cells[0].measured() is None
    cells[0].path.write_text(json.dumps(replies[1]))  # measured again here, which comes first
    assert cells[0].found() == replies[1]


def test_who_is_late_or_idle_is_seen(folder: Path) -> None:
    cells = [Cell("costly", "pyabc", seed, "seconds") for seed in (1, 2, 3)]
    reply = {
        "means": SIMULATORS["costly"].truth.means, "log_evidence": None, "evaluations": 500,
        "lines": 20, "note": "", "idle": 0.25, "processor": 5.0,
    }  # fmt: skip
    for cell, elapsed in zip(cells, (60.5, 61.0, 70.0), strict=True):
        cell.path.write_text(json.dumps(reply | {"elapsed": elapsed}))
    text = markdown(cells, "seconds")
    (line,) = [each for each in text.splitlines() if each.startswith("| pyABC")]
    assert line.endswith("| 70.0 | 2 of 3 | 25% | 20 |")
    assert "| 61.0 |" in line
    assert "3 runs, 3 minutes one after the other; ten of each row: 10 minutes." in text


def test_cells_are_kept_and_make_a_table(folder: Path) -> None:
    cells = [
        Cell("coin", library, seed, "evaluations")
        for library in ("ours", "zeus", "emcee", "dynesty")
        for seed in (1, 2, 3)
    ]
    assert [cell.found() for cell in cells] == [None] * 12
    for cell in cells[:3] + cells[6:8]:
        (reply,) = made_up([np.array([0.01 * cell.seed, 0.0, 0.0])])
        cell.path.write_text(json.dumps(reply))
    cells[3].path.write_text(json.dumps({"failed": "no | numpy"}))
    ((density, table),) = list(rows(cells))
    assert isinstance(density, Density)
    assert [(each.library, each.runs) for each in table] == [
        ("ours", 3), ("zeus", 0), ("emcee", 2), ("dynesty", 0),
    ]  # fmt: skip
    text = markdown(cells, "evaluations")
    assert "| aptmc | 3 |" in text
    # Of two runs a mean squared error says next to nothing; of none there is nothing to say.
    assert "emcee" not in text
    assert "dynesty" not in text
    assert "no / numpy" in text
    assert all(line.count("|") == 12 for line in text.splitlines() if line.startswith("|"))


def test_time_is_counted_of_processors_where_work_is_equal(folder: Path) -> None:
    cells = [Cell("coin", "emcee", seed, "evaluations") for seed in (1, 2, 3)]
    sds = np.sqrt(DENSITIES["coin"].truth.variances)
    for cell in cells:  # a hundred effective draws, in two seconds of a processor
        (reply,) = made_up([0.1 * sds], processor=2.0, elapsed=50.0)
        cell.path.write_text(json.dumps(reply))
    (line,) = [one for one in markdown(cells, "evaluations").splitlines() if "emcee" in one]
    assert "| 2.0 | 50 |" in line


def test_who_is_better_is_said_where_it_can_be_told(folder: Path) -> None:
    """Of ten runs each, a mean squared error must be 3.72 times as large as another: F(10, 10)."""
    errors = {"ours": 0.1, "ours_draws": 0.5, "emcee": 0.18, "dynesty": 0.21}
    sds = np.sqrt(DENSITIES["logistic"].truth.variances)
    cells = [
        Cell("logistic", library, seed, "evaluations")
        for library in errors
        for seed in range(1, 11)
    ]
    for cell in cells:
        (reply,) = made_up([0.0], processor=2.0 if cell.library == "emcee" else 1.0)
        means = np.array(DENSITIES["logistic"].truth.means) + errors[cell.library] * sds
        cell.path.write_text(json.dumps(reply | {"means": means.tolist()}))
    line = glance(cells, "evaluations").splitlines()[-1]
    assert line == (
        "| logistic | 100 | 31 (emcee) | (aptmc 3.2) | 100 | 23 (dynesty) | **aptmc** 4.4 "
        f"| {line.split(' | ')[7]} | {line.split(' | ')[8]}"
    )


def test_a_row_whose_runs_come_out_differently_now_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [Cell("coin", library, seed, "evaluations") for seed in (1, 2) for library in
             ("ours", "emcee", "zeus")]  # fmt: skip
    for cell in cells[:5]:
        (reply,) = made_up([np.zeros(3)])
        cell.path.write_text(json.dumps(reply))
    kept_before = [cell.measured() for cell in cells]
    asked: list[str] = []

    def measured(cell: Cell) -> dict[str, Any]:
        asked.append(cell.path.stem)
        (reply,) = made_up([np.full(3, 0.1 * (cell.library == "emcee"))])
        cell.path.write_text(json.dumps(reply))
        return reply

    monkeypatch.setattr(kept, "measure", measured)
    assert kept.differing(cells) == ["coin-emcee-1-evaluations-2"]
    assert sorted(asked) == [f"coin-{name}-1-evaluations-2" for name in ("emcee", "ours", "zeus")]
    assert [cell.measured() for cell in cells] == kept_before


def test_seconds_of_a_processor_are_counted_of_one_process() -> None:
    cell = Cell.of("coin", "dynesty", 1, "processor")
    assert cell.limits == (0, DENSITIES["coin"].seconds, 1)
    assert not can_be_equal("costly", "processor")  # who sleeps uses none
    assert isinstance(backend_of(Limits(*cell.limits)), aptmc.InProcess)
    assert isinstance(backend_of(Limits(100, 0.0, 2)), aptmc.VirtualTime)


def test_clocks_that_count_a_processors_time_stand_still_while_it_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("perf_counter", "monotonic", "time"):
        monkeypatch.setattr(time, name, getattr(time, name))
    spent = iter([1.0, 1.0, 2.5])
    monkeypatch.setattr(time, "process_time", lambda: next(spent))
    count_processors_time()
    assert [time.perf_counter(), time.monotonic(), time.time()] == [1.0, 1.0, 2.5]


def test_an_error_of_the_evidence_has_its_own() -> None:
    away = np.random.default_rng(1).normal(0.0, 0.3, 4000)
    truth = DENSITIES["coin"].truth.log_evidence
    found = made_up(np.zeros((4000, 3)))
    for each, error in zip(found, away, strict=True):
        each["log_evidence"] = truth + error
    evidence = row(DENSITIES["coin"], "ours", found).evidence
    assert evidence is not None
    root, spread, _ = evidence
    # The standard error of a normal sample's standard deviation: sigma / sqrt(2 n).
    assert spread == pytest.approx(0.3 / math.sqrt(8000), rel=0.1)
    assert abs(root - 0.3) < 4.0 * spread


@pytest.mark.parametrize("name", ["predators at 1", "predators at 0.4"])
def test_where_a_tolerance_is_given_its_posterior_is_the_truth(name: str) -> None:
    given = SIMULATORS[name]
    known = json.loads(REFERENCES.read_text())[name.replace("at ", "")]["parameters"]
    means = [known[each]["mean"] for each in given.words]
    errors = [known[each]["mean"][1] for each in given.words]
    if name.endswith("0.4"):  # the other reference has another prior
        for own, (mean, _), error in zip(given.truth.means, means, errors, strict=True):
            assert abs(own - mean) < 4.9 * error
    at_zero = SIMULATORS["predators and prey"].truth
    assert abs(given.truth.means[2] - at_zero.means[2]) > 4.9 * errors[2]
    assert given.tolerances[-1] == float(name.split()[-1])
    assert set(AT_ZERO).isdisjoint(libraries_for(name))
    assert set(AT_ZERO) < set(libraries_for("predators and prey"))


def test_whoever_knows_no_time_is_paced_by_a_pilot_of_its_own() -> None:
    piloted: list[int] = []
    assert Limits(70, 0.0, 2).calls(piloted.append) == 70
    assert piloted == []
    assert Limits(0, 0.0, 2).calls(piloted.append) == 0  # no time is left after the pilot
    assert piloted == [PILOT]


@pytest.mark.validation
def test_one_run_of_ours_counts_its_evaluations_and_lines() -> None:
    found = run("coin", "ours", 1, Limits(4_000, 0.0, 2))
    assert found["evaluations"] == 4_000
    assert 4 <= found["lines"] <= 8
    assert found["means"][2] == pytest.approx(0.5, abs=0.05)
    assert lines_of(import_module("experiments.comparison.libraries.emcee")) > found["lines"]


def test_weights_count() -> None:
    draws = np.array([[0.2, 0.5], [0.8, 0.5]])
    plain, weighted = (
        estimates(Answer(draws, weights), "coin") for weights in (None, np.array([1.0, 3.0]))
    )
    assert plain[0] == pytest.approx(0.5)
    assert weighted[0] == pytest.approx(0.65)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_run_without_draws_has_failed() -> None:
    with pytest.raises(ValueError, match="no draws"):
        estimates(Answer(np.empty((0, 2))), "coin")


def test_everybody_looks_different_in_the_picture() -> None:
    others = [library for library in LIBRARIES if not library.startswith(OURS)]
    assert sorted(LOOKS) == sorted(others)
    assert len(set(LOOKS.values())) == len(others)
