"""First states of lanes: all chains climb down from the prior together.

Where a run has few lanes, others go along for the descent; where it has very many, some of them
climb down, and the others begin with copies of their states. Chains begin at draws from the prior
and move at a tolerance that half of them have come within; the others go on from copies of those. A
chain stops at the tolerance of its rung. What is in flight stays so all the while: if it began anew
at each tolerance, states that take long would be lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import final

import numpy as np

from aptmc.backends.lanes.device import Device
from aptmc.backends.lanes.fleet import Voyage
from aptmc.backends.lanes.tables import Lanes, Whole, empty_lanes, put_states, states_in
from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError
from aptmc.kernels.learned import usual_scale
from aptmc.keys import START, Key
from aptmc.problem import Abc
from aptmc.session.descent import Tell

DRAWS = 1024  # from the prior, where chains begin
MOVES = 4  # of each chain at each tolerance, on average
TICKS = 1000  # between looks at how many there were
FEWEST_LANES, MOST_LANES = 512, 1 << 17
FEWEST = 64  # chains within a tolerance, from which all others may go on
MOST_LOOKS = 10_000
TRIES = 20  # at a tolerance that nobody comes below


@final
class Descent:
    """Chains on their way down.

    :param look_up: is called now and then, and may raise to stop
    """

    def __init__(
        self, voyage: Voyage, device: Device, tell: Tell, look_up: Callable[[], None]
    ) -> None:
        assert isinstance(voyage.model.problem, Abc)
        self.problem, self.target = voyage.model.problem, voyage
        self.rng = Key(voyage.seed, 0, 0, START).generator()
        # Moves of the run have keys of their own.
        self.voyage = replace(
            voyage, groups=groups_on_the_way(voyage), seed=int(self.rng.integers(1 << 62))
        )
        self.fleet = device.fleet(self.voyage)
        self.tell, self.look_up = tell, look_up
        self.tolerance = float(voyage.levels[-1])

    def states(self) -> FloatTable:
        """A state for each chain that its rung allows."""
        coldest, tries = float(self.target.levels[0]), 0
        lanes = self._from_prior()
        self.fleet.load(lanes)
        spread = np.diag(self.problem.prior.spread(self.rng))
        self._set_tolerances(spread)
        while True:
            self._move()
            lanes = self.fleet.read()
            values = self._values(lanes)
            # Where the tolerance is infinite, a chain without a simulation counts as one far away.
            within = values[(values <= self.tolerance) & np.isfinite(values)]
            before = self.tolerance
            if within.size >= FEWEST:
                self.tolerance = max(float(np.median(within)), coldest)
            tries = tries + 1 if self.tolerance >= before > coldest else 0
            if tries > TRIES:
                raise InputError(self._out_of_reach(values))
            if within.size < FEWEST:
                continue
            self._bring_along(lanes, values)
            self.fleet.load(lanes)
            if before == coldest == self.tolerance:
                return states_for(self.target, states_in(lanes, self.voyage.places))
            factor = self._factor(lanes)
            self._set_tolerances(spread if factor is None else factor)

    def _from_prior(self) -> Lanes:
        voyage, dimension = self.voyage, self.voyage.model.dimension
        lanes = empty_lanes(voyage.places, voyage.lanes)
        # Lanes that begin at the same place go different ways at once.
        drawn = self.problem.prior.draw(self.rng, DRAWS)
        log_prior = np.asarray(self.problem.prior.log_density(drawn))
        for side in range(2):
            which = self.rng.integers(DRAWS, size=voyage.lanes)
            lanes.reals[side * dimension : (side + 1) * dimension] = drawn[which].T
            lanes.reals[voyage.places.value + side] = np.inf
            lanes.reals[voyage.places.log_prior + side] = log_prior[which]
        lanes.wholes[Whole.STARTED] = 1
        return lanes

    def _set_tolerances(self, factor: FloatTable) -> None:
        """No rung is below the present tolerance; those above it have proposals of their own."""
        voyage = self.target
        levels = np.maximum(voyage.levels, self.tolerance)
        tuning = voyage.tuning.copy()
        place = voyage.model.factor
        tuning[voyage.levels < self.tolerance, place:] = factor.ravel()
        self.fleet.retune(levels, tuning)

    def _move(self) -> None:
        """So many moves of each chain."""
        before = int(self.fleet.sums()[Whole.DONE].sum())
        wanted = before + MOVES * 2 * self.voyage.lanes
        # Where each move takes one tick, so many do.
        each = 2 * MOVES if self.voyage.model.is_lockstep else TICKS
        ticks = np.full(self.voyage.lanes, each)
        for _ in range(MOST_LOOKS):
            self.look_up()
            self.fleet.catch_up(ticks)
            if int(self.fleet.sums()[Whole.DONE].sum()) >= wanted:
                return
            self.tell(f"looking for first states within {self.tolerance:.3g}", 0.5)

    def _values(self, lanes: Lanes) -> Floats:
        place = self.voyage.places.value
        return lanes.reals[place : place + 2].T.ravel()

    def _bring_along(self, lanes: Lanes, values: Floats) -> None:
        """Whoever is left behind goes on from where another is who has arrived."""
        rows = states_in(lanes, self.voyage.places)
        of_chain = np.repeat(np.maximum(self.target.levels, self.tolerance), 2 * self.voyage.groups)
        for level in np.unique(of_chain):
            behind = np.flatnonzero((of_chain == level) & ~(values <= level))
            arrived = np.flatnonzero(values <= level)
            rows[behind] = rows[self.rng.choice(arrived, behind.size)]
        put_states(lanes, self.voyage.places, rows)

    def _factor(self, lanes: Lanes) -> FloatTable | None:
        """Of proposals that suit where the chains are now; None if they are too few to tell."""
        rows = states_in(lanes, self.voyage.places)[:, : self.voyage.model.dimension]
        below = rows[self._values(lanes) <= self.tolerance]
        try:
            factor = np.linalg.cholesky(np.cov(below.T).reshape(below.shape[1], -1))
        except np.linalg.LinAlgError:
            return None
        return np.asarray(usual_scale(below.shape[1]) * factor)

    def _out_of_reach(self, values: Floats) -> str:
        smallest = ", ".join(f"{value:.4g}" for value in np.sort(values)[:5])
        return (
            f"no way was found below tolerance {self.tolerance:g}; the smallest distances seen "
            f"were {smallest}: use larger tolerances, or more lanes"
        )


def groups_on_the_way(voyage: Voyage) -> int:
    """How many groups find first states: as many as there are, if they are not too many or few."""
    groups = min(voyage.groups, max(MOST_LANES // voyage.positions, 1))
    return max(groups, -(-FEWEST_LANES // voyage.positions))


def states_for(voyage: Voyage, rows: FloatTable) -> FloatTable:
    """A state for each chain from those of more groups or of fewer, place by place in a group."""
    by_place = rows.reshape(voyage.positions, -1, rows.shape[1])
    wanted = by_place[:, np.arange(2 * voyage.groups) % by_place.shape[1]]
    found = np.full((2 * voyage.lanes, voyage.model.problem.width), np.nan)
    found[:, : wanted.shape[2]] = wanted.reshape(len(found), -1)
    return found
