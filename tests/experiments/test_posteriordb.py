"""Models of posteriordb: draws have the means and widths of its reference draws."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import aptmc
from experiments.posteriordb import two_signs
from experiments.posteriordb.__main__ import FIVE, cells, shown
from experiments.posteriordb.compare import judged
from experiments.posteriordb.drawn import LANGUAGES, THEIRS
from experiments.posteriordb.posteriors import NAMES, posterior, whole_data
from experiments.posteriordb.table import table

# Of some twenty means and widths, one is beyond in fewer than one of 500 runs.
FAR = 4.0
PAGE = Path(__file__).parents[2] / "docs" / "posteriordb.md"


@pytest.mark.validation(shortest=0.1)
@pytest.mark.parametrize("name", ["eight_schools_noncentered", "arK"])
def test_draws_are_those_of_the_reference(name):
    pytest.importorskip("numpyro")
    from experiments.posteriordb.drawn import problem_of

    one = posterior(name)
    run = aptmc.sample(
        problem_of(one, "numpyro"), budget=400_000, seed=1, on=aptmc.VirtualTime(workers=4),
        pools=aptmc.Shared(chains_per_rung=4), progress=False,
    )  # fmt: skip
    draws = {name: values.values for name, values in run.draws["posterior"].items()}
    found = judged(draws, one)
    assert found.mean_error < FAR
    assert found.sd_error < FAR
    assert found.r_hat < 1.01
    assert judged(draws, _shifted(one)).mean_error > FAR


def _shifted(one):
    """Means that are a tenth of a standard deviation off."""
    wrong = {
        key: [mean + 0.1 * sd, error, sd, *more]
        for key, (mean, error, sd, *more) in one.reference.items()
    }
    return one._replace(reference=wrong)


def test_right_draws_are_right_and_wrong_ones_are_noticed():
    one = posterior("arK")
    rng = np.random.default_rng(1)
    draws = {"beta": np.empty((4, 1000, 5))}
    for label, (mean, _, sd, _) in one.reference.items():
        name, _, place = label.rstrip("]").partition("[")
        values = rng.normal(mean, sd, (4, 1000))
        if place:
            draws[name][..., int(place) - 1] = values
        else:
            draws[name] = values
    found = judged(draws, one)
    assert found.mean_error < FAR
    assert found.sd_error < FAR
    assert found.r_hat < 1.01
    assert 3000 < found.effective < 5000
    assert judged(draws, _shifted(one)).mean_error > FAR
    row = {**found._asdict(), "ready": 1.0, "sampling": 2.0, "wall": 5.0}
    late = {"given_up": 300}
    two = {("arK", "pymc", "aptmc"): row, ("arK", "stan", "nutpie"): row}
    found = table({**two, ("arK", "pymc", "pm.sample"): late})
    head, _, *rows = found.splitlines()
    assert {row.count("|") for row in rows} == {head.count("|")}
    assert "| more than 300 |" in found
    assert "\n| arK | PyMC | aptmc |" in found
    assert "\n| | Stan | nutpie |" in found  # the model is that of the row above


def test_five_models_in_every_language_here_and_by_its_own_samplers():
    found = list(cells(FIVE, LANGUAGES))
    assert sum(cell.is_ours for cell in found) == 15
    assert len(found) == 15 + 5 * sum(len(THEIRS[language]) for language in LANGUAGES)


def test_the_page_shows_what_is_kept_and_all_of_ours_is_right():
    found = shown()
    assert table(found) in PAGE.read_text("utf-8")
    ours = [one for (_, _, who), one in found.items() if who == "aptmc"]
    assert len(ours) == 15
    assert max(max(one["mean_error"], one["sd_error"]) for one in ours) < FAR
    assert max(one["r_hat"] for one in ours) < 1.01


@pytest.mark.parametrize("name", NAMES)
def test_every_posterior_has_data_and_numbers_to_compare_with(name):
    one = posterior(name)
    assert {len(numbers) for numbers in one.reference.values()} == {4}
    assert set(one.data) <= set(whole_data(name))


def test_the_truth_of_two_signs_is_that_of_draws():
    """Weighted draws of a mixture of both signs; effects are drawn anew for each."""
    rng, size = np.random.default_rng(1), 200_000
    mu = rng.choice([-1, 1], size) * rng.normal(3, 1, size)
    tau = np.abs(rng.normal(0, 1, size))
    made = np.logaddexp(stats.norm(3, 1).logpdf(mu), stats.norm(-3, 1).logpdf(mu)) - np.log(2)
    logs = stats.norm(two_signs.MEAN, two_signs.WIDTH).logpdf(mu) - made
    effects = mu + tau * rng.normal(size=(6, size))
    data = two_signs.DATA
    for effect, y, error in zip(effects, data["y"], data["error"], strict=True):
        logs += stats.norm(np.abs(effect), error).logpdf(y)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    for label, values in {"mu": mu, "tau": tau, "theta[1]": effects[0]}.items():
        mean, _, sd, _ = two_signs.truth(300)[label]
        error = np.sqrt((weights**2 * (values - mean) ** 2).sum())
        assert abs((weights * values).sum() - mean) < FAR * error
        of_square = np.sqrt((weights**2 * ((values - mean) ** 2 - sd**2) ** 2).sum())
        assert abs((weights * (values - mean) ** 2).sum() - sd**2) < FAR * of_square
