"""Models of posteriordb, here and by their languages: `python -m experiments.posteriordb`.

What was measured is kept in .cache/posteriordb, and not measured again. PyMC wants an older numba
than the rest of the project is tested with: `make frontends` makes an environment. Programs of
Stan need a compiler and BridgeStan's sources, which it downloads, or finds in BRIDGESTAN.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from experiments.posteriordb.drawn import LANGUAGES, SLICES, THEIRS
from experiments.posteriordb.posteriors import NAMES
from experiments.posteriordb.table import table

SEVERAL_MODES = ("mixture_of_two_labels", "two_signs")
CACHE = Path(__file__).resolve().parents[2] / ".cache" / "posteriordb"


def main() -> None:
    """Measure the cells that were asked for, each in a process of its own, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.posteriordb", description=__doc__)
    parser.add_argument("names", nargs="*", help="which posteriors (default: all)")
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--seconds", type=float, default=20.0, help="budget of each of our runs")
    parser.add_argument("--python", default=sys.executable, help="of another environment")
    parser.add_argument("--kept", action="store_true", help="print what was measured before")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no posterior {', '.join(unknown)}: choose of {', '.join(NAMES)}")
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for name in options.names or NAMES:
        for language in options.languages:
            own = ("aptmc", SLICES) if name in SEVERAL_MODES else ("aptmc",)
            for who in (*own, *THEIRS[language]):
                seconds = options.seconds if who in own else 0.0
                kept = CACHE / f"{name}-{language}-{who}-{seconds:g}.json"
                if not kept.exists() and not options.kept:
                    asked = [name, language, who, str(kept), str(seconds)]
                    module = [options.python, "-m", "experiments.posteriordb.drawn"]
                    subprocess.run([*module, *asked], check=False)
                if kept.exists():
                    found[name, language, who] = json.loads(kept.read_text())
    print(table(found))


if __name__ == "__main__":
    main()
