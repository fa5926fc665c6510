"""Commands that compute."""

from __future__ import annotations

import json
import math
import sys
from argparse import Namespace
from typing import Any

import aptmc
from aptmc.backends import Backend, Dask, Processes, Ray
from aptmc.cli.main import GOOD, INTERRUPTED
from aptmc.cli.named_problem import find_problem
from aptmc.errors import InputError, StopReason
from aptmc.result.run import Run


def run(options: Namespace) -> int:
    """Sample a problem."""
    problem = find_problem(options.problem)
    ladder = "auto" if options.coldest is None else aptmc.Ladder.auto(coldest=options.coldest)
    result = aptmc.sample(
        problem,
        budget=options.budget,
        ladder=ladder,  # type: ignore[arg-type]
        on=_who(options),
        store=options.store,
        keep=options.keep,
        seed=options.seed,
        progress=not options.quiet,
    )
    return _finish(result, options)


def resume(options: Namespace) -> int:
    """Go on with a stored run."""
    result = aptmc.resume(
        options.store,
        find_problem(options.problem),
        budget=options.budget,
        on=_who(options),
        force=options.force,
        progress=not options.quiet,
    )
    return _finish(result, options)


def _who(options: Namespace) -> Backend | None:
    """Who computes: worker processes here, or a cluster that is named."""
    kind, _, address = options.on.partition(":")
    if kind == "dask" and address:
        return Dask(address, options.workers)
    if kind == "ray":
        return Ray(address or None, options.workers)
    if options.on != "processes":
        raise InputError(
            f"--on must be processes, dask:ADDRESS, ray or ray:ADDRESS, got {options.on!r}"
        )
    return None if options.workers is None else Processes(options.workers)


def _finish(result: Run, options: Namespace) -> int:
    if options.json:
        print(json.dumps(as_json(result)))
    else:
        print(result.summary())
    if options.report is not None:
        # With --json, programs read the other stream.
        stream = sys.stderr if options.json else sys.stdout
        print(f"the report is {result.report(options.report)}", file=stream)
    return INTERRUPTED if result.stopped is StopReason.INTERRUPTED else GOOD


def as_json(result: Run) -> dict[str, object]:
    """A run in numbers, for programs."""
    return {
        "stopped": result.stopped.name.lower(),
        "elapsed": result.elapsed,
        "completions": result.completions,
        "utilisation": known(result.utilisation),
        "round_trips": result.round_trips,
        "seed": result.settings.seed,
        "levels": [str(level) for level in result.settings.ladder.levels],
        "posterior": {
            name: {column: known(value) for column, value in row.items()}
            for name, row in result.summary().to_dict().items()
        },
        "advice": [
            {"problem": one.problem, "remedy": one.remedy, "serious": one.serious}
            for one in result.advice
        ],
    }


def known(value: Any) -> Any:
    """JSON has no word for what is not a number."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
