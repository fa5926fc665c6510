"""What holds for every test: numba's cache, headless plots, reproducible examples, the scale."""

from __future__ import annotations

import gc
import os
import shutil
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from tools.compiled_sources import source_hash

ROOT = Path(__file__).resolve().parents[1]
CACHES = ROOT / ".cache" / "numba"
ONE_DAY = 24 * 60 * 60


def forget_old_caches(current: Path) -> None:
    """Remove the caches of earlier states of the sources.

    A cache touched within a day may be in use by another run, which would fail without it.
    """
    for cache in CACHES.iterdir():
        if cache != current and time.time() - cache.stat().st_mtime > ONE_DAY:
            shutil.rmtree(cache, ignore_errors=True)


def use_numba_cache() -> None:
    """Give this state of the sources a cache of its own.

    numba's cache on disk does not notice a change in a called module. It reads the variable when it
    is imported, so this must come before; worker processes inherit it.
    """
    own = CACHES / source_hash()
    if os.environ.setdefault("NUMBA_CACHE_DIR", str(own)) == str(own):
        is_new = not own.exists()
        own.mkdir(parents=True, exist_ok=True)
        os.utime(own)
        if is_new:
            forget_old_caches(own)


use_numba_cache()
# What tests compile is compiled once, and is there when they go on.
os.environ.setdefault("APTMC_COMPILE", "first")
os.environ.setdefault("MPLBACKEND", "Agg")
# Where a process that a test starts dies of a signal, its stacks are shown.
os.environ.setdefault("PYTHONFAULTHANDLER", "1")
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(ROOT / ".cache" / "hypothesis"))


def keep_what_problems_compile() -> None:
    """Keep on disk all machine code that belongs to a problem, as runs keep their moves.

    Tests compile more than half of the time, and the same again whenever they are run. What is kept
    depends on all that it was made of, a planted error too: see `aptmc.session.kept_code`.
    """
    from aptmc.session.kept_code import place_of
    from aptmc.targets import NUMBA

    object.__setattr__(NUMBA, "kept", place_of)


keep_what_problems_compile()


def collect_seldom() -> None:
    """Look for garbage now and then, and only among what tests leave behind.

    What modules hold, which is a gigabyte, would be looked through each time. JAX would look at
    what it holds, too, however little garbage there is: a thirtieth of what all tests cost.
    """
    gc.callbacks[:] = [one for one in gc.callbacks if not one.__module__.startswith("jax")]
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 10, 20)


settings.register_profile("aptmc", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("aptmc")


def skip_missing_languages(items: list[pytest.Item]) -> None:
    """Examples of what needs another language run where that is installed."""
    for item in items:
        needs = LANGUAGES.get(item.path.stem) if "frontends" in item.path.parts else None
        if needs is not None and "doctest" in type(item).__name__.lower() and not find_spec(needs):
            item.add_marker(pytest.mark.skip(f"{needs} is not installed"))


# By module of `aptmc.frontends`: the library that its examples load.
LANGUAGES = {"numpyro": "numpyro", "pymc": "pymc", "stan": "bridgestan", "pypesto": "pypesto"}
SCALE = float(os.environ.get("APTMC_VALIDATION_SCALE", "1"))
ALL_CASES = 0.05  # from this scale on
# Files that take ten to thirty processor seconds: `-p tests.support.processor_seconds` says which.
BEGIN = {
    "test_annealing.py",
    "test_calibration.py",
    "test_damage.py",
    "test_descent.py",
    "test_distance.py",
    "test_failing_simulators.py",
    "test_failures_as_misses.py",
    "test_gradients.py",
    "test_invariance.py",
    "test_kills.py",
    "test_known_targets.py",
    "test_modes_after_a_descent.py",
    "test_moving_average.py",
    "test_named_data.py",
    "test_numpyro_runs.py",
    "test_priors_sampled.py",
    "test_processes.py",
    "test_report.py",
    "test_reversible_jump.py",
    "test_settling.py",
    "test_waiting_for_the_compiler.py",
    "test_warmup.py",
}


@pytest.fixture(scope="session")
def validation_scale() -> float:
    """The length of the statistical suites: 1 is the full length (`make validate SCALE=...`)."""
    return SCALE


@pytest.fixture(scope="session", autouse=True)
def _processors_are_shared() -> Iterator[None]:
    """Runs of an experiment are not computed by more threads than there are processors for all.

    Two processes of tests that each had two threads on two processors would pass the interpreter
    to and fro, which costs a fifth of such a test.
    """
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    with pytest.MonkeyPatch.context() as patch:
        if processes > 1:
            from experiments import parallel

            share = max(parallel.processors_available() // processes, 1)
            patch.setattr(parallel, "processors_available", lambda: share)
        yield


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


class Backwards(pytest.Dir):
    """A folder whose files are collected from the last to the first."""

    def collect(self) -> Iterator[pytest.Collector | pytest.Item]:
        """What is in it, the other way round."""
        yield from reversed(list(super().collect()))


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """In a fresh clone pytest rewrites the assertions of every file, half of what loading takes.

    Of two processes one begins at the other end, and what it finds rewritten it need not rewrite.
    """
    is_odd = os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:] in {"1", "3"}
    return Backwards.from_parent(parent, path=path) if is_odd else None


def pytest_collection_finish() -> None:
    """All modules are loaded."""
    collect_seldom()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of validations that shall only show that they still run, one case of each will do.

    And none, if it is the same test with another case that `make test` runs. Some take long at any
    scale, and say which is the shortest that they are part of.
    """
    skip_missing_languages(items)
    kept = []
    seen = {_function(item) for item in items if item.get_closest_marker("validation") is None}
    for item in items:
        mark = item.get_closest_marker("validation")
        function = _function(item)
        if mark is not None and mark.args:
            raise pytest.UsageError(f"{item.nodeid}: write validation(shortest=…), by its name")
        if mark is None or (
            mark.kwargs.get("shortest", 0.0) <= SCALE
            and (SCALE >= ALL_CASES or function not in seen)
        ):
            kept.append(item)
            seen.add(function)
    # A long file that comes last would have one process wait for the other.
    kept.sort(key=lambda item: (item.path.name not in BEGIN, item.path))
    stays = set(map(id, kept))
    left_out = [item for item in items if id(item) not in stays]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = kept
