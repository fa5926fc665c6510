"""Vectors, whole numbers and simplexes in what a run gives back, in memory and from disk."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import aptmc

CITIES = ["Rome", "Oslo", "Lima"]
LABELS = (
    "rate", "beta[Rome]", "beta[Oslo]", "beta[Lima]", "k", "s[0]", "s[1]", "s[2]", "z[0, 0]",
    "z[0, 1]",
)  # fmt: skip


def log_likelihood(theta):
    return -0.5 * float(np.sum((theta - 1.0) ** 2))


def problem() -> aptmc.Tempered:
    prior = aptmc.Prior(
        rate=stats.gamma(2),
        beta=aptmc.iid(stats.norm(0, 1), 3, dims="city", coords={"city": CITIES}),
        k=stats.poisson(2),
        s=stats.dirichlet([1, 2, 3]),
        z=aptmc.iid(stats.norm(0, 1), (1, 2)),
    )
    return aptmc.Tempered(log_likelihood, prior)


def sampled(**options) -> aptmc.Run:
    return aptmc.sample(
        problem(), budget=150.0, ladder=aptmc.Ladder.powers(3), kernel=aptmc.RandomWalk(0.7),
        schedule=aptmc.Anytime(every=3.0), pools=aptmc.Shared(2), on=aptmc.VirtualTime(1), seed=1,
        **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> aptmc.Run:
    return sampled(store=tmp_path_factory.mktemp("variables") / "run")


@pytest.fixture(scope="module")
def in_memory() -> aptmc.Run:
    return sampled(warmup=30.0)


@pytest.mark.parametrize("kind", ["in_memory", "stored", "opened"])
def test_a_vector_is_one_variable_with_dims_and_places(kind, in_memory, stored) -> None:
    run = (
        aptmc.open(stored.path) if kind == "opened" else {"in_memory": in_memory}.get(kind, stored)
    )
    groups = ["posterior", "warmup_posterior"] if kind == "in_memory" else ["posterior"]
    for group in groups:
        data = run.draws[group]
        assert list(data.data_vars) == ["rate", "beta", "k", "s", "z"]
        dims = {name: values.dims[2:] for name, values in data.data_vars.items()}
        assert dims == {
            "rate": (), "beta": ("city",), "k": (), "s": ("s_dim_0",), "z": ("z_dim_0", "z_dim_1"),
        }  # fmt: skip
        assert data["city"].values.tolist() == CITIES
        assert data["k"].dtype == np.int64
        np.testing.assert_allclose(data["s"].sum("s_dim_0"), 1.0, rtol=1e-12)
    length = run.draws.posterior.sizes["draw"]
    for chain, states in enumerate(run.chains()):
        oslo = run.draws.posterior["beta"].sel(city="Oslo", chain=chain)
        np.testing.assert_array_equal(oslo, states.state[:length, 2])
    assert set(run.draws.sample_stats.data_vars) >= {"log_likelihood", "time"}


def test_draws_from_disk_are_those_in_memory(stored) -> None:
    opened, eager = aptmc.open(stored.path), sampled()
    for name in ("rate", "beta", "k", "s", "z"):
        values = eager.draws.posterior[name]
        np.testing.assert_array_equal(opened.draws.posterior[name].values, values.values)
        assert opened.draws.posterior[name].dtype == values.dtype
        # A part is read as the same part of the whole.
        part = {"draw": slice(3, 9, 2), "chain": 1}
        np.testing.assert_array_equal(opened.draws.posterior[name].isel(part), values.isel(part))
    last = opened.draws.posterior["z"].isel(z_dim_1=1, z_dim_0=0, draw=[0, 5])
    np.testing.assert_array_equal(last, eager.draws.posterior["z"].values[:, [0, 5], 0, 1])


def test_tables_and_series_go_by_labels(stored) -> None:
    opened = aptmc.open(stored.path)
    for run in (stored, opened):
        assert tuple(run.summary()) == LABELS
        assert run.settings.problem.labels == LABELS
        frame = run.to_dataframe()
        assert tuple(frame.columns)[: len(LABELS) + 1] == ("chain", *LABELS)
        np.testing.assert_array_equal(frame["beta[Lima]"], np.concatenate(run.series("beta[Lima]")))
        assert [values.shape[1:] for values in run.series("beta")] == [(3,)] * 2
        np.testing.assert_allclose(frame["s[2]"], 1.0 - frame["s[0]"] - frame["s[1]"], atol=1e-12)
        with pytest.raises(
            aptmc.InputError, match=r"no parameter 'gamma': there are rate, beta\[Rome"
        ):
            run.series("gamma")


@pytest.mark.validation
def test_they_can_be_plotted_reported_and_written_to_a_file(stored, tmp_path) -> None:
    pytest.importorskip("matplotlib")
    assert len(aptmc.plots.marginals(stored).axes) >= len(LABELS)
    page = stored.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "beta[Oslo]" in page
    stored.to_netcdf(tmp_path / "draws.nc")


def test_a_move_is_rerun_by_parameters(stored) -> None:
    found = stored.rerun(stored.in_flight[0])
    assert tuple(found.before) == (*LABELS, "log_likelihood")
    assert found.before["k"] == int(found.before["k"])


def test_a_run_of_vectors_can_be_resumed_and_replayed(stored, tmp_path) -> None:
    run = sampled(store=tmp_path / "run")
    longer = aptmc.resume(tmp_path / "run", problem(), budget=50.0, on=aptmc.VirtualTime(1))
    assert longer.draws.posterior.sizes["draw"] > run.draws.posterior.sizes["draw"]
    assert aptmc.replay(tmp_path / "run", problem())


def test_a_store_that_says_names_only_can_be_opened(tmp_path) -> None:
    """As those did that were written before there were vectors."""
    from aptmc.result.archive import StoredProblem

    said = {
        "kind": "Tempered", "names": ["a", "b"], "value_name": "log_likelihood",
        "ladder_kind": "powers", "has_evidence": True,
    }  # fmt: skip
    problem = StoredProblem(json.loads(json.dumps(said)), 4)
    assert problem.labels == problem.names == ("a", "b")
    assert [variable.shape for variable in problem.variables] == [(), ()]
