"""First states of densities on lanes: all chains go from the prior to their powers together.

Many short chains forget their start only if they begin near the target, and modes far apart they
never leave. So the power is raised in steps, so small that half of the chains would be enough for
what comes after; at each of them all go on from states that are drawn by their weights, and make
some moves. A chain stays at the power of its rung.

Each makes equally many, however long they take. Whoever went by time, and left or took what is in
flight, would have too few or too many of the states from which moves take long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import final

import numpy as np
from scipy.optimize import brentq

from aptmc.backends.lanes.descent import groups_on_the_way, states_for
from aptmc.backends.lanes.device import Device
from aptmc.backends.lanes.fleet import Voyage
from aptmc.backends.lanes.tables import Lanes, Whole, empty_lanes, put_states, states_in
from aptmc.compiled import Floats, FloatTable, Generator
from aptmc.keys import START, Key
from aptmc.problem.density import DensityProblem
from aptmc.session.descent import Tell

DRAWS = 1024  # from the prior, at least, where chains begin
MOVES = 4  # of each chain at each power
MOST_LANES = 1 << 13  # all of which are looked at now and then; others begin with copies
LEAST = 1e-14  # by which the power is raised, of what is left
SHARE = 0.5  # of the states that must remain, by their weights, at the next power


@final
class Tempering:
    """Chains on their way from the prior.

    :param look_up: is called now and then, and may raise to stop
    """

    def __init__(
        self, voyage: Voyage, device: Device, tell: Tell, look_up: Callable[[], None]
    ) -> None:
        self.problem, self.target = voyage.model.problem, voyage
        self.rng = Key(voyage.seed, 1, 0, START).generator()
        # Moves of the run have keys of their own.
        groups = min(groups_on_the_way(voyage), max(MOST_LANES // voyage.positions, 1))
        self.voyage = replace(voyage, groups=groups, seed=int(self.rng.integers(1 << 62)))
        self.fleet = device.fleet(self.voyage)
        self.tell, self.look_up = tell, look_up

    def states(self, drawn: FloatTable) -> FloatTable:
        """A state for each chain.

        :param drawn: states of the prior
        """
        lanes, power = self._from(drawn), 0.0
        count = 2 * self.voyage.groups  # of chains in each place of a group
        while power < self.target.levels[0]:
            rising = self.target.levels > power
            rows = states_in(lanes, self.voyage.places).reshape(len(rising), count, -1)
            before = rows[rising].reshape(-1, rows.shape[2])
            increment = self._increment(before, power)
            for place in np.flatnonzero(rising):
                raised = min(increment, float(self.target.levels[place]) - power)
                rows[place] = self._resampled(before, raised, count)
            put_states(lanes, self.voyage.places, rows.reshape(-1, rows.shape[2]))
            top = float(self.target.levels[0])
            power = top if increment >= top - power else power + increment
            self._set_power(power)
            self.tell(f"looking for first states at power {power:.3g}", 0.5)
            lanes = self._moved(lanes)
        return states_for(self.target, states_in(lanes, self.voyage.places))

    def _from(self, drawn: FloatTable) -> Lanes:
        voyage = self.voyage
        lanes = empty_lanes(voyage.places, voyage.lanes)
        width = voyage.model.dimension + 2
        # Lanes that begin at the same place go different ways at once.
        which = self.rng.integers(len(drawn), size=2 * voyage.lanes)
        which[: min(len(drawn), which.size)] = np.arange(min(len(drawn), which.size))
        put_states(lanes, voyage.places, drawn[which, :width])
        lanes.wholes[Whole.STARTED] = 1
        return lanes

    def _increment(self, rows: FloatTable, power: float) -> float:
        """By how much the power may be raised."""
        left = float(self.target.levels[0]) - power
        values = rows[:, self.voyage.model.dimension]

        def too_many(increment: float) -> float:
            weights = _weights(values, increment)
            return float(1.0 / (weights @ weights)) / len(values) - SHARE

        if too_many(left) >= 0.0:
            return left
        # The first steps from a wide prior are tiny, and none may be nothing.
        least = LEAST * left
        return max(float(brentq(too_many, 0.0, left, xtol=least, rtol=1e-3)), least)

    def _resampled(self, rows: FloatTable, increment: float, count: int) -> FloatTable:
        """States at a power raised by so much: each as often as its weight says."""
        weights = _weights(rows[:, self.voyage.model.dimension], increment)
        found: FloatTable = rows[_drawn(self.rng, weights, count)]
        return found

    def _set_power(self, power: float) -> None:
        """No rung is above the present power; with the proposals of the rung that is next to it."""
        voyage = self.target
        levels = np.minimum(voyage.levels, power)
        nearest = np.abs(levels[:, None] - voyage.levels[None]).argmin(axis=1)
        self.fleet.retune(levels, voyage.tuning[nearest])

    def _moved(self, lanes: Lanes) -> Lanes:
        """The lanes after equally many moves of each chain.

        A move in flight changes nothing before its end. So whoever is in the one after the last is
        right; who was taken beyond that goes back to where it was, and on by fewer ticks.
        """
        # What was in flight led away from where a chain no longer is.
        lanes.wholes[[Whole.UNDER_WAY, Whole.BROKEN]] = 0
        lanes.wholes[Whole.STARTED : Whole.STARTED + 2] += 1
        wanted = lanes.wholes[Whole.DONE] + 2 * MOVES
        ticks = np.full(self.voyage.lanes, 2 * MOVES)
        self._load(lanes)
        while ticks.any():
            self.look_up()
            self.fleet.catch_up(ticks)
            now = self.fleet.read()
            is_beyond = now.wholes[Whole.DONE] > wanted
            stands = now.wholes[Whole.DONE] == lanes.wholes[Whole.DONE]
            ticks[stands] *= 2
            ticks[is_beyond] //= 2
            if is_beyond.any():
                for column, before in zip(now, lanes, strict=True):
                    column[:, is_beyond] = before[:, is_beyond]
                self._load(now)
            lanes = now
            # One that failed stays where it is: the run will come to that, too, and name it.
            is_broken = lanes.wholes[Whole.BROKEN] != 0
            ticks[(lanes.wholes[Whole.DONE] == wanted) | is_broken] = 0
        return lanes

    def _load(self, lanes: Lanes) -> None:
        """A copy: a fleet may go on in what it is given."""
        self.fleet.load(Lanes(lanes.reals.copy(), lanes.wholes.copy(), lanes.words.copy()))


def _weights(values: Floats, increment: float) -> Floats:
    """Of states at a power raised by so much: they add up to 1."""
    logs = increment * values
    weights = np.exp(logs - logs.max())
    shares: Floats = weights / weights.sum()
    return shares


def _drawn(rng: Generator, weights: Floats, count: int) -> np.ndarray:
    """Which are drawn, in random order: each nearly as often as is expected."""
    places = (np.arange(count) + rng.random()) / count
    found = np.searchsorted(np.cumsum(weights), places).clip(max=len(weights) - 1)
    return rng.permutation(found)


def with_more(rows: FloatTable, problem: DensityProblem, seed: int) -> FloatTable:
    """These draws from the prior and others, so many that weights among them tell something.

    Where the likelihood is zero nearly everywhere they are fewer.
    """
    rng = Key(seed, 2, 0, START).generator()
    more: list[Floats] = []
    while len(rows) + len(more) < DRAWS:
        row = problem.start(rng)
        if not problem.is_possible(row):
            break
        more.append(row)
    return np.vstack([rows, *more])
