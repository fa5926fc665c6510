"""Scripts that measure lanes on a GPU: all of them that can be tried without one."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import aptmc
from benchmarks import lanes_growth, lanes_precision, lanes_profile, lanes_several, tables


@pytest.fixture
def out(tmp_path, monkeypatch):
    monkeypatch.setenv("OUT", str(tmp_path / "out"))
    return tmp_path / "out"


def test_tables_go_to_the_folder_that_is_handed_back(out, tmp_path, monkeypatch):
    table = tmp_path / "table.json"
    assert tables.read(table) is None
    monkeypatch.delenv("OUT")
    tables.write(table, {"old": 1})
    monkeypatch.setenv("OUT", str(out))
    assert tables.read(table) == {"old": 1}
    tables.write(table, {"new": 2})
    assert tables.read(table) == {"new": 2}
    assert [file.name for file in out.iterdir()] == ["table.json"]
    monkeypatch.delenv("OUT")
    assert tables.read(table) == {"old": 1}


def test_runs_that_are_missing_are_added_to_those_of_before(out, monkeypatch, capsys):
    made = []

    def runs(options):
        def one(seed):
            made.append(seed)
            if len(made) == 2:
                raise KeyboardInterrupt
            return 1.0 + seed, [0.9, 0.01, 1.1]

        return one

    monkeypatch.setitem(lanes_precision.MAKERS, "pyabc", runs)
    name = "pyABC, 15 processes, 1,000 particles"
    asked = ["--who", "pyabc", "--tolerance", "1", "--runs", "7"]
    (kept,) = rows_of(name)
    before = len(kept["means"])
    with pytest.raises(KeyboardInterrupt):
        lanes_precision.main(asked)
    lanes_precision.main(asked)
    assert made == [before, before + 1, before + 1, before + 2]
    (row,) = rows_of(name)
    assert row["seconds"] == [*kept["seconds"], *(1.0 + seed for seed in range(before, 7))]
    assert len(row["means"]) == 7
    lanes_precision.main(asked)
    assert "has 7 runs at tolerance 1.0 already" in capsys.readouterr().out
    lanes_precision.main([*asked, "--anew", "--patience", "-1"])
    (row,) = rows_of(name)
    assert row["seconds"] == [1.0]
    lanes_precision.main([])
    assert "| 1 | 1.0 |" in capsys.readouterr().out


def rows_of(name):
    table = tables.read(lanes_precision.TABLE)
    return [row for row in table["rows"] if (row["of"], row["tolerance"]) == (name, "1.0")]


def test_growth_keeps_each_number_of_lanes(out, monkeypatch, capsys):
    found = SimpleNamespace(lanes=64, events=10.0, seconds=2.0)
    monkeypatch.setattr(lanes_growth, "predators", lambda on, budget: found)
    monkeypatch.setattr(lanes_growth, "show_predators", lambda name, found: None)
    lanes_growth.measure(range(5, 9), device="cpu")
    table = tables.read(lanes_growth.TABLE)
    assert table["device"] == "processors"
    assert [row["bits"] for row in table["rows"]] == [32, 32, 32, 32, 64, 64]
    assert table["rows"][0]["events_per_second"] == 5.0


def test_ways_to_stand_are_measured_in_turn_and_kept(out, monkeypatch, capsys):
    stood = []

    def predators(on, budget, tolerances, *, thin, seed):
        stood.append((on.own_pools.lanes_per_rung, on.own_pools.coldest, seed))
        means = np.array(tables.read(lanes_several.REFERENCES)["references"]["1.0"]["means"])
        spreads = np.array([0.2, 0.005, 0.5])
        return SimpleNamespace(
            means=means + 0.01 * spreads, spreads=spreads, errors=0.02 * spreads, events=1e9,
            whole=1.0,
        )  # fmt: skip

    monkeypatch.setattr(lanes_several, "predators", predators)
    asked = ["--ticks", "10", "--device", "cpu", "--lanes", "96", "--tolerance", "1", "--runs"]
    lanes_several.main([*asked, "1"])
    ways = [(1, None), (2, None), (1, 2), (1, 7), (1, 21)]
    assert stood == [(*way, 1) for way in ways]
    lanes_several.main([*asked, "2"])
    assert stood[5:] == [(*way, 2) for way in ways]
    said = capsys.readouterr().out
    assert "| 2 | 1.0 | 1.00e+09 | " in said
    assert said.count(" | 25,000 |") == 10  # by groups
    kept = tables.read(lanes_several.TABLE)["rows"][-5:]  # behind what was measured elsewhere
    assert [len(row["means"]) for row in kept] == [2] * 5


DETAILS = """==PROF== Connected
"ID","Kernel Name","Section","Metric Name","Metric Unit","Metric Value","Rule Name"
"0","advance(long long, float *)","Launch","Registers Per Thread","register/thread","67",""
"0","advance(long long, float *)","Warp State","Avg. Active Threads Per Warp","","17.5",""
"0","advance(long long, float *)","Warp State","","","","a rule"
"1","exchange(long long)","Launch","Registers Per Thread","register/thread","40",""
"""
RAW = """"ID","Kernel Name","smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",\
"smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio"
"","","inst","inst"
"0","advance(long long, float *)","1.25","2.5"
"""


def test_what_the_profiler_said_is_a_table(tmp_path, capsys):
    (tmp_path / lanes_profile.DETAILS).write_text(DETAILS)
    (tmp_path / lanes_profile.RAW).write_text(RAW)
    lanes_profile.main(["--file", str(tmp_path / lanes_profile.DETAILS)])
    said = capsys.readouterr().out
    assert "| | advance | exchange |" in said
    assert "| registers of a thread | 67 register/thread | 40 register/thread |" in said
    assert "| threads of a warp that take part in an instruction, of 32 | 17.5 | not told |" in said
    assert "cycles of an instruction | not selected 2.5, wait 1.2 | not told |" in said


def test_the_profiler_is_given_the_program_and_what_it_says_is_kept(tmp_path, monkeypatch, capsys):
    """By a profiler that starts nothing."""
    fake = tmp_path / "ncu"
    fake.write_text(f"#!{sys.executable}\nimport sys\n" + FAKE)
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(lanes_profile, "FOLDER", tmp_path)
    lanes_profile.main(["--lanes", "80"])
    assert "| registers of a thread | 67 |" in capsys.readouterr().out
    asked = (tmp_path / "asked").read_text()
    assert "--clock-control none --profile-from-start off" in asked
    assert "--launch --lanes 80" in asked


FAKE = """
words = sys.argv[1:]
if "--export" in words:
    import pathlib
    pathlib.Path(__file__).with_name("asked").write_text(" ".join(words))
elif "details" in words:
    print('"Kernel Name","Metric Name","Metric Unit","Metric Value"')
    print('"advance()","Registers Per Thread","","67"')
else:
    print('"Kernel Name","x"')
"""


def test_what_is_profiled_goes_its_way(monkeypatch):
    device = aptmc.Lanes(1, device="cpu").device
    for name, value in (("DEADLINES", 2), ("EVERY", 20), ("TOLERANCES", (20.0, 40.0))):
        monkeypatch.setattr(lanes_profile, name, value)
    events = lanes_profile.launch(16, device, profiled=False)
    assert 0.5 * 16 * 20 < events <= 16 * 20
