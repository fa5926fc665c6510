"""Draws of one posterior by one sampler, and the processor seconds that they took.

Each sampler is one process: `python -m experiments.posteriordb.drawn NAME LANGUAGE SAMPLER FILE
SECONDS` writes what `judged` finds. Getting ready, that is, taking the model apart and compiling,
is timed apart from warm-up and draws. Our budget is in processor seconds, by a clock that tells
them: what else the machine does changes how long a cell takes, and little of what comes out of it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aptmc.clock import Clock
from experiments.posteriordb.compare import judged
from experiments.posteriordb.posteriors import Posterior, posterior, whole_data

TUNE, DRAWS, CHAINS = 1000, 2000, 4
# Processor seconds after which a sampler is given up, and said to have taken longer.
MOST = 300
# Beside the default, where there are several modes.
SLICES = "aptmc, EllipticalSlice()"
LANGUAGES = ("pymc", "numpyro", "stan")


# Where NUTS's own starts, anywhere within two of zero, lead chains to where there is no way out.
FROM_MEDIANS = {"lotka_volterra"}


class Drawn(NamedTuple):
    """Arrays by name, of shape (chain, draw, ...), and processor seconds."""

    draws: dict[str, Any]
    ready: float
    sampling: float


class ProcessorClock(Clock):
    """Tells the processor seconds of this process, all its threads together."""

    def now(self) -> float:
        """Processor seconds since the process began."""
        return time.process_time()


def spent() -> float:
    """Processor seconds of this process and of those that it waited for."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in found)


def ours(one: Posterior, language: str, seconds: float, kernel: Any = "auto") -> Drawn:
    """All that is standard here, on one processor; with another kernel, if it is said."""
    import aptmc

    begun = spent()
    problem = problem_of(one, language)
    on = aptmc.InProcess(ProcessorClock())
    said = {"kernel": kernel, "on": on, "progress": False}
    aptmc.sample(problem, budget="200 moves", seed=2, **said)  # what is left to compile
    ready = spent()
    run = aptmc.sample(problem, budget=seconds, seed=1, **said)
    took = spent() - ready
    draws = {str(name): values.values for name, values in run.draws["posterior"].items()}
    return Drawn(draws, ready - begun, took)


def problem_of(one: Posterior, language: str) -> Any:
    """The problem of a model in some language."""
    import aptmc

    if language == "pymc":
        from experiments.posteriordb import pymc_models

        return aptmc.from_pymc(pymc_models.model_of(one.name, one.data))
    if language == "numpyro":
        import numpyro

        from experiments.posteriordb import numpyro_models

        numpyro.enable_x64()
        return aptmc.from_numpyro(numpyro_models.MODELS[one.name], **one.data)
    return aptmc.from_stan(_program(one.name), whole_data(one.name) | {"prior_only": 0})


def _program(name: str) -> str:
    return (Path(__file__).parent / "stan" / f"{name}.stan").read_text()


def pymc_nuts(one: Posterior, seconds: float) -> Drawn:
    """`pm.sample`."""
    import pymc as pm

    from experiments.posteriordb import pymc_models

    begun = spent()
    with pymc_models.model_of(one.name, one.data):
        points, step = pm.init_nuts(chains=CHAINS, random_seed=1, progressbar=False)
        ready = spent()
        found = pm.sample(
            DRAWS, tune=TUNE, chains=CHAINS, cores=1, step=step, initvals=points,
            random_seed=1, progressbar=False, compute_convergence_checks=False,
        )  # fmt: skip
    took = spent() - ready
    return Drawn(_arrays(found.posterior), ready - begun, took)


def nutpie_on_pymc(one: Posterior, seconds: float) -> Drawn:
    """nutpie's NUTS on a model of PyMC."""
    import nutpie

    from experiments.posteriordb import pymc_models

    begun = spent()
    return _by_nutpie(nutpie.compile_pymc_model(pymc_models.model_of(one.name, one.data)), begun)


def nutpie_on_stan(one: Posterior, seconds: float) -> Drawn:
    """nutpie's NUTS on a program of Stan."""
    import nutpie

    begun = spent()
    compiled = nutpie.compile_stan_model(code=_program(one.name))
    return _by_nutpie(compiled.with_data(**whole_data(one.name), prior_only=0), begun)


def _by_nutpie(compiled: Any, begun: float) -> Drawn:
    import nutpie

    ready = spent()
    found = nutpie.sample(
        compiled, draws=DRAWS, tune=TUNE, chains=CHAINS, cores=1, seed=1, progress_bar=False
    )
    return Drawn(_arrays(found.posterior), ready - begun, spent() - ready)


def numpyro_nuts(one: Posterior, seconds: float) -> Drawn:
    """NumPyro's NUTS, one chain after the other; the first has to compile."""
    import jax
    import numpyro
    from numpyro.infer import MCMC, NUTS, init_to_median, init_to_uniform

    from experiments.posteriordb import numpyro_models

    numpyro.enable_x64()
    start = init_to_median if one.name in FROM_MEDIANS else init_to_uniform
    kernel = NUTS(numpyro_models.MODELS[one.name], init_strategy=start)
    sampler = MCMC(kernel, num_warmup=TUNE, num_samples=DRAWS, progress_bar=False)
    chains, took = [], []
    for seed in range(1, CHAINS + 1):
        begun = spent()
        sampler.run(jax.random.PRNGKey(seed), **one.data)
        chains.append({name: np.asarray(x) for name, x in sampler.get_samples().items()})
        took.append(spent() - begun)
    draws = {name: np.stack([chain[name] for chain in chains]) for name in chains[0]}
    others = sum(took[1:]) / (CHAINS - 1)
    return Drawn(draws, max(took[0] - others, 0.0), CHAINS * others)


def _arrays(dataset: Any) -> dict[str, Any]:
    return {str(name): values.values for name, values in dataset.items()}


THEIRS: dict[str, dict[str, Callable[[Posterior, float], Drawn]]] = {
    "pymc": {"pm.sample": pymc_nuts, "nutpie": nutpie_on_pymc},
    "numpyro": {"NumPyro's NUTS": numpyro_nuts},
    "stan": {"nutpie": nutpie_on_stan},
}


def main(name: str, language: str, who: str, file: str, seconds: str) -> None:
    """Sample, judge, and write what came of it."""
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    # The system ends this process then, wherever it is, and whoever started it sees why.
    resource.setrlimit(resource.RLIMIT_CPU, (MOST, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    one = posterior(name)
    if who == "aptmc":
        found = ours(one, language, float(seconds))
    elif who == SLICES:
        import aptmc

        found = ours(one, language, float(seconds), aptmc.EllipticalSlice())
    else:
        found = THEIRS[language][who](one, float(seconds))
    result = judged(found.draws, one)._asdict()
    result |= {"ready": found.ready, "sampling": found.sampling}
    result |= {"wall": time.perf_counter() - began}
    keep(Path(file), result)


def keep(file: Path, result: dict[str, Any]) -> None:
    """Write it, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_suffix(f".{os.getpid()}")
    half.write_text(json.dumps(result))
    half.replace(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
