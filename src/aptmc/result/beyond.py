"""What longer chains have beyond the shortest: nothing is lost, and ArviZ still works.

ArviZ wants chains of equal length. Padded with NaN, they would give NaN as its effective sample
sizes, errors and r-hat, and whole numbers would be none any more. So `posterior` has what all
chains have, and the rest is a group of its own, one draw after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

BEYOND = "beyond_"  # before the name of a group


def cut_note(lengths: Sequence[int]) -> dict[str, str]:
    """What to write on groups of which a part is elsewhere."""
    length, rest = min(lengths), sum(lengths) - min(lengths) * len(lengths)
    if rest == 0:
        return {}
    words = f"{sum(lengths):,} draws: the first {length:,} of each chain are here, "
    return {"chains": words + f"the other {rest:,}, of longer chains, in {BEYOND}posterior"}


def beyond(
    variables: Mapping[str, Any],
    lengths: Sequence[int],
    dims: Mapping[str, list[str]],
    coords: Mapping[str, list[Any]],
) -> xarray.Dataset:
    """The rest of some variables, by `sample`, each with its chain and its number there.

    :param lengths: of the chains
    :param dims: by variable, the names of its own dimensions
    :param coords: by dimension, what its places are called
    """
    import xarray

    rest = [length - min(lengths) for length in lengths]
    chain = np.repeat(np.arange(len(lengths)), rest)
    draw = np.concatenate([np.arange(min(lengths), length) for length in lengths])
    own = {dim for name in variables for dim in dims.get(name, ())}
    return xarray.Dataset(
        {name: (("sample", *dims.get(name, ())), values) for name, values in variables.items()},
        coords={"chain": ("sample", chain), "draw": ("sample", draw)}
        | {dim: places for dim, places in coords.items() if dim in own},
    )
