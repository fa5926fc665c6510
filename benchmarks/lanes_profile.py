"""What bounds the lanes: registers, memory or divergence, by NVIDIA's Nsight Compute.

    python -m benchmarks.lanes_profile                  profiles on this machine's GPU, in a minute
    python -m benchmarks.lanes_profile --file FILE.csv  the table of what was profiled before

Predators and prey in 262,144 lanes with 32 bits: chains come down the ladder and go on for a while,
and then a launch of each kernel is looked at, with 2,000 ticks of each lane. What the profiler said
of them is kept as `lanes_profile.csv` and `lanes_profile_raw.csv`, in the folder OUT if the
environment names one, else here.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import aptmc
from benchmarks.lanes import EVERY, TOLERANCES

FOLDER = Path(os.environ.get("OUT", "."))
DETAILS, RAW = "lanes_profile.csv", "lanes_profile_raw.csv"
SECTIONS = (
    "LaunchStats", "Occupancy", "SpeedOfLight", "SchedulerStats", "WarpStateStats",
    "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis", "InstructionStats", "SourceCounters",
)  # fmt: skip
LANES, DEADLINES = 1 << 18, 200  # of these passed before the one that is looked at
# What the profiler calls a number, and what we do.
LOOKED_AT = {
    "Duration": "duration",
    "Registers Per Thread": "registers of a thread",
    "Theoretical Occupancy": "occupancy that registers allow",
    "Achieved Occupancy": "occupancy achieved",
    "Issue Slots Busy": "issue slots busy",
    "Eligible Warps Per Scheduler": "warps ready to issue, of each scheduler",
    "Avg. Active Threads Per Warp": "threads of a warp that take part in an instruction, of 32",
    "Avg. Not Predicated Off Threads Per Warp": "the same without those that it switches off",
    "Branch Efficiency": "branches at which a warp stays together",
    "Compute (SM) Throughput": "reckoning, of what is possible",
    "DRAM Throughput": "memory, of what is possible",
    "L2 Cache Throughput": "second cache, of what is possible",
    "Executed Instructions": "instructions of warps",
}
STALLS = "smsp__average_warps_issue_stalled_"
STALLS_END = "_per_issue_active.ratio"
MOST_STALLS = 3


def profiler() -> str:
    """Nsight Compute, from the PATH."""
    found = shutil.which("ncu")
    if found is None:
        raise SystemExit("Nsight Compute, ncu, was not found: put it on the PATH")
    return found


def profile(lanes: int) -> None:
    """Have a process of its own looked at, and keep what was seen."""
    ncu = profiler()
    sections = [word for section in SECTIONS for word in ("--section", section)]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        report = str(Path(folder, "lanes.ncu-rep"))
        subprocess.run(
            [ncu, "--clock-control", "none", "--profile-from-start", "off", "--force-overwrite",
             *sections, "--export", report, sys.executable, "-m", "benchmarks.lanes_profile",
             "--launch", "--lanes", str(lanes)],
            check=True,
        )  # fmt: skip
        for page, name in (("details", DETAILS), ("raw", RAW)):
            said = subprocess.run(
                [ncu, "--import", report, "--page", page, "--csv"],
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            (FOLDER / name).write_text(said.stdout)


def launch(lanes: int, device: Any, *, profiled: bool) -> float:
    """Lanes on their way; of the last deadline the profiler is told. Gives its events."""
    from aptmc.backends.lanes.descent import Descent
    from aptmc.backends.lanes.fleet import Deadline, Voyage
    from aptmc.backends.lanes.model import lane_model
    from aptmc.backends.lanes.tables import Whole, empty_lanes, put_states
    from aptmc.models import stepwise_lotka_volterra

    problem, ladder = stepwise_lotka_volterra.problem(), aptmc.Ladder.tolerances(TOLERANCES)
    variances = 0.008 * np.array(TOLERANCES) ** 1.82
    kernel = aptmc.OneHit(np.sqrt(np.outer(variances, [1.0, 1e-2, 1.0])))
    levels, groups = np.array(TOLERANCES), lanes // len(TOLERANCES)
    voyage = Voyage(
        lane_model(problem, kernel, levels), levels, kernel.tuning(problem, ladder), groups,
        seed=1, takes_all=False, kept_lanes=groups,
    )  # fmt: skip
    rows = Descent(voyage, device, lambda words, share: None, lambda: None).states()
    columns = empty_lanes(voyage.places, voyage.lanes)
    put_states(columns, voyage.places, rows[:, : voyage.model.dimension + 2])
    columns.wholes[Whole.STARTED] = 1
    fleet = device.fleet(voyage)
    fleet.load(columns)
    fleet.run([Deadline(EVERY, number, False) for number in range(1, DEADLINES)])
    before = int(fleet.sums()[Whole.STEPS].sum())
    if profiled:
        import cupy

        cupy.cuda.runtime.deviceSynchronize()
        cupy.cuda.runtime.profilerStart()
    fleet.run([Deadline(EVERY, DEADLINES, True)])
    if profiled:
        cupy.cuda.runtime.profilerStop()
    events = int(fleet.sums()[Whole.STEPS].sum()) - before
    print(f"{voyage.lanes} lanes, {events} events in the launch that was profiled", flush=True)
    return float(events)


def rows_in(text: str) -> list[dict[str, str]]:
    """What the profiler has written as a table, without what it says before and after."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    return list(csv.DictReader(io.StringIO("\n".join(lines))))


def show(details: str, raw: str) -> None:
    """A column for each kernel."""
    said: dict[str, dict[str, str]] = {}
    for row in rows_in(details):
        kernel = row["Kernel Name"].partition("(")[0]
        number = f"{row['Metric Value']} {row['Metric Unit']}".strip()
        if row["Metric Name"]:
            said.setdefault(kernel, {}).setdefault(row["Metric Name"], number)
    print(f"| | {' | '.join(said)} |\n| --- |{' --- |' * len(said)}")
    for theirs, ours in LOOKED_AT.items():
        numbers = [found.get(theirs, "not told") for found in said.values()]
        print(f"| {ours} | {' | '.join(numbers)} |")
    # The first row of the raw table tells units.
    rows = [row for row in rows_in(raw) if row["Kernel Name"]]
    waits = {row["Kernel Name"].partition("(")[0]: longest_waits(row) for row in rows}
    told = [waits.get(kernel, "not told") for kernel in said]
    print(f"| what warps wait for, cycles of an instruction | {' | '.join(told)} |")


def longest_waits(row: dict[str, str]) -> str:
    """Why warps do not issue, most frequent first."""
    found = [
        (float(value.replace(",", "")), name.removeprefix(STALLS).removesuffix(STALLS_END))
        for name, value in row.items()
        if name.startswith(STALLS) and name.endswith(STALLS_END) and value
    ]
    longest = sorted(found, reverse=True)[:MOST_STALLS]
    return ", ".join(f"{name.replace('_', ' ')} {cycles:.2g}" for cycles, name in longest)


def main(given: list[str] | None = None) -> None:
    """Profile, or show what was profiled."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lanes_profile")
    parser.add_argument("--lanes", type=int, default=LANES)
    parser.add_argument("--file", type=Path, help=f"a {DETAILS} of before, beside a {RAW}")
    parser.add_argument("--launch", action="store_true", help="the program that is looked at")
    asked = parser.parse_args(given)
    if asked.launch:
        launch(asked.lanes, aptmc.Lanes(1, device="gpu", bits=32).device, profiled=True)
        return
    if asked.file is None:
        profile(asked.lanes)
    details = asked.file or FOLDER / DETAILS
    show(details.read_text(), details.with_name(RAW).read_text())


if __name__ == "__main__":
    main()
