"""The picture of how events per second grow with the number of lanes.

python -m benchmarks.lanes_growth            draws what stands in the table beside this file
python -m benchmarks.lanes_growth --measure  measures on this machine's GPU first, for 2 minutes

With the environment variable OUT the table goes into that folder, row by row, and so does the
picture.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path
from typing import Any, Literal

import aptmc
from aptmc.plots.style import figure
from benchmarks import tables
from benchmarks.lanes import HEAD, predators, show_predators

TABLE = Path(__file__).with_suffix(".json")
PICTURE = Path("docs/figures/lanes_growth.png")
MODEL = "predators and prey, tolerances 1 to 6 on 8 rungs"
# As many as fit into memory; with so many, a chain needs longer to forget where it began.
POWERS, MANY = range(10, 22), 18
SECONDS, MORE_SECONDS = 3.0, 12.0
BOTH_BITS: tuple[Literal[32, 64], ...] = (32, 64)
STRIDES = {32: 1, 64: 3}  # with 64 bits every third power will do
HEIGHT, RESOLUTION, TOP = 3.4, 160, 4e11


def measure(
    powers: range = POWERS, seconds: tuple[float, float] = (SECONDS, MORE_SECONDS),
    device: Literal["gpu", "cpu"] = "gpu",
) -> None:  # fmt: skip
    """Runs with more and more lanes; what a smaller number has shown is kept, whatever comes."""
    rows: list[dict[str, Any]] = []
    date = datetime.date.today().isoformat()
    name = str(aptmc.Lanes(1, device=device).device).partition(" with ")[0]
    print(HEAD)
    for bits in BOTH_BITS:
        for power in powers[:: STRIDES[bits]]:
            on = aptmc.Lanes(1 << power, device=device, bits=bits, settle=0.4)
            found = predators(on, seconds[power >= MANY])
            rate = found.events / found.seconds
            size = {"bits": bits, "lanes": found.lanes}
            rows.append(size | {"events_per_second": rate, "date": date})
            show_predators(f"{bits} bits", found)
            tables.write(TABLE, {"device": name, "model": MODEL, "rows": rows})


def draw(table: dict[str, Any], file: Path) -> None:
    """One line for each number of bits."""
    with figure(HEIGHT) as page:
        axes = page.subplots()
        for bits in BOTH_BITS:
            rows = [row for row in table["rows"] if row["bits"] == bits]
            lanes = [row["lanes"] for row in rows]
            events = [row["events_per_second"] for row in rows]
            axes.plot(lanes, events, marker="o", label=f"{bits} bits, {_dates(rows)}")
            if bits == BOTH_BITS[0]:  # what there would be if lanes had all they want
                ends = [lanes[0], lanes[0] * TOP / events[0]]
                axes.plot(ends, [events[0], TOP], ls=":", color="0.5", label="in proportion")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set(xlabel="lanes", ylabel="events per second")
        axes.set_title(f"{table['device']}: {table['model']}")
        axes.legend()
        page.savefig(file, dpi=RESOLUTION)


def _dates(rows: list[dict[str, Any]]) -> str:
    """When rows were measured."""
    return ", ".join(sorted({row["date"] for row in rows}))


def main() -> None:
    """Measure if that is asked for, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--file", type=Path, help=f"of the picture (default: {PICTURE})")
    asked = parser.parse_args()
    if asked.measure:
        measure()
    draw(tables.read(TABLE), asked.file or tables.written_to(PICTURE))


if __name__ == "__main__":
    main()
