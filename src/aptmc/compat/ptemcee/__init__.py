"""A drop-in for ptemcee, whose walkers make the moves and exchanges of this library.

>>> import numpy as np
>>> from aptmc.compat import ptemcee
>>> def logl(x):
...     return -0.5 * (abs(x[0]) - 4.0) ** 2 / 0.1  # two modes
>>> def logp(x):
...     return 0.0 if abs(x[0]) < 10.0 else -np.inf
>>> random = np.random.RandomState(1)
>>> sampler = ptemcee.Sampler(20, 1, logl, logp, ntemps=5, Tmax=np.inf, random=random)
>>> p0 = random.uniform(-10, 10, size=(5, 20, 1))
>>> p, logpost, loglike = sampler.run_mcmc(p0, 100)
>>> sampler.chain.shape  # temperatures, walkers, steps, parameters
(5, 20, 100, 1)
>>> bool(0.2 < (sampler.chain[0, :, 50:] > 0).mean() < 0.8)
True
"""

from aptmc.compat.ptemcee import util
from aptmc.compat.ptemcee.ladder import default_beta_ladder
from aptmc.compat.ptemcee.sampler import Sampler

__all__ = ["Sampler", "default_beta_ladder", "util"]
