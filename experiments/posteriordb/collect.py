"""Takes data and reference draws from a clone of stan-dev/posteriordb, and keeps what is needed.

python -m experiments.posteriordb.collect PATH, a git folder of that repository, writes
`references.json`: the data, and means, standard deviations and their standard errors of the
reference draws, which are ten thousand nearly independent ones.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
# By the name of a posterior: its data and, where the draws are kept under another name, that.
POSTERIORS = {
    "eight_schools-eight_schools_centered": (
        "eight_schools", "eight_schools-eight_schools_noncentered",
    ),
    "eight_schools-eight_schools_noncentered": ("eight_schools", None),
    "sblrc-blr": ("sblrc", None),
    "arK-arK": ("arK", None),
    "garch-garch11": ("garch", None),
    "hudson_lynx_hare-lotka_volterra": ("hudson_lynx_hare", None),
    "low_dim_gauss_mix-low_dim_gauss_mix": ("low_dim_gauss_mix", None),
}  # fmt: skip


def read(repository: str, path: str) -> Any:
    """A zipped file of the repository."""
    show = ["git", "-C", repository, "show", f"HEAD:posterior_database/{path}.json.zip"]
    kept = zipfile.ZipFile(io.BytesIO(subprocess.run(show, check=True, capture_output=True).stdout))
    return json.loads(kept.read(kept.namelist()[0]))


def numbers_of(draws: list[dict[str, list[float]]], orders: int = 1) -> dict[str, list[float]]:
    """By parameter: mean, its standard error, standard deviation, its standard error.

    :param orders: chains in a row that have the same draws, in several orders of labels
    """
    found = {}
    for name in draws[0]:
        values = np.concatenate([chain[name] for chain in draws])
        count, mean, sd = values.size, values.mean(), values.std(ddof=1)
        fourth = np.mean((values - mean) ** 4)
        together = values.reshape(len(draws) // orders, orders, -1).mean(axis=1)
        error = together.std(ddof=1) / np.sqrt(together.size)
        error_of_sd = np.sqrt(max(fourth - sd**4, 0.0) / count) / (2 * sd)
        found[name] = [float(f"{x:.8g}") for x in (mean, error, sd, error_of_sd)]
    return found


def both_orders(draws: list[dict[str, list[float]]]) -> list[dict[str, list[float]]]:
    """Draws of a mixture whose labels can be exchanged: each draw in both orders."""
    found = []
    for chain in draws:
        other = {"theta": [1 - share for share in chain["theta"]]}
        for name in ("mu", "sigma"):
            other |= {f"{name}[1]": chain[f"{name}[2]"], f"{name}[2]": chain[f"{name}[1]"]}
        found += [chain, other]
    return found


def main(repository: str) -> None:
    """Write what is kept."""
    kept = {}
    for posterior, (data, draws) in POSTERIORS.items():
        path = f"reference_posteriors/draws/draws/{draws or posterior}"
        kept[posterior] = {
            "data": read(repository, f"data/data/{data}"),
            "reference": numbers_of(read(repository, path)),
        }
    name = "low_dim_gauss_mix"
    draws = read(repository, f"reference_posteriors/draws/draws/{name}-{name}")
    kept["mixture_of_two_labels"] = {"data": name, "reference": numbers_of(both_orders(draws), 2)}
    (HERE / "references.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
