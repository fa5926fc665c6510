"""Is it worth something to have several lanes on a rung of a group, or most on the coldest?

    python -m benchmarks.lanes_several                          in equal time, 10 runs of 2 s each
    python -m benchmarks.lanes_several --ticks 300000 --device cpu --lanes 96   in equal work

Predators and prey down to tolerance 0.4 on twelve rungs, or down to 1 on eight (`--tolerance 1`). A
row for each way in which lanes stand: what its runs are worth in independent draws of the three
posterior means, by their mean squared error against a long run (that of `lanes_precision`), and how
many draws that are for equally many events. In the last column it is told by how much the groups of
a run differ, which are independent and many: so a single run tells it. Means are kept, run by run,
in the folder OUT if the environment names one; runs of before are not made again.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aptmc
from benchmarks import tables
from benchmarks.lanes import predators
from benchmarks.lanes_precision import LADDERS
from benchmarks.lanes_precision import TABLE as REFERENCES

TABLE = Path(__file__).with_suffix(".json")
SETTLE = 0.4


class Standing(NamedTuple):
    """How lanes of a group stand on the rungs."""

    words: str
    lanes_per_rung: int = 1
    times: float = 0.0  # as many on the coldest as on all others together; 0: as on each of them

    def coldest(self, rungs: int) -> int | None:
        """How many lanes that is."""
        if self.times == 0.0:
            return None
        return max(round(self.times * self.lanes_per_rung * (rungs - 1)), 1)


STANDINGS = (
    Standing("one on each rung"),
    Standing("two on each rung", 2),
    Standing("a third as many on the coldest as on all others", times=1 / 3),
    Standing("as many on the coldest", times=1.0),
    Standing("three times as many on the coldest", times=3.0),
)


def measure(options: argparse.Namespace) -> str:
    """The runs that are missing, way by way in turn, so that a slow hour hits all of them."""
    table = tables.read(TABLE) or {"rows": []}
    tolerances = LADDERS[options.tolerance]
    on_device = str(aptmc.Lanes(1, device=options.device, bits=options.bits).device)
    length = f"{options.ticks} ticks" if options.ticks else f"{options.seconds:g} s"
    of = f"{options.lanes:,} lanes on {on_device}, {length}, tolerance {options.tolerance}"
    rows = [_row(table, of, standing) for standing in STANDINGS]
    for run in range(options.runs):
        for standing, row in zip(STANDINGS, rows, strict=True):
            if len(row["means"]) > run:
                continue
            unit: Any = "ticks" if options.ticks else "seconds"
            on = aptmc.Lanes(
                options.lanes, device=options.device, bits=options.bits, settle=SETTLE,
                lanes_per_rung=standing.lanes_per_rung,
                coldest=standing.coldest(len(tolerances)), budget_in=unit,
            )  # fmt: skip
            budget = options.ticks or options.seconds
            if not options.ticks and not row["means"]:
                predators(on, budget, tolerances, seed=1000)  # compiles, and does not count
            thin = 1 if options.ticks else 20
            found = predators(on, budget, tolerances, thin=thin, seed=run + 1)
            row["means"].append(found.means.tolist())
            row["by_groups"].append(((found.spreads / found.errors) ** 2).tolist())
            row["events"].append(found.events)
            row["seconds"].append(found.whole)
            row["date"] = datetime.date.today().isoformat()
            tables.write(TABLE, table)
    return of


def _row(table: dict[str, Any], of: str, standing: Standing) -> dict[str, Any]:
    for row in table["rows"]:
        if (row["of"], row["standing"]) == (of, standing.words):
            found: dict[str, Any] = row
            return found
    new: dict[str, Any] = {"of": of, "standing": standing.words, "means": [], "by_groups": []}
    new |= {"events": [], "seconds": []}
    table["rows"].append(new)
    return new


def show(of: str, tolerance: float) -> None:
    """A row for each way, of one kind of runs."""
    reference = tables.read(REFERENCES)["references"][str(tolerance)]
    print(f"{of}\n")
    print(
        "| lanes | runs | seconds of a run | events | worth in independent draws: birth, "
        "predation, death | draws for 10¹⁰ events | the same by groups |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )
    for row in tables.read(TABLE)["rows"]:
        if row["of"] != of or not row["means"]:
            continue
        off = np.array(row["means"]) - reference["means"]
        relative = (off / np.array(reference["spreads"])) ** 2
        worth = ", ".join(f"{value:,.0f}" for value in 1.0 / relative.mean(axis=0))
        events = float(np.mean(row["events"]))
        each = 1e10 / (relative.mean() * events)
        told = 1e10 / (np.mean(1.0 / np.array(row["by_groups"])) * events)
        print(
            f"| {row['standing']} | {len(off)} | {np.mean(row['seconds']):.1f} | {events:.2e} | "
            f"{worth} | {each:,.0f} | {told:,.0f} |"
        )


def main(given: list[str] | None = None) -> None:
    """Make the runs that are missing, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lanes_several")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2.0, help="the budget of a run")
    parser.add_argument("--ticks", type=int, help="or in ticks of each lane: equal work")
    parser.add_argument("--lanes", type=int, default=1 << 16)
    parser.add_argument("--tolerance", type=float, choices=list(LADDERS), default=0.4)
    parser.add_argument("--bits", type=int, choices=[32, 64], default=32)
    parser.add_argument("--device", choices=["auto", "gpu", "cpu"], default="auto")
    asked = parser.parse_args(given)
    show(measure(asked), asked.tolerance)


if __name__ == "__main__":
    main()
