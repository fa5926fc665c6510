"""The draws of a run in the forms of other packages, which are imported when they are wanted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.errors import InputError
from aptmc.result.older_arviz import inference_data
from aptmc.result.sources import labelled, statistics, values_of

if TYPE_CHECKING:
    import pandas
    import xarray

    from aptmc.result.run import Run


def to_dataframe(run: Run, rung: int) -> pandas.DataFrame:
    """All draws of a rung as a table of pandas."""
    try:
        import pandas
    except ImportError:
        raise InputError("tables need pandas: pip install pandas") from None

    problem = run.settings.problem
    sources = labelled(problem) | statistics(problem)
    frames = []
    for number, draws in enumerate(run.chains(rung)):
        columns = {"chain": np.full(draws.time.size, number)}
        columns |= {name: values_of(draws, source) for name, source in sources.items()}
        frames.append(pandas.DataFrame(columns))
    return pandas.concat(frames, ignore_index=True)


def to_netcdf(draws: xarray.DataTree, path: str | os.PathLike[str]) -> None:
    """Write a netCDF file in ArviZ's layout."""
    try:
        draws.load().to_netcdf(path)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"netCDF files need another package ({error}): pip install 'aptmc[netcdf]'"
        ) from error


def to_inference_data(draws: xarray.DataTree) -> Any:
    """The draws in the class that the installed ArviZ keeps draws in."""
    try:
        import arviz
    except ImportError:
        raise InputError(
            "InferenceData belongs to ArviZ, which is not installed: pip install arviz; run.draws "
            "is the same as a DataTree, without it"
        ) from None
    draws.load()
    # Since version 1 the name is there for a warning only, and means a DataTree.
    return inference_data(draws) if "InferenceData" in vars(arviz) else draws
