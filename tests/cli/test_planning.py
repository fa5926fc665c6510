"""`aptmc plan`, on a pilot that was made in virtual time."""

from __future__ import annotations

import json

import pytest

import aptmc
from aptmc.cli import main
from aptmc.cli.command import GOOD, MISUSED
from tests.support import seen

QUICK = ["--effort", "2000"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(seen.stored(tmp_path_factory.mktemp("pilot")))


Captured = pytest.CaptureFixture[str]


def test_a_table_and_findings_are_printed(store: str, capsys: Captured) -> None:
    assert main(["plan", store, "--workers", "2,8", "--cost", "0.01", *QUICK]) == GOOD
    head, *rest = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["processors", "coordinators"]
    assert [line.split()[0] for line in rest[:2]] == ["2", "8"]
    assert any("one coordinator is the limit" in line for line in rest)


def test_numbers_for_programs_are_those_of_the_function(store: str, capsys: Captured) -> None:
    words = ["--workers", "8", "--latency", "500ms", "--cost", "0", "--every", "4", "--seed", "3"]
    more = ["--chains-per-rung", "3", "--ahead", "0", "--no-group"]
    assert main(["plan", store, *words, *more, *QUICK, "--json"]) == GOOD
    expected = aptmc.plan(
        store, 8, latency=0.5, cost=0, every=4, seed=3, chains_per_rung=3, ahead=0, group=False,
        effort=2000,
    )  # fmt: skip
    said = json.loads(capsys.readouterr().out)
    assert said == expected.to_dict()
    assert said["latency"] == 0.5
    assert said["predictions"][0]["chains"] == 12


def test_help_teaches(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["plan", "--help"])
    assert exit.value.code == GOOD
    assert "aptmc plan pilot.zarr --workers 4,64,1024" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--workers", "many"], "whole numbers with commas between, got 'many'"),
        (["--workers", "0"], "workers must be a whole number from 1 on, got 0"),
        (["--workers", "16", "--chains-per-rung", "1"], "use chains_per_rung=5"),
        (["--workers", "4", "--latency", "soon"], "latency must be a positive duration"),
    ],
)
def test_misuse_is_explained(store: str, words: list[str], answer: str, capsys: Captured) -> None:
    assert main(["plan", store, *words, *QUICK]) == MISUSED
    assert answer in capsys.readouterr().err


def test_a_pilot_that_is_not_there(tmp_path, capsys: Captured) -> None:
    assert main(["plan", str(tmp_path / "no.zarr"), "--workers", "4"]) == MISUSED
    assert "no.zarr" in capsys.readouterr().err
