"""Do birth and death undo each other, with the Jacobian that they say?"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.problem.base import Problem

TRIES = 200  # draws from the prior, in which to find one of each model
NEARBY = 1e-6  # how far away differences are taken, for numbers around one
CLOSE = 1e-3  # of a log Jacobian by differences


def check_maps(
    sizes: tuple[int, ...],
    birth: Callable[..., float],
    death: Callable[..., float],
    problem: Problem,
) -> None:
    """Refuse maps that are not each other's inverse, or whose Jacobian is another one.

    At one draw from the prior of each model, if there is a prior to draw from.
    """
    if problem.reference is None:
        return
    rng = np.random.default_rng(1)
    seen: set[int] = set()
    for _ in range(TRIES):
        state = np.ravel(problem.reference.draw(rng))
        model = int(state[0])
        if model in seen or model >= len(sizes) - 1:
            continue
        seen.add(model)
        theta = state[1 : 1 + sizes[model]].copy()
        draws = 0.1 + 0.8 * rng.random(sizes[model + 1] - sizes[model])
        _check_at(theta, draws, birth, death, model)


def _check_at(
    theta: Floats,
    draws: Floats,
    birth: Callable[..., float],
    death: Callable[..., float],
    model: int,
) -> None:
    larger, back, uniform = np.empty(theta.size + draws.size), theta.copy(), draws.copy()
    forth_log = float(birth(theta.copy(), draws.copy(), larger))
    back_log = float(death(larger.copy(), uniform, back))
    where = f"of model {model} at {theta.tolist()} with the draws {draws.tolist()}"
    if not (np.allclose(back, theta, rtol=1e-6) and np.allclose(uniform, draws, rtol=1e-6)):
        raise InputError(
            f"death must undo birth, but after the birth {where} it gives {back.tolist()} and "
            f"{uniform.tolist()}: write it as the inverse"
        )
    found = _log_jacobian(theta, draws, birth)
    if not abs(forth_log - found) < CLOSE * max(1.0, abs(found)):
        raise InputError(
            f"birth {where} returns {forth_log:.6g} for the log of the absolute Jacobian "
            f"determinant, which by differences is {found:.6g}: return that of the map from theta "
            "and draws to there"
        )
    if not math.isclose(back_log, -forth_log, rel_tol=1e-6, abs_tol=1e-6):
        raise InputError(
            f"death returns {back_log:.6g} for the log of its Jacobian after the birth {where}, "
            f"which must be minus that of the birth, {-forth_log:.6g}"
        )


def _log_jacobian(theta: Floats, draws: Floats, birth: Callable[..., float]) -> float:
    """By central differences."""
    point = np.concatenate([theta, draws])
    columns = []
    for place in range(point.size):
        nearby = NEARBY * max(1.0, abs(point[place]))
        ends = []
        for sign in (1.0, -1.0):
            moved, there = point.copy(), np.empty(point.size)
            moved[place] += sign * nearby
            birth(moved[: theta.size].copy(), moved[theta.size :].copy(), there)
            ends.append(there)
        columns.append((ends[0] - ends[1]) / (2.0 * nearby))
    return float(np.linalg.slogdet(np.array(columns))[1])
