"""What a sampler keeps of its steps: arrays that grow, in ptemcee's shapes."""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats, FloatTable

Array = npt.NDArray[np.float64]


@final
class StoredChain:
    """Steps that were kept.

    :param ntemps: how many temperatures
    :param nwalkers: how many walkers on each
    :param dim: how many parameters
    """

    def __init__(self, ntemps: int, nwalkers: int, dim: int) -> None:
        self.steps = 0
        self._positions = np.zeros((ntemps, nwalkers, 0, dim))
        self._log_likelihoods = np.zeros((ntemps, nwalkers, 0))
        self._log_probabilities = np.zeros((ntemps, nwalkers, 0))
        self._betas = np.zeros((ntemps, 0))

    def make_room(self, steps: int) -> None:
        """Have room for so many more steps, zeros until they are made."""
        more = self.steps + steps - self._betas.shape[1]
        if more <= 0:
            return
        widths: dict[str, int] = {
            "_positions": 2, "_log_likelihoods": 2, "_log_probabilities": 2, "_betas": 1
        }  # fmt: skip
        for name, axis in widths.items():
            kept = getattr(self, name)
            # Zeros that nobody has written to take no memory yet, unless they are copied.
            room = np.zeros((*kept.shape[:axis], more, *kept.shape[axis + 1 :]))
            setattr(self, name, np.concatenate([kept, room], axis=axis) if kept.size else room)

    def append(
        self, positions: Array, log_likelihoods: FloatTable, log_probabilities: FloatTable,
        betas: Floats,
    ) -> None:  # fmt: skip
        """Keep a step, for which there is room."""
        self._positions[:, :, self.steps] = positions
        self._log_likelihoods[:, :, self.steps] = log_likelihoods
        self._log_probabilities[:, :, self.steps] = log_probabilities
        self._betas[:, self.steps] = betas
        self.steps += 1

    # Places that were made ready and not used, because whoever asked for steps has had enough, are
    # zeros in ptemcee; here they are left out once the next steps are asked for.

    def leave_out_the_rest(self) -> None:
        """Give back the room that was not used."""
        self._positions = self._positions[:, :, : self.steps]
        self._log_likelihoods = self._log_likelihoods[:, :, : self.steps]
        self._log_probabilities = self._log_probabilities[:, :, : self.steps]
        self._betas = self._betas[:, : self.steps]

    @property
    def positions(self) -> Array:
        """Of shape (ntemps, nwalkers, steps, dim)."""
        return self._positions

    @property
    def log_likelihoods(self) -> Array:
        """Of shape (ntemps, nwalkers, steps)."""
        return self._log_likelihoods

    @property
    def log_probabilities(self) -> Array:
        """Of shape (ntemps, nwalkers, steps)."""
        return self._log_probabilities

    @property
    def betas(self) -> Array:
        """Of shape (ntemps, steps)."""
        return self._betas
