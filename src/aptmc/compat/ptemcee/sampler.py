"""ptemcee's sampler, by its names, arguments and shapes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from aptmc.checks import whole_number
from aptmc.compat.ptemcee.adaptation import adapted_betas
from aptmc.compat.ptemcee.first_states import checked_positions, first_states
from aptmc.compat.ptemcee.ladder import checked_betas, default_beta_ladder
from aptmc.compat.ptemcee.processors import processors_of
from aptmc.compat.ptemcee.split_density import SplitDensity, Walked
from aptmc.compat.ptemcee.steps import Step
from aptmc.compat.ptemcee.stored_chain import Array, StoredChain
from aptmc.compat.ptemcee.util import (
    autocorr_integrated_time,
    thermodynamic_integration_log_evidence,
)
from aptmc.compat.ptemcee.walk import Walk
from aptmc.compiled import Floats
from aptmc.diagnostics import Evidence, log_evidence
from aptmc.errors import InputError
from aptmc.kernels import DifferentialEvolution, Kernel
from aptmc.ladder import Ladder
from aptmc.problem.chain_state import log_prior_column, value_column

WORTH_A_MESSAGE = 3e-4  # seconds: what takes less is sooner computed here than by a worker

Walkers = tuple[Any, ...]  # p, logpost, loglike, and ratios if asked for


@final
class Sampler:
    """Walkers at several temperatures; see `aptmc.compat.ptemcee` for an example.

    :param nwalkers: how many there are at each temperature
    :param dim: how many parameters
    :param logl: logl(x, *loglargs, **loglkwargs) gives the log likelihood
    :param logp: logp(x, *logpargs, **logpkwargs) gives the log prior density
    :param ntemps: how many temperatures, for `default_beta_ladder`
    :param Tmax: the highest of them, likewise
    :param betas: inverse temperatures, if not by that
    :param threads: more than one: so many worker processes compute, and nobody waits for the
        slowest walker; where a point takes less than a message to a worker, this process alone
    :param pool: instead of that, an executor or a pool of `multiprocessing`, as many of whose
        processes are used
    :param a: accepted and ignored: moves are not stretch moves
    :param adaptation_lag: in steps; how long the ladder is adapted, with `adapt=True`
    :param adaptation_time: in steps; how quickly
    :param random: a `RandomState`, from which the seed of each run is drawn
    :param kernel: how walkers move, one of the library's kernels
    """

    def __init__(
        self,
        nwalkers: int,
        dim: int,
        logl: Callable[..., Any],
        logp: Callable[..., Any],
        ntemps: int | None = None,
        Tmax: float | None = None,  # noqa: N803
        betas: Sequence[float] | npt.NDArray[np.float64] | None = None,
        threads: int = 1,
        pool: Any = None,
        a: float = 2.0,
        loglargs: Sequence[Any] = (),
        logpargs: Sequence[Any] = (),
        loglkwargs: Mapping[str, Any] | None = None,
        logpkwargs: Mapping[str, Any] | None = None,
        adaptation_lag: float = 10_000,
        adaptation_time: float = 100,
        random: np.random.RandomState | None = None,
        *,
        kernel: Kernel | None = None,
    ) -> None:
        self.nwalkers = whole_number("nwalkers", nwalkers)
        self.dim = whole_number("dim", dim)
        if nwalkers % 2 != 0 or nwalkers < 2 * dim:
            raise InputError(
                f"the number of walkers must be even, and at least twice that of the {dim} "
                f"dimensions, got {nwalkers}: use {2 * max(dim, (nwalkers + 1) // 2)}"
            )
        for name, function in (("logl", logl), ("logp", logp)):
            if not callable(function):
                raise InputError(f"{name} must be a function of a point, got {function!r}")
        density = SplitDensity(
            logl, logp, tuple(loglargs), tuple(logpargs), loglkwargs or {}, logpkwargs or {}
        )
        self._problem = Walked(density, self.dim)
        self._betas = (
            default_beta_ladder(self.dim, ntemps, Tmax) if betas is None else checked_betas(betas)
        )
        self._processors = processors_of(threads, pool)
        self._kernel = DifferentialEvolution() if kernel is None else kernel
        self.pool, self.a = pool, a
        self.adaptation_lag, self.adaptation_time = adaptation_lag, adaptation_time
        self._random = np.random.RandomState() if random is None else random
        self.reset()

    def reset(
        self,
        random: np.random.RandomState | None = None,
        betas: Sequence[float] | npt.NDArray[np.float64] | None = None,
        time: int | None = None,
    ) -> None:
        """Forget all steps, and where walkers are: the next ones begin from positions anew."""
        if betas is not None:
            self._betas = checked_betas(betas)
        if random is not None:
            self._random = random
        self._time = 0 if time is None else time
        self._chain: StoredChain | None = None
        self._walk: Walk | None = None
        self.nprop = np.zeros((self.ntemps, self.nwalkers))
        self.nprop_accepted = np.zeros((self.ntemps, self.nwalkers))
        self._swaps_before = (np.zeros(self.ntemps), np.zeros(self.ntemps))

    def run_mcmc(self, *args: Any, **kwargs: Any) -> Walkers:
        """Like `sample`, but all at once: gives the last of what that yields."""
        last = deque(self.sample(*args, **kwargs), maxlen=1)
        if not last:
            raise InputError("run_mcmc needs one iteration at least, got 0")
        return last[0]

    def sample(
        self,
        p0: Any = None,
        iterations: int = 1,
        thin: int = 1,
        storechain: bool = True,
        adapt: bool = False,
        swap_ratios: bool = False,
    ) -> Iterator[Walkers]:
        """Take so many steps, and yield (p, logpost, loglike) after each.

        :param p0: positions of shape (ntemps, nwalkers, dim) to begin from; by default walkers go
            on from where they are
        :param thin: keep one step of so many
        :param storechain: whether steps are kept at all
        :param adapt: adapt the ladder, ever more slowly, until neighbours all swap equally often
        :param swap_ratios: yield these ratios as a fourth
        """
        iterations = whole_number("iterations", iterations, least=0)
        thin = whole_number("thin", thin)
        if p0 is not None:
            self._begin(p0)
        walk = self._walk
        if walk is None:
            raise InputError("walkers need positions to begin from: give p0")
        walk.levels[:] = self._betas
        if storechain:
            if self._chain is None:
                self._chain = StoredChain(self.ntemps, self.nwalkers, self.dim)
            self._chain.leave_out_the_rest()
            self._chain.make_room(iterations // thin)
        for step in walk.advance(iterations):
            p, logpost, loglike = self._ensemble(step)
            ratios = self._ratios(step)
            self.nprop += 1.0
            self.nprop_accepted += step.accepted.reshape(self.ntemps, self.nwalkers)
            if adapt and self.ntemps > 1:
                self._adapt(walk, ratios)
                logpost = self._log_probability(step)
            self._time += 1
            if storechain and self._chain is not None and self._time % thin == 0:
                self._chain.make_room(1)
                self._chain.append(p, loglike, logpost, self._betas)
            yield (p, logpost, loglike, ratios) if swap_ratios else (p, logpost, loglike)

    def _begin(self, p0: Any) -> None:
        """Walkers from these positions on."""
        positions = checked_positions(p0, (self.ntemps, self.nwalkers, self.dim))
        seed = int(self._random.randint(0, 2**31 - 1))
        density = self._problem.density
        states, seconds = first_states(density, positions, self._processors)
        self._swaps_before = (self.nswap, self.nswap_accepted)
        self._walk = Walk(
            self._problem,
            Ladder.powers(self._betas),
            self._kernel,
            states,
            seed=seed,
            processors=self._processors if seconds > WORTH_A_MESSAGE else 1,
            seconds=seconds,
        )

    def _adapt(self, walk: Walk, ratios: Floats) -> None:
        lag, period = self.adaptation_lag, self.adaptation_time
        self._betas = adapted_betas(self._betas, ratios, self._time, lag=lag, period=period)
        walk.levels[:] = self._betas

    def _ensemble(self, step: Step) -> tuple[Array, Array, Array]:
        shape = (self.ntemps, self.nwalkers)
        p = step.rows[:, : self.dim].reshape(*shape, self.dim)
        return p, self._log_probability(step), step.rows[:, value_column(self.dim)].reshape(shape)

    def _log_probability(self, step: Step) -> Array:
        shape = (self.ntemps, self.nwalkers)
        loglike = step.rows[:, value_column(self.dim)].reshape(shape)
        logp = step.rows[:, log_prior_column(self.dim)].reshape(shape)
        found: Array = self._betas[:, None] * loglike + logp
        return found

    def _ratios(self, step: Step) -> Floats:
        """Of neighbouring temperatures: how likely they swapped; where none met, as in the mean."""
        if self.ntemps == 1:
            return np.zeros(0)
        seen = step.ratios[~np.isnan(step.ratios)]
        return np.where(np.isnan(step.ratios), seen.mean() if seen.size else 0.0, step.ratios)

    # --- what is known of the steps so far ----------------------------------------------------

    @property
    def random(self) -> np.random.RandomState:
        """Where seeds come from."""
        return self._random

    @property
    def betas(self) -> Floats:
        """The inverse temperatures as they are now, coldest first."""
        return self._betas

    @property
    def ntemps(self) -> int:
        """How many temperatures there are."""
        return len(self._betas)

    @property
    def time(self) -> int:
        """How many steps were made since the last reset."""
        return self._time

    @property
    def chain(self) -> Array | None:
        """Positions, of shape (ntemps, nwalkers, steps, dim); None before there are any."""
        return None if self._chain is None else self._chain.positions

    @property
    def flatchain(self) -> Array:
        """The same for all walkers together, of shape (ntemps, nwalkers * steps, dim)."""
        positions = self._kept().positions
        return positions.reshape(self.ntemps, -1, self.dim)

    @property
    def logprobability(self) -> Array | None:
        """Log densities, tempered, of shape (ntemps, nwalkers, steps)."""
        return None if self._chain is None else self._chain.log_probabilities

    @property
    def loglikelihood(self) -> Array | None:
        """Log likelihoods, not tempered, of shape (ntemps, nwalkers, steps)."""
        return None if self._chain is None else self._chain.log_likelihoods

    @property
    def beta_history(self) -> Array | None:
        """The inverse temperatures at each step, of shape (ntemps, steps)."""
        return None if self._chain is None else self._chain.betas

    @property
    def acceptance_fraction(self) -> Array:
        """By temperature and walker: the share of proposals that were accepted."""
        with np.errstate(invalid="ignore"):
            found: Array = self.nprop_accepted / self.nprop
            return found

    @property
    def nswap(self) -> Floats:
        """By temperature: how many swaps were proposed that it took part in."""
        now = 0.0 if self._walk is None else self._walk.swaps[0]
        return self._swaps_before[0] + now

    @property
    def nswap_accepted(self) -> Floats:
        """By temperature: how many of them were accepted."""
        now = 0.0 if self._walk is None else self._walk.swaps[1]
        return self._swaps_before[1] + now

    @property
    def tswap_acceptance_fraction(self) -> Floats:
        """By temperature: the share of swaps that were accepted."""
        with np.errstate(invalid="ignore"):
            found: Floats = self.nswap_accepted / self.nswap
            return found

    @property
    def acor(self) -> Array:
        """Autocorrelation times by temperature and parameter, with a window of 50 steps."""
        return self.get_autocorr_time()

    def get_autocorr_time(self, window: int = 50) -> Array:
        """The same with another window; of the mean of all walkers, as ptemcee has it."""
        means = self._kept().positions.mean(axis=1)
        found: Array = autocorr_integrated_time(means, axis=1, window=window)
        return found

    # --- evidence -----------------------------------------------------------------------------

    def log_evidence_estimate(
        self, logls: npt.ArrayLike | None = None, fburnin: float = 0.1
    ) -> tuple[float, float]:
        """The log evidence by thermodynamic integration, and the error that its grid makes.

        :param logls: of shape (ntemps, nwalkers, steps), if not those of the steps so far
        :param fburnin: the share of steps at the beginning that does not count
        """
        values = self._settled(logls, fburnin)
        return thermodynamic_integration_log_evidence(self._betas, values.mean(axis=(1, 2)))

    def log_evidence(self, fburnin: float = 0.1) -> Evidence:
        """The log evidence as this library computes it, with its Monte Carlo error.

        From the draws of all temperatures together, so that there is no grid to be fine enough. The
        ladder must end at 0 (`Tmax=np.inf`), and not have been adapted in the steps that count.
        """
        values = self._settled(None, fburnin)
        history = self._kept().betas[:, -values.shape[2] :]
        if self._betas[-1] != 0.0:
            raise InputError(
                f"the evidence needs temperatures up to infinity, and the last beta is "
                f"{self._betas[-1]:g}: use Tmax=np.inf"
            )
        if (history != self._betas[:, None]).any():
            raise InputError(
                "the ladder was adapted in steps that count: sample with adapt=False after "
                "sampler.reset(), or leave out more at the beginning, fburnin=0.5"
            )
        levels = tuple(self._betas.tolist())
        return log_evidence(levels, [list(of_one) for of_one in values])

    def _settled(self, logls: npt.ArrayLike | None, fburnin: float) -> Array:
        values = self._kept().log_likelihoods if logls is None else np.asarray(logls, np.float64)
        return values[:, :, int(values.shape[2] * fburnin + 0.5) :]

    def _kept(self) -> StoredChain:
        if self._chain is None or self._chain.steps == 0:
            raise InputError("no steps were kept: sample with storechain=True first")
        return self._chain
