"""The draws of a run in the forms of other packages, which are imported when they are wanted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.errors import InputError
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
    """The draws as `InferenceData` of the older ArviZ."""
    try:
        from arviz import InferenceData
    except ImportError:
        raise InputError(
            "InferenceData belongs to ArviZ before version 1: pip install 'arviz<1'; with the "
            "newer one use run.draws as it is"
        ) from None
    groups = {name: node.to_dataset() for name, node in draws.load().children.items()}
    return InferenceData(**groups)
