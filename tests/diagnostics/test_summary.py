"""The summary: its numbers, and the table that people read."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle

import numpy as np
import pytest

from aptmc.diagnostics import (
    bulk_effective_sample_size,
    effective_sample_size,
    integrated_autocorrelation_time,
    r_hat,
    summarise,
    tail_effective_sample_size,
)
from aptmc.diagnostics.error_of_mean import Timeline, effective_draws
from aptmc.diagnostics.summary import MOST_COMPARED
from aptmc.errors import InputError

RNG = np.random.default_rng(1)
CHAINS = [RNG.normal(3, 2, size=2000), RNG.normal(3, 2, size=1900), RNG.normal(3, 2, size=1950)]


def test_numbers_are_those_of_the_functions() -> None:
    row = summarise({"x": CHAINS}, elapsed=10.0)["x"]
    pooled = np.concatenate(CHAINS)
    assert (row.draws, row.chains, row.reliable) == (5850, 3, True)
    assert row.mean == pooled.mean()
    assert row.sd == pooled.std(ddof=1)
    assert (row.q5, row.q95) == tuple(np.quantile(pooled, [0.05, 0.95]))
    assert row.iat == integrated_autocorrelation_time(CHAINS, mean=row.mean)
    timeline = Timeline([chain.size for chain in CHAINS])
    assert row.ess == pytest.approx(effective_draws(CHAINS, timeline))
    assert row.ess_per_second == row.ess / 10
    assert row.mcse == pytest.approx(row.sd / math.sqrt(row.ess))
    table = np.array([chain[:1900] for chain in CHAINS])
    # Chains that know nothing of each other: ArviZ's numbers are as good, and not far.
    assert row.ess_bulk == pytest.approx(bulk_effective_sample_size(table), rel=0.3)
    assert row.ess_tail == pytest.approx(tail_effective_sample_size(table), rel=0.3)
    assert row.r_hat == r_hat(table)


def test_one_chain_has_a_split_r_hat_and_its_own_mean() -> None:
    row = summarise({"x": CHAINS[:1]}, elapsed=10.0)["x"]
    assert row.r_hat == r_hat(CHAINS[0])
    assert row.ess == pytest.approx(effective_sample_size(CHAINS[0]), rel=0.3)
    assert summarise({"x": CHAINS[0]}, elapsed=10.0)["x"] == row


def test_chains_that_disagree_have_a_small_effective_sample_size() -> None:
    row = summarise({"x": [CHAINS[0], CHAINS[1] + 100]}, elapsed=10.0)["x"]
    assert row.ess < 10
    assert row.r_hat > 1.5
    assert not row.reliable


def test_rows_are_found_by_name_and_cannot_be_changed() -> None:
    summary = summarise({"birth": CHAINS, "death": CHAINS}, elapsed=10.0)
    assert list(summary) == ["birth", "death"]
    assert "birth" in summary
    assert len(summary) == 2
    with pytest.raises(KeyError, match="no parameter 'x': there are birth, death"):
        summary["x"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        summary["birth"].mean = 0.0  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        summary.elapsed = 0.0  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(summary)) == summary


def test_plain_numbers() -> None:
    summary = summarise({"x": CHAINS}, elapsed=10.0)
    assert summary.to_dict()["x"]["mean"] == summary["x"].mean
    assert json.loads(json.dumps(summary.to_dict())) == summary.to_dict()


def test_table_lines_up() -> None:
    chains = {"birth": [0.01 * chain for chain in CHAINS], "x": CHAINS, "big": [1e5 * CHAINS[0]]}
    summary = summarise(chains, elapsed=10.0)
    assert repr(summary) == str(summary)
    header, *lines = str(summary).splitlines()
    titles = ["mean", "sd", "q5", "q95", "mcse", "ess", "ess/s", "iat"]
    assert header.split() == [*titles, "bulk", "ess", "tail", "ess", "r-hat"]
    assert [line.split()[0] for line in lines] == ["birth", "x", "big"]
    # Mean, sd, quantiles and error share their decimals, with the points of a column in line.
    points = [[i for i, letter in enumerate(line) if letter == "."] for line in lines[:2]]
    assert points[0][:5] == points[1][:5]
    decimals = {len(cell.partition(".")[2]) for cell in lines[0].split()[1:6]}
    assert decimals == {5}
    assert lines[2].split()[1] == f"{summary['big'].mean:.0f}"


def test_digits_follow_the_monte_carlo_error() -> None:
    summary = summarise({"x": [CHAINS[0]]}, elapsed=10.0)
    assert 0.01 < summary["x"].mcse < 0.1
    mean, *_, error = str(summary).splitlines()[1].split()[1:6]
    assert mean == f"{summary['x'].mean:.3f}"
    assert error == f"{summary['x'].mcse:.3f}"


def test_table_says_what_it_is_made_of() -> None:
    text = str(summarise({"x": CHAINS, "y": CHAINS}, elapsed=10.0, unit="unit"))
    assert "ess/unit" in text
    assert text.endswith("5,850 draws on 3 chains of the coldest rung in 10.0 units of time")


def test_short_chains_are_marked() -> None:
    text = str(summarise({"x": [CHAINS[0].cumsum()], "y": [CHAINS[0]]}, elapsed=10.0))
    first, second = text.splitlines()[1:3]
    assert "*" in first
    assert "*" not in second
    assert "run for longer" in text.splitlines()[-1]


def test_notebook_table_holds_the_same_cells() -> None:
    summary = summarise({"a<b": CHAINS}, elapsed=10.0)
    html = summary._repr_html_()
    assert "<th>a&lt;b</th>" in html
    for cell in str(summary).splitlines()[1].split()[1:]:
        assert f"<td>{cell}</td>" in html


@pytest.mark.parametrize("chains", [[], [[]], [[], []]])
def test_no_draws_give_nan(chains: list[list[float]]) -> None:
    summary = summarise({"x": chains}, elapsed=10.0)
    row = dataclasses.asdict(summary["x"])
    assert (row.pop("draws"), row.pop("chains"), row.pop("reliable")) == (0, 0, False)
    assert all(math.isnan(value) for value in row.values())
    assert "nan" in str(summary)


def test_few_draws_give_what_they_can() -> None:
    row = summarise({"x": [[1.0, 2.0], [3.0]]}, elapsed=10.0)["x"]
    assert (row.mean, row.sd) == (2.0, 1.0)
    assert all(math.isnan(value) for value in (row.ess, row.mcse, row.r_hat))
    assert math.isnan(summarise({"x": [[1.0]]}, elapsed=10.0)["x"].sd)


def test_parameter_that_never_moved() -> None:
    # 0.1 is not a binary fraction: sums of it are not multiples of it.
    row = summarise({"x": [[0.1] * 100, [0.1] * 100]}, elapsed=10.0)["x"]
    assert (row.mean, row.sd, row.mcse) == (0.1, 0.0, 0.0)
    assert row.ess == pytest.approx(2)
    assert math.isnan(row.r_hat)
    assert not row.reliable


def test_no_time_gives_no_rate_and_no_parameters_no_rows() -> None:
    assert math.isnan(summarise({"x": CHAINS}, elapsed=0.0)["x"].ess_per_second)
    empty = summarise({}, elapsed=1.0)
    assert len(empty) == 0
    assert "mean" in str(empty)


def test_unusable_input_is_refused_with_the_name_of_the_parameter() -> None:
    with pytest.raises(InputError, match=r"parameter 'y': draws must be finite, got nan"):
        summarise({"x": CHAINS, "y": [[1.0, float("nan")]]}, elapsed=1.0)
    for elapsed in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="elapsed"):
            summarise({"x": CHAINS}, elapsed=elapsed)


def test_a_table_of_pandas_has_all_numbers_unrounded() -> None:
    summary = summarise({"x": [np.arange(100.0)], "beta[0]": [np.arange(100.0) ** 2]}, 2.0)
    table = summary.to_dataframe()
    assert list(table.index) == ["x", "beta[0]"]
    assert table.loc["x"].to_dict() == summary.to_dict()["x"]
    assert table["mean"].dtype == np.float64
    assert len(summarise({}, 1.0).to_dataframe().columns) == len(table.columns)


# --- very many chains -----------------------------------------------------------------------------


def test_of_very_many_chains_some_are_compared_and_that_is_said() -> None:
    rng = np.random.default_rng(1)
    many = list(rng.normal(size=(3000, 8)))
    chosen = [many[place] for place in np.linspace(0, 2999, MOST_COMPARED).round().astype(int)]
    summary = summarise({"x": many}, elapsed=1.0)
    assert summary["x"].r_hat == r_hat(np.array(chosen))
    assert summary["x"].r_hat == pytest.approx(r_hat(np.array(many)), abs=0.02)
    assert (summary["x"].draws, summary["x"].chains) == (24_000, 3000)
    said = "r-hat is that of 1,024 of the chains, evenly chosen"
    assert said in str(summary)
    # Those that disagree are seen, wherever they are.
    apart = [*many[:2800], *(chain + 10.0 for chain in many[2800:])]
    assert summarise({"x": apart}, elapsed=1.0)["x"].r_hat > 1.15
    few = summarise({"x": many[:MOST_COMPARED]}, elapsed=1.0)
    assert few["x"].r_hat == r_hat(np.array(many[:MOST_COMPARED]))
    assert "evenly chosen" not in str(few)
