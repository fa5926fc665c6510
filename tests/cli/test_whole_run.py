"""One run on real processes, as a user would call it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import aptmc
from aptmc.cli import main
from aptmc.cli.command import GOOD

SOURCE = """
from scipy import stats
import aptmc

def log_likelihood(theta):
    return -0.5 * (theta[0] - 2.0) ** 2

problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.norm(0, 3)))
"""
BUDGET = "400 moves"  # of some milliseconds each, however busy the machine is


@pytest.mark.validation
def test_a_file_is_sampled_stored_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    path, store, report = (tmp_path / name for name in ("my_model.py", "run.zarr", "run.html"))
    path.write_text(SOURCE)
    options = ["--workers", "2", "--seed", "1", "--quiet", "--json"]
    places = ["--store", str(store), "--report", str(report)]
    try:
        code = main(["run", f"{path}:problem", "--budget", BUDGET, *options, *places])
        captured = capfd.readouterr()
        assert code == GOOD, captured.err
        found = json.loads(captured.out)
        assert found["stopped"] == "budget_spent"
        x = found["posterior"]["x"]
        # The prior's precision is a ninth, so the mean is 2 / (1 + 1/9).
        assert abs(x["mean"] - 1.8) < 5 * x["mcse"]
        assert captured.err == f"the report is {report}\n"
        assert "Processors" in report.read_text(encoding="utf-8")
        assert main(["replay", str(store), f"{path}:problem"]) == GOOD
        assert aptmc.open(store).settings.seed == 1
    finally:
        sys.modules.pop("my_model", None)
