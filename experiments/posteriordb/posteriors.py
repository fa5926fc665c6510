"""Data and reference numbers of posteriors, whatever language their models are in.

They are those of github.com/stan-dev/posteriordb (commit 28f8d3d), under the licence beside this
file; `collect.py` takes them from there. Two have modes that NUTS cannot leave: the mixture of
posteriordb without an order of its labels, whose truth is that of posteriordb with each order half
of the time, and `two_signs`.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.posteriordb import two_signs


class Posterior(NamedTuple):
    """Its data and, by parameter: mean and its error, standard deviation and its error."""

    name: str
    data: dict[str, Any]
    reference: dict[str, list[float]]


# By the name that it has here: the name there, and what its model needs of the data there.
THERE = {
    "eight_schools_centered": ("eight_schools-eight_schools_centered", ("y", "sigma")),
    "eight_schools_noncentered": ("eight_schools-eight_schools_noncentered", ("y", "sigma")),
    "lotka_volterra": ("hudson_lynx_hare-lotka_volterra", ("ts", "y_init", "y")),
    "arK": ("arK-arK", ("y", "K")),
    "garch": ("garch-garch11", ("y", "sigma1")),
    "low_dim_gauss_mix": ("low_dim_gauss_mix-low_dim_gauss_mix", ("y",)),
    "blr": ("sblrc-blr", ("y", "X")),
    "mixture_of_two_labels": ("mixture_of_two_labels", ("y",)),
}
NAMES = (*THERE, "two_signs")


def posterior(name: str) -> Posterior:
    """A posterior by its name."""
    if name == "two_signs":
        data = {key: two_signs.DATA[key] for key in ("y", "error")}
        return Posterior(name, _arrays(data), two_signs.truth())
    there, wanted = THERE[name]
    return Posterior(
        name,
        _arrays({key: whole_data(name)[key] for key in wanted}),
        _kept()[there]["reference"],
    )


def whole_data(name: str) -> dict[str, Any]:
    """All data as Stan's programs want them."""
    if name == "two_signs":
        return two_signs.DATA
    kept = _kept()[THERE[name][0]]["data"]
    return whole_data(kept) if isinstance(kept, str) else dict(kept)


def _arrays(data: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value if isinstance(value, int | float) else np.array(value, float)
        for key, value in data.items()
    }


@lru_cache(None)
def _kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("references.json").read_text())
    return found
