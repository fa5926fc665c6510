"""The surrogate: a problem made of a pilot's own moves, for which no simulator is needed.

A state is the number of a state that the pilot has seen. From it, on any rung, a chain makes one of
the moves that the pilot made on that rung from the nearest states: it takes as long, and leads
where it led; where the pilot stayed, the chain stays. Hold times so depend on the state as they did
in the pilot, and exchanges look at the pilot's own log densities or distances, by the real rule.

If the pilot kept only its coldest rung there is a single state, and each move takes as long as any
of its rung did.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np
from scipy.spatial import cKDTree

from aptmc.compiled import Floats, FloatTable, Generator, Integers, compiled
from aptmc.kernels.base import STEPS, Kernel
from aptmc.kernels.parts import Parts
from aptmc.ladder import Ladder
from aptmc.planning.pilot import Pilot, Transitions
from aptmc.problem.base import Problem
from aptmc.problem.chain_state import ACCEPTED, WORK, state_width
from aptmc.problem.variables import scalars
from aptmc.problem.weights import power_log_weight, tolerance_log_weight
from aptmc.targets import NUMBA

NEIGHBOURS = 5
MOST_STATES = 12_000  # of all rungs together
CHOICES, MOVES, TABLES = 1, 2, 3  # places in a rung's numbers; tables follow
STAYS = -1.0
INDEX, VALUE = 0, 1  # places in a state


@compiled
def make_pilots_step(
    level: float, tuning: Floats, here: Floats, rng: Generator, there: Floats, info: Floats
) -> bool:
    """Make one of the pilot's moves on this rung from nearby."""
    choices, moves = int(tuning[CHOICES]), int(tuning[MOVES])
    end = tuning.shape[0]
    hold, leads_to, value = end - 3 * moves, end - 2 * moves, end - moves
    first = TABLES + int(here[INDEX]) * choices
    move = int(tuning[first + int(rng.random() * choices)])
    info[WORK] += tuning[hold + move]
    if tuning[leads_to + move] == STAYS:
        return False
    there[:] = here
    there[INDEX] = tuning[leads_to + move]
    there[VALUE] = tuning[value + move]
    return True


@compiled
def make_pilots_move(
    level: float, tuning: Floats, state: Floats, rng: Generator, outcome: Floats, info: Floats
) -> None:
    """Several of them: the loop of every kernel, on disk, so that no pilot has to compile it."""
    there = np.empty_like(state)
    for i in range(state.size):  # not as a whole: what numba adds for that has ambiguous names
        outcome[i] = state[i]
    for i in range(info.size):
        info[i] = 0.0
    for _ in range(int(tuning[STEPS])):
        if make_pilots_step(level, tuning, outcome, rng, there, info):
            for i in range(state.size):
                outcome[i] = there[i]
            info[ACCEPTED] += 1.0


@final
class PilotProblem(Problem):
    """States that the pilot has seen, by number."""

    value_name = "value"

    def __init__(self, ladder_kind: str) -> None:
        super().__init__(scalars(["state"]), "make_pilots_move", target=NUMBA)
        self._ladder_kind = ladder_kind
        self.compiled_moves[NUMBA, PilotsMoves] = make_pilots_move

    @property
    def ladder_kind(self) -> str:
        """The kind of the pilot's ladder."""
        return self._ladder_kind

    @property
    def reference(self) -> None:
        """None: only what was seen can be seen again."""
        return None

    def check_levels(self, levels: tuple[float, ...]) -> None:
        """Accept any: they are the pilot's own, which it has sampled."""

    def log_weight(self) -> Callable[[float, float], float]:
        """What exchanges look at, as the pilot's problem has it."""
        is_power = self._ladder_kind == "powers"
        return power_log_weight if is_power else tolerance_log_weight

    def check(self, row: Floats) -> None:
        """Accept any state: the pilot has seen them all."""


@final
class PilotsMoves(Kernel):
    """The pilot's moves as tables, one row for each rung that is wanted."""

    def __init__(self, rows: FloatTable) -> None:
        self.rows = rows

    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """The number of steps, and the tables."""
        return self.rows

    @property
    def code(self) -> type:
        """Its kind alone, so that all pilots share one compiled step."""
        return PilotsMoves

    def step(self, parts: Parts) -> Callable[..., bool]:
        """Repeat a move that the pilot made from nearby, drawn at random."""
        return parts.target.library(make_pilots_step)


class Surrogate(NamedTuple):
    """All that a simulation needs of the pilot."""

    problem: PilotProblem
    rows: FloatTable  # of each rung of the pilot
    parameters: FloatTable  # of each state
    value: Floats  # of each state
    seen_on: list[Integers]  # by rung: the numbers of the states that were seen there

    def first_states(self, rungs: Integers, rng: np.random.Generator) -> FloatTable:
        """A state for each chain, one that the pilot has seen on its rung."""
        states = np.zeros((rungs.size, state_width(1)))
        for rung in np.unique(rungs):
            chains = np.flatnonzero(rungs == rung)
            states[chains, INDEX] = rng.choice(self.seen_on[rung], chains.size)
        states[:, VALUE] = self.value[states[:, INDEX].astype(np.int64)]
        return states


def surrogate_of(pilot: Pilot) -> Surrogate:
    """The pilot's moves, or as many of them as are needed."""
    if pilot.transitions is None:
        return _without_states(pilot)
    most = max(MOST_STATES // pilot.ladder.rungs, 1)
    kept = [_some(moves, most) for moves in pilot.transitions]
    # Where chains make no moves of their own, states come by exchange alone, from the other rungs.
    parameters = np.concatenate([moves.after for moves in kept])
    value = np.concatenate([moves.value for moves in kept])
    first = np.cumsum([0, *(moves.hold.size for moves in kept)])
    seen_on = [np.arange(start, end) for start, end in pairwise(first)]
    rows = []
    for rung, moves in enumerate(kept):
        if moves.hold.size == 0:
            rows.append(
                _row(np.zeros((value.size, 1)), np.zeros(1), np.full(1, STAYS), np.zeros(1))
            )
            levels = np.array(pilot.ladder.levels)
            fits = value <= levels[rung] if pilot.ladder.kind == "tolerances" else value > -np.inf
            near = min(pilot.movers, key=lambda other: abs(other - rung))
            seen_on[rung] = seen_on[near][fits[seen_on[near]]]
            continue
        leads_to = np.where(moves.stayed == 1, STAYS, seen_on[rung])
        rows.append(_row(_nearest(moves.before, parameters), moves.hold, leads_to, moves.value))
    problem = PilotProblem(pilot.ladder.kind)
    return Surrogate(problem, _table(rows), parameters, value, seen_on)


def _without_states(pilot: Pilot) -> Surrogate:
    rows = []
    for hold in pilot.hold:
        some = hold if hold.size > 0 else np.zeros(1)
        every = -(-some.size // MOST_STATES)
        some = some[::every]
        choices = np.arange(some.size, dtype=np.float64).reshape(1, -1)
        rows.append(_row(choices, some, np.full(some.size, STAYS), np.zeros(some.size)))
    nothing, here = np.zeros(1), np.zeros(1, np.int64)
    problem = PilotProblem(pilot.ladder.kind)
    return Surrogate(problem, _table(rows), np.zeros((1, 1)), nothing, [here] * len(rows))


def _row(choices: FloatTable, hold: Floats, leads_to: Floats, value: Floats) -> Floats:
    """Choices by state at the front, numbers by move at the back."""
    head = np.array([1.0, choices.shape[1], hold.size])
    row: Floats = np.concatenate([head, choices.ravel(), hold, leads_to, value])
    return row


def _table(rows: list[Floats]) -> FloatTable:
    """Rows of one length: whatever fills the middle is never looked at."""
    table = np.zeros((len(rows), max(row.size for row in rows)))
    for place, row in enumerate(rows):
        at_the_back = 3 * int(row[MOVES])
        table[place, : row.size - at_the_back] = row[:-at_the_back]
        table[place, -at_the_back:] = row[-at_the_back:]
    return table


def _some(moves: Transitions, most: int) -> Transitions:
    every = max(-(-moves.hold.size // most), 1)
    columns: list[Any] = [column[::every] for column in moves]
    return Transitions(*columns)


def _nearest(before: FloatTable, states: FloatTable) -> FloatTable:
    """For each state, the moves that started nearest to it, on the scale of where moves started."""
    centre = before.mean(axis=0)
    spread, axes = np.linalg.eigh(np.atleast_2d(np.cov(before.T)))
    usable = spread > 1e-12 * spread[-1]
    choices = min(NEIGHBOURS, len(before))
    if not usable.any():  # all moves started from one place
        return np.tile(np.arange(choices, dtype=np.float64), (len(states), 1))
    whiten = axes[:, usable] / np.sqrt(spread[usable])
    _, nearest = cKDTree((before - centre) @ whiten).query((states - centre) @ whiten, choices)
    table: FloatTable = nearest.reshape(len(states), choices).astype(np.float64)
    return table
