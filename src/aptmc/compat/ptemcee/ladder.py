"""ptemcee's ladder: geometric, so that a normal posterior would swap every fourth time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats
from aptmc.errors import InputError

SWAP_RATE = 0.25


def default_beta_ladder(
    ndim: int,
    ntemps: int | None = None,
    Tmax: float | None = None,  # noqa: N803
) -> Floats:
    """Inverse temperatures from 1 down, by their number, by the highest temperature, or by both.

    With `Tmax=np.inf` the last is 0, the prior. With a finite one and a number, they are spaced
    geometrically between; with one alone, so that neighbours would swap every fourth time if the
    posterior were a normal one.

    >>> default_beta_ladder(2, ntemps=3)
    array([1.        , 0.14285714, 0.02040816])
    >>> default_beta_ladder(2, ntemps=3, Tmax=np.inf)
    array([1.        , 0.14285714, 0.        ])
    >>> default_beta_ladder(5, ntemps=3, Tmax=100)
    array([1.  , 0.1 , 0.01])
    """
    if not isinstance(ndim, int | np.integer) or isinstance(ndim, bool) or ndim < 1:
        raise InputError(f"the number of dimensions must be a whole number from 1, got {ndim!r}")
    if ntemps is None and Tmax is None:
        raise InputError("a ladder needs ntemps, Tmax or both, got neither: use ntemps=10, say")
    is_number = isinstance(ntemps, int | np.integer) and not isinstance(ntemps, bool)
    if ntemps is not None and (not is_number or ntemps < 1):
        raise InputError(f"ntemps must be a whole number from 1, got {ntemps!r}")
    if Tmax is not None and not Tmax > 1.0:
        raise InputError(f"Tmax must be greater than 1, the coldest temperature, got {Tmax!r}")
    step = _step(int(ndim))
    if Tmax is None or Tmax == math.inf:
        if ntemps is None:
            raise InputError("with an infinite Tmax a ladder needs its number, too: use ntemps=10")
        finite = ntemps if Tmax is None else ntemps - 1
        powers = step ** -np.arange(finite, dtype=np.float64)
        return powers if Tmax is None else np.append(powers, 0.0)
    count = int(math.log(Tmax) / math.log(step)) + 2 if ntemps is None else int(ntemps)
    return np.logspace(0.0, -math.log10(Tmax), count)


def checked_betas(betas: Sequence[float] | npt.NDArray[np.float64]) -> Floats:
    """A ladder that was given, coldest first."""
    levels = np.sort(np.array(betas, dtype=np.float64).ravel())[::-1].copy()
    if levels.size == 0 or levels[0] != 1.0 or not (levels >= 0.0).all():
        raise InputError(f"betas must begin at 1, the posterior, and not be negative, got {betas}")
    return levels


def _step(dimension: int) -> float:
    """By what factor two temperatures differ whose chains swap that often.

    Energies are gamma distributed. By symmetry swaps are accepted twice as often as the colder
    chain's energy is the higher one, and the share of one in the sum of both is a beta variable.
    """
    from scipy.special import betaincinv

    share = float(betaincinv(dimension / 2.0, dimension / 2.0, SWAP_RATE / 2.0))
    return 1.0 / share - 1.0
