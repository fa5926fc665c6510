"""Effective draws for each gradient, here and by NumPyro's NUTS.

`python -m experiments.posteriordb.gradients` gives both the same number of gradients, their
warm-ups counted in: as many as four chains of NumPyro's take for 1,000 steps of warm-up and 2,000
draws each. Nothing is timed, so that a machine that is busy with something else does not decide.
Ours are runs in virtual time with nothing but the model, a budget and a seed. A gradient comes with
its density; a trajectory here computes that of its first point anew, and it is counted.

Where NUTS is not to be waited for, `--alone 100000` gives ours so many gradients, and shows nothing
else. What was measured is kept in .cache/posteriordb, by the name of the model and the seed; the
code is not part of what is kept, so take another folder after a change.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.posteriordb.compare import judged
from experiments.posteriordb.drawn import CHAINS, DRAWS, FROM_MEDIANS, TUNE, problem_of
from experiments.posteriordb.posteriors import NAMES, Posterior, posterior

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "posteriordb" / "gradients"
# A leap takes the density and its gradient, and virtual time counts both.
UNITS_OF_GRADIENT = 2.0
HEAD = (
    "model", "seed", "by", "gradients", "means", "sds", "r-hat", "effective draws",
    "per 1,000 gradients", "beside NUTS", "note",
)  # fmt: skip


def theirs(one: Posterior, seed: int) -> dict[str, Any]:
    """NumPyro's NUTS: chains one after the other, from starts that it finds.

    Where these are none it starts from the medians of some draws of the prior.
    """
    import jax
    import numpyro
    from numpyro.infer import MCMC, NUTS, init_to_median, init_to_uniform

    from experiments.posteriordb import numpyro_models

    numpyro.enable_x64()
    start = init_to_median if one.name in FROM_MEDIANS else init_to_uniform
    sampler = MCMC(
        NUTS(numpyro_models.MODELS[one.name], init_strategy=start),
        num_warmup=TUNE, num_samples=DRAWS, progress_bar=False,
    )  # fmt: skip
    chains, gradients, astray = [], 0, 0
    for chain in range(CHAINS):
        counted = ("num_steps", "diverging")
        key = jax.random.PRNGKey(CHAINS * seed + chain)
        sampler.warmup(key, collect_warmup=True, extra_fields=counted, **one.data)
        gradients += int(np.sum(sampler.get_extra_fields()["num_steps"]))
        sampler.run(sampler.post_warmup_state.rng_key, extra_fields=counted, **one.data)
        fields = sampler.get_extra_fields()
        gradients += int(np.sum(fields["num_steps"]))
        astray += int(np.sum(fields["diverging"]))
        chains.append({name: np.asarray(x) for name, x in sampler.get_samples().items()})
    draws = {name: np.stack([chain[name] for chain in chains]) for name in chains[0]}
    return judged(draws, one)._asdict() | {"gradients": gradients, "note": f"{astray} astray"}


def ours(one: Posterior, seed: int, gradients: int, problem: Callable[[], Any]) -> dict[str, Any]:
    """All that is standard here, with so many gradients."""
    import aptmc

    run = aptmc.sample(
        problem(), budget=UNITS_OF_GRADIENT * gradients, seed=seed,
        on=aptmc.VirtualTime(1), progress=False,
    )  # fmt: skip
    draws = {str(name): values.values for name, values in run.draws["posterior"].items()}
    kernel = type(run.settings.kernel).__name__
    note = f"{kernel}, {run.settings.ladder.rungs} rungs, {len(run.chains())} cold chains"
    said = [advice.problem for advice in run.advice if advice.serious]
    found = judged(draws, one)._asdict()
    return found | {"gradients": gradients, "note": note, "warnings": said}


def kept(path: Path, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What was measured before, or is measured now."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(measure()))
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def rows(name: str, seeds: Iterable[int], folder: Path, alone: int) -> Iterable[list[str]]:
    """Two for each seed: theirs, and ours beside it; ours alone, if it is to have so many."""
    one = posterior(name)
    problem = cache(partial(problem_of, one, "numpyro"))
    for seed in seeds:
        their, ratio = None, "-"
        if not alone:
            their = kept(folder / f"{name}-numpyro-{seed}.json", partial(theirs, one, seed))
        gradients = alone if their is None else their["gradients"]
        file = f"{name}-aptmc-{seed}{f'-{alone}' if alone else ''}.json"
        our = kept(folder / file, partial(ours, one, seed, gradients, problem))
        for by, found in (("NumPyro's NUTS", their), ("aptmc", our)):
            if found is None:
                continue
            rate = 1000.0 * found["effective"] / found["gradients"]
            if their is not None and found is our:
                ratio = f"{found['effective'] / their['effective']:.2f}"
            numbers = [f"{found[key]:.1f}" for key in ("mean_error", "sd_error")]
            yield [
                name.replace("_", " "), str(seed), by, f"{found['gradients']:,}", *numbers,
                f"{found['r_hat']:.3f}", f"{found['effective']:,.0f}", f"{rate:.1f}",
                ratio, "; ".join([found["note"], *found.get("warnings", [])]),
            ]  # fmt: skip


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.posteriordb.gradients", description=__doc__
    )
    parser.add_argument("names", nargs="*", help=f"which of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--alone", type=int, default=0, help="so many gradients for ours, no NUTS")
    parser.add_argument("--folder", type=Path, default=CACHE)
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no posterior {', '.join(unknown)}: choose of {', '.join(NAMES)}")
    warnings.simplefilter("ignore")
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}")
    for name in options.names or NAMES:
        for row in rows(name, range(1, options.seeds + 1), options.folder, options.alone):
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
