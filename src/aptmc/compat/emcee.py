"""A drop-in for the `PTSampler` that emcee had until version 3; ptemcee is its successor."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from aptmc.compat.ptemcee.ladder import default_beta_ladder
from aptmc.compat.ptemcee.sampler import Sampler
from aptmc.compiled import Floats
from aptmc.kernels import Kernel

__all__ = ["PTSampler", "default_beta_ladder"]


@final
class PTSampler:
    """emcee's names and shapes for `aptmc.compat.ptemcee.Sampler`, where arguments are described.

    >>> def logl(x):
    ...     return -0.5 * float(x @ x)
    >>> def logp(x):
    ...     return 0.0 if (abs(x) < 5.0).all() else -np.inf
    >>> sampler = PTSampler(3, 8, 2, logl, logp, random=np.random.RandomState(1))
    >>> p0 = np.random.default_rng(1).uniform(-1.0, 1.0, size=(3, 8, 2))
    >>> for p, lnprob, lnlike in sampler.sample(p0, iterations=50):
    ...     pass
    >>> sampler.chain.shape, sampler.lnlikelihood.shape
    ((3, 8, 50, 2), (3, 8, 50))
    """

    def __init__(
        self,
        ntemps: int | None,
        nwalkers: int,
        dim: int,
        logl: Callable[..., Any],
        logp: Callable[..., Any],
        threads: int = 1,
        pool: Any = None,
        betas: Sequence[float] | npt.NDArray[np.float64] | None = None,
        a: float = 2.0,
        Tmax: float | None = None,  # noqa: N803
        loglargs: Sequence[Any] = (),
        logpargs: Sequence[Any] = (),
        loglkwargs: Mapping[str, Any] | None = None,
        logpkwargs: Mapping[str, Any] | None = None,
        *,
        random: np.random.RandomState | None = None,
        kernel: Kernel | None = None,
    ) -> None:
        self._sampler = Sampler(
            nwalkers, dim, logl, logp, ntemps, Tmax, betas, threads, pool, a,
            loglargs, logpargs, loglkwargs, logpkwargs, random=random, kernel=kernel,
        )  # fmt: skip
        self.ntemps, self.nwalkers, self.dim = self._sampler.ntemps, nwalkers, dim

    def reset(self) -> None:
        """Forget all steps."""
        self._sampler.reset()

    def sample(
        self,
        p0: Any = None,
        lnprob0: Any = None,
        lnlike0: Any = None,
        iterations: int = 1,
        thin: int = 1,
        storechain: bool = True,
    ) -> Iterator[tuple[Any, ...]]:
        """Take so many steps, and yield (p, lnprob, lnlike) after each.

        :param p0: positions of shape (ntemps, nwalkers, dim); by default walkers go on
        :param lnprob0: accepted and computed anew
        :param lnlike0: likewise
        """
        return self._sampler.sample(p0, iterations, thin, storechain)

    def run_mcmc(
        self,
        pos0: Any,
        N: int,  # noqa: N803
        rstate0: Any = None,
        lnprob0: Any = None,
        **more: Any,
    ) -> tuple[Any, ...]:
        """So many steps at once: gives the last of what `sample` yields."""
        if rstate0 is not None:
            self._sampler.random.set_state(rstate0)
        return deque(self.sample(pos0, lnprob0, iterations=N, **more), maxlen=1)[0]

    def thermodynamic_integration_log_evidence(
        self, logls: npt.ArrayLike | None = None, fburnin: float = 0.1
    ) -> tuple[float, float]:
        """See `aptmc.compat.ptemcee.Sampler.log_evidence_estimate`."""
        return self._sampler.log_evidence_estimate(logls, fburnin)

    @property
    def betas(self) -> Floats:
        """The inverse temperatures, coldest first."""
        return self._sampler.betas

    @property
    def chain(self) -> Any:
        """Positions, of shape (ntemps, nwalkers, steps, dim)."""
        return self._sampler.chain

    @property
    def flatchain(self) -> Any:
        """The same for all walkers together, of shape (ntemps, nwalkers * steps, dim)."""
        return self._sampler.flatchain

    @property
    def lnprobability(self) -> Any:
        """Log densities, tempered, of shape (ntemps, nwalkers, steps)."""
        return self._sampler.logprobability

    @property
    def lnlikelihood(self) -> Any:
        """Log likelihoods, not tempered, of shape (ntemps, nwalkers, steps)."""
        return self._sampler.loglikelihood

    @property
    def acceptance_fraction(self) -> Any:
        """By temperature and walker: the share of proposals that were accepted."""
        return self._sampler.acceptance_fraction

    @property
    def tswap_acceptance_fraction(self) -> Floats:
        """By temperature: the share of swaps that were accepted."""
        return self._sampler.tswap_acceptance_fraction

    @property
    def acor(self) -> Any:
        """Autocorrelation times by temperature and parameter."""
        return self._sampler.acor
