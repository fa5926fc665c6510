"""Sketches: thinned draws that tell the effective sample size well enough."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aptmc.diagnostics import effective_sample_size
from aptmc.progress import Sketch
from aptmc.progress.live import MOST_ROWS
from aptmc.record.record import Record, empty_record

ROWS = 1000
RHO = 0.8  # from one draw to the next


def records(draws: np.ndarray, chains: int = 1) -> list[Record]:
    """Full buffers with the draws of the first chain; those of the others are NaN."""
    found = []
    for first in range(0, len(draws), ROWS):
        part = draws[first : first + ROWS]
        rung = np.arange(chains)
        record = empty_record(rung, chains, draws.shape[1] + 1, np.ones(chains, bool), 2 * ROWS)
        count = len(part)
        record.chain[:count] = 0
        record.state[:count, :-1] = part
        record.chain[count : 2 * count] = chains - 1
        record.state[count : 2 * count, :-1] = part if chains == 1 else math.nan
        record.draws["time"] = 0.0  # what nobody has set may be anything, minus infinity too
        record.filled[0] = count if chains == 1 else 2 * count
        found.append(record)
    return found


def autoregression(length: int, rho: float, dimension: int = 2) -> np.ndarray:
    noise = np.random.default_rng(1).standard_normal((length, dimension))
    for row in range(1, length):
        noise[row] = rho * noise[row - 1] + math.sqrt(1 - rho * rho) * noise[row]
    return noise


def test_few_draws_are_all_kept_and_of_others_none() -> None:
    draws = autoregression(3 * ROWS, RHO)
    sketch = Sketch(2, frozenset([0]))
    for record in records(draws, chains=2):
        sketch.listen(record)
        sketch.turn_the_page()
    assert sketch.draws == len(draws)
    expected = min(effective_sample_size([column]) for column in draws.T)
    assert sketch.effective_draws() == expected


def test_many_draws_are_thinned_evenly() -> None:
    length = 5 * MOST_ROWS + 137
    draws = np.arange(length, dtype=float)[:, None]
    sketch = Sketch(1, frozenset([0]))
    for record in records(draws):
        sketch.listen(record)
        sketch.turn_the_page()
        assert sum(map(len, sketch._rows[0])) <= MOST_ROWS
    assert sketch.draws == length
    kept = np.concatenate(sketch._rows[0])[:, 0]
    assert set(np.diff(kept)) == {8.0}
    assert kept[-1] >= length - 8


@pytest.mark.parametrize("rho", [0.9, 0.98])
def test_a_thinned_sketch_knows_the_effective_sample_size(rho: float) -> None:
    draws = autoregression(4 * MOST_ROWS, rho)
    sketch = Sketch(2, frozenset([0]))
    for record in records(draws):
        sketch.listen(record)
        sketch.turn_the_page()
    full = min(effective_sample_size([column]) for column in draws.T)
    # Every fourth draw of chains that forget in twenty or a hundred: hardly anything is lost.
    assert 0.7 < sketch.effective_draws() / full < 1.3


def test_rows_of_a_record_are_heard_once() -> None:
    draws = np.arange(100, dtype=float)[:, None]
    (record,) = records(draws)
    sketch = Sketch(1, frozenset([0]))
    for filled in (30, 30, 75, 100):
        record.filled[0] = filled
        sketch.listen(record)
        assert sketch.draws == filled
    assert (np.concatenate(sketch._rows[0])[:, :1] == draws).all()


def test_with_hardly_any_draws_nobody_knows() -> None:
    sketch = Sketch(2, frozenset([0]))
    assert math.isnan(sketch.effective_draws())
    for record in records(autoregression(10, RHO)):
        sketch.listen(record)
        sketch.turn_the_page()
    assert sketch.draws == 10
    assert math.isnan(sketch.effective_draws())
