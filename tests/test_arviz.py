"""Draws in ArviZ, whichever of its two generations is installed."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

import aptmc


@pytest.fixture(scope="module", autouse=True)
def az() -> ModuleType:
    """The one that is installed; all tests of this file need it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the older one takes note that it will change
        library: ModuleType = pytest.importorskip("arviz")
    return library


@pytest.fixture
def is_older(az: ModuleType) -> bool:
    return int(az.__version__.partition(".")[0]) < 1


def sample(chains: int = 2, **more: object) -> aptmc.Run:
    problem = aptmc.Tempered(
        lambda theta: -0.5 * (theta[0] - 1.0) ** 2,
        aptmc.Prior(x=stats.norm(0, 3), beta=stats.norm([0.0, 5.0], 1.0)),
    )
    return aptmc.sample(
        problem,
        budget=600,
        ladder=aptmc.Ladder.powers([1, 0.3, 0]),
        kernel=aptmc.RandomWalk(1.5),
        schedule=aptmc.Anytime(every=3),
        pools=aptmc.Shared(2, coldest=chains),
        on=aptmc.VirtualTime(2),
        seed=3,
        **more,
    )


@pytest.fixture(scope="module")
def run() -> aptmc.Run:
    return sample()


def test_its_summary_takes_the_draws_and_tells_all_chains_apart(
    run: aptmc.Run, az: ModuleType, is_older: bool
) -> None:
    table = az.summary(run.draws, round_to="none") if is_older else az.summary(run.draws)
    assert list(table.index) == ["x", "beta[0]", "beta[1]"]
    posterior = run.draws["posterior"]
    assert posterior.sizes["chain"] == 2
    mean = float(np.asarray(table["mean"], float)[2])
    assert mean == pytest.approx(float(posterior["beta"][..., 1].mean()), abs=0.05)
    assert np.isfinite(np.asarray(table["r_hat"], float)).all()


@pytest.mark.validation
def test_it_plots_the_draws(run: aptmc.Run, az: ModuleType, is_older: bool) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        try:
            axes = az.plot_trace(run.draws)
            if is_older:  # densities and traces of three numbers
                assert sum(len(one.lines) for one in axes.flat) >= 2 * 3 * 2
            az.plot_pair(run.draws)
        finally:
            pyplot.close("all")


@pytest.mark.validation
def test_plots_of_the_newer_one_have_a_line_for_each_chain(run: aptmc.Run) -> None:
    """They are a library of their own, which suits Python 3.11 with an older matplotlib, too."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        try:
            plots = import_module("arviz_plots")
        except (ImportError, AttributeError) as error:
            pytest.skip(f"arviz_plots is not here, or not for this matplotlib: {error}")
        try:
            lines = plots.plot_trace(run.draws, backend="matplotlib").viz["trace"]
        finally:
            pyplot.close("all")
    assert dict(lines["x"].sizes) == {"chain": 2}
    assert lines["beta"].sizes["chain"] == 2
    assert lines["beta"].size == 4


def test_it_is_given_its_own_kind_of_data(run: aptmc.Run, az: ModuleType, is_older: bool) -> None:
    data = run.to_inference_data()
    if is_older:
        assert isinstance(data, az.InferenceData)
        assert data.groups() == ["posterior", "sample_stats"]
        assert not any("beyond" in group for group in sample(3).to_inference_data().groups())
    else:
        assert data is run.draws
    assert np.array_equal(data["posterior"]["x"], run.draws["posterior"]["x"])


def test_a_stored_run_is_read_when_it_is_asked_for(tmp_path: Path, az: ModuleType) -> None:
    sample(store=tmp_path / "run.zarr")
    assert len(az.summary(aptmc.open(tmp_path / "run.zarr").draws)) == 3


def test_the_older_one_may_be_imported_later(
    run: aptmc.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "arviz"
    package.mkdir()
    (package / "__init__.py").write_text(
        "__version__ = '0.20'\n"
        "class InferenceData:\n"
        "    def __init__(self, attrs=None, **groups):\n"
        "        self.found = groups\n"
        "def convert_to_inference_data(obj, *, group='posterior'):\n"
        "    if isinstance(obj, InferenceData):\n"
        "        return obj\n"
        "    raise TypeError('unknown')\n"
        "from arviz import stats\n"
    )
    (package / "stats.py").write_text(
        "from arviz import convert_to_inference_data\n"
        "def summary(data):\n"
        "    return list(convert_to_inference_data(data).found)\n"
    )
    for name in [name for name in sys.modules if name.partition(".")[0] == "arviz"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    draws = sample().draws  # before it is imported
    import arviz

    assert arviz.__version__ == "0.20"
    assert arviz.stats.summary(draws) == ["posterior", "sample_stats"]
    with pytest.raises(TypeError, match="unknown"):  # all else is as it was
        arviz.stats.summary("something else")
    for name in ("arviz", "arviz.stats"):
        monkeypatch.delitem(sys.modules, name)
