"""Runs are kept as soon as they are complete, so that a table that was interrupted goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, final

import numpy as np

from experiments.parallel import in_parallel
from experiments.reported_errors.calibration import Errors


@final
class Kept:
    """Errors of runs, by setting, scale and seed, one to a line of a file.

    The code is not part of it: begin with another file after a change.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._found: dict[tuple[str, float, int], Errors] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                name, scale, seed, errors = json.loads(line)
                self._found[name, scale, seed] = _from_plain(errors)

    def runs(
        self, name: str, scale: float, seeds: Sequence[int], measure: Callable[[int], Errors]
    ) -> list[Errors]:
        """Those that are there, and the others after they were measured."""
        missing = [seed for seed in seeds if (name, scale, seed) not in self._found]

        def keep(seed: int) -> None:
            errors = measure(seed)
            plain = {key: np.asarray(value).tolist() for key, value in errors._asdict().items()}
            with self._lock:
                self._found[name, scale, seed] = errors
                with self._path.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps([name, scale, seed, plain]) + "\n")

        in_parallel(keep, missing)
        return [self._found[name, scale, seed] for seed in seeds]


def _from_plain(errors: dict[str, Any]) -> Errors:
    """As it was before it was written."""
    arrays = {key: np.array(value) for key, value in errors.items() if isinstance(value, list)}
    return Errors(**{**errors, **arrays})
