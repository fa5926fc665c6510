"""The classifier two-sample test for many sets of draws at once, on an accelerator.

    python -m experiments.sbibm --draws-only --processes 16
    python -m experiments.sbibm.many_tests .cache/sbibm/draws .cache/sbibm/cells

For a machine with JAX and scikit-learn. Each file of the first folder has `reference` and,
by name, draws; accuracies go into the second, where `python -m experiments.sbibm` finds them. The
networks and how they learn are those of scikit-learn's `MLPClassifier`, which `two_sample_test.py`
and the benchmark use: Glorot's weights, two layers of ten units for each dimension, Adam with steps
of 0.001, batches of 200, a penalty of 0.0001, and an end when the loss has not fallen by 0.0001 for
ten epochs. All networks of one dimension learn side by side.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.sbibm.two_sample_test import smoothed

SEED, FOLDS, MOST_EPOCHS = 1, 5, 10_000
BATCH, STEP, PENALTY = 200, 1e-3, 1e-4
FIRST_DECAY, SECOND_DECAY, TINY = 0.9, 0.999, 1e-8
NO_BETTER, PATIENCE = 1e-4, 10
MOST_TOGETHER = 1000  # networks
NO_DRAWS = ("reference", "support", "found")

jax.config.update("jax_default_matmul_precision", "highest")


def first_weights(key: Any, sizes: tuple[int, ...]) -> Any:
    """As Glorot and Bengio have it, intercepts too."""
    layers = []
    for below, above in pairwise(sizes):
        key, one, other = jax.random.split(key, 3)
        bound = (6.0 / (below + above)) ** 0.5
        layers.append(
            (
                jax.random.uniform(one, (below, above), jnp.float32, -bound, bound),
                jax.random.uniform(other, (above,), jnp.float32, -bound, bound),
            )
        )
    return layers


def logit(layers: Any, x: Any) -> Any:
    """Of being from the second table."""
    for weights, intercepts in layers[:-1]:
        x = jax.nn.relu(x @ weights + intercepts)
    weights, intercepts = layers[-1]
    return (x @ weights + intercepts)[:, 0]


def loss(layers: Any, x: Any, y: Any) -> Any:
    """Logistic, with the penalty for weights."""
    z = logit(layers, x)
    penalty = sum((weights**2).sum() for weights, _ in layers)
    return (jax.nn.softplus(z) - y * z).mean() + 0.5 * PENALTY * penalty / len(y)


def epoch(state: Any, points: Any, origin: Any, rows: Any, key: Any) -> Any:
    """One network sees all of its rows once."""
    order = jax.random.permutation(key, rows)
    batches = order[: len(order) // BATCH * BATCH].reshape(-1, BATCH)

    def step(carry: Any, batch: Any) -> Any:
        layers, first, second, t = carry
        value, slopes = jax.value_and_grad(loss)(layers, points[batch], origin[batch])
        t = t + 1.0
        first = jax.tree.map(lambda m, g: FIRST_DECAY * m + (1 - FIRST_DECAY) * g, first, slopes)
        second = jax.tree.map(
            lambda v, g: SECOND_DECAY * v + (1 - SECOND_DECAY) * g * g, second, slopes
        )
        size = STEP * jnp.sqrt(1.0 - SECOND_DECAY**t) / (1.0 - FIRST_DECAY**t)
        layers = jax.tree.map(
            lambda w, m, v: w - size * m / (jnp.sqrt(v) + TINY), layers, first, second
        )
        return (layers, first, second, t), value

    state, values = jax.lax.scan(step, state, batches)
    return state, values.mean()


def _epochs(states: Any, points: Any, origins: Any, sets: Any, rows: Any, keys: Any) -> Any:
    """One epoch of many networks."""
    return jax.vmap(lambda s, which, mine, key: epoch(s, points[which], origins, mine, key))(
        states, sets, rows, keys
    )


epochs: Any = jax.jit(_epochs)


def _shares_right(layers: Any, points: Any, origins: Any, sets: Any, rows: Any) -> Any:
    """The share of held-out rows of which each network knows the origin."""

    def one(mine: Any, which: Any, held: Any) -> Any:
        told = logit(mine, points[which][held]) > 0.0
        return (told == (origins[held] > 0.5)).mean()

    return jax.vmap(one)(layers, sets, rows)


shares_right: Any = jax.jit(_shares_right)


def accuracies(pairs: list[tuple[Any, Any]], seed: int = SEED) -> Any:
    """For each pair of a reference and draws, all of the same size and dimension."""
    dimension, half = pairs[0][0].shape[1], len(pairs[0][0])
    points = []
    for reference, draws in pairs:
        centre, spread = reference.mean(axis=0), reference.std(axis=0, ddof=1)
        points.append((np.concatenate([reference, draws]) - centre) / spread)
    shared = jnp.asarray(np.array(points), jnp.float32)
    origins = jnp.asarray(np.repeat([0.0, 1.0], half), jnp.float32)
    shuffled = np.random.default_rng(seed).permutation(2 * half)
    parts = np.array_split(shuffled, FOLDS)
    learnt = np.array(
        [
            np.concatenate([part for i, part in enumerate(parts) if i != fold])
            for fold in range(FOLDS)
        ]
    )
    held = np.array(parts)
    sets = np.repeat(np.arange(len(pairs)), FOLDS)
    rows, rows_held = np.tile(learnt, (len(pairs), 1)), np.tile(held, (len(pairs), 1))
    sizes = (dimension, 10 * dimension, 10 * dimension, 1)
    keys = jax.random.split(jax.random.key(seed), len(sets))
    layers = jax.vmap(partial(first_weights, sizes=sizes))(keys)
    nothing = jax.tree.map(jnp.zeros_like, layers)
    state = (layers, nothing, nothing, jnp.zeros(len(sets)))
    found = np.full(len(sets), np.nan)
    alive = np.arange(len(sets))
    best, worse = np.full(len(sets), np.inf), np.zeros(len(sets), int)
    now = (jnp.asarray(sets), jnp.asarray(rows), jnp.asarray(rows_held), keys)
    for number in range(MOST_EPOCHS):
        here = jax.vmap(lambda key, n=number: jax.random.fold_in(key, n))(now[3])
        state, values = epochs(state, shared, origins, now[0], now[1], here)
        values = np.asarray(values)[: len(alive)]
        worse[alive] = np.where(values > best[alive] - NO_BETTER, worse[alive] + 1, 0)
        best[alive] = np.minimum(best[alive], values)
        over = (worse[alive] > PATIENCE) & np.isnan(found[alive])
        if over.any():
            said = np.asarray(shares_right(state[0], shared, origins, now[0], now[2]))
            found[alive[over]] = said[: len(alive)][over]
        going = np.isnan(found[alive])
        if not going.any():
            break
        # Whoever is over is left out now and then: each number of networks has to be compiled.
        if going.sum() <= len(alive) // 2:
            kept = jnp.asarray(np.flatnonzero(going))
            alive = alive[going]
            state, now = jax.tree.map(itemgetter(kept), (state, now))
    return found.reshape(len(pairs), FOLDS).mean(axis=1)


def with_smoothed(path: Path) -> dict[str, Any]:
    """All tables of a file, and with each set of draws one from a kernel density of it."""
    tables = dict(np.load(path))
    for name in [name for name in tables if name not in NO_DRAWS]:
        tables[f"{name}, smoothed"] = smoothed(tables[name], tables["support"])
    return tables


def main() -> None:
    """All files of a folder."""
    folder, results = Path(sys.argv[1]), Path(sys.argv[2])
    paths = sorted(folder.glob("*.npz"))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as several:
        files = dict(zip(paths, several.map(with_smoothed, paths), strict=True))
    wanted = [(path, name) for path, file in files.items() for name in file if name not in NO_DRAWS]
    found: dict[Path, dict[str, float]] = {path: {} for path in paths}
    for shape in sorted({files[path][name].shape for path, name in wanted}):
        mine = [(path, name) for path, name in wanted if files[path][name].shape == shape]
        together = MOST_TOGETHER // FOLDS
        for start in range(0, len(mine), together):
            some, began = mine[start : start + together], time.monotonic()
            said = accuracies(
                [(files[path]["reference"], files[path][name]) for path, name in some]
            )
            for (path, name), accuracy in zip(some, said, strict=True):
                found[path][name] = float(accuracy)
            print(f"{shape}: {len(some)} sets in {time.monotonic() - began:.1f} s", flush=True)
        keep(results, {path: found[path] for path, _ in mine}, files)


def keep(results: Path, found: dict[Path, dict[str, float]], files: dict[Path, Any]) -> None:
    """One file for each cell."""
    results.mkdir(parents=True, exist_ok=True)
    for path, accuracy in found.items():
        said = json.loads(str(files[path]["found"]))
        target = results / f"{path.stem}.json"
        target.write_text(json.dumps({"accuracy": accuracy} | said), encoding="utf-8")


if __name__ == "__main__":
    main()
