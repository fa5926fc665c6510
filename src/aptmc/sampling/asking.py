"""From the arguments of `sample` to settings: refuse what cannot work before any work is done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from aptmc.backends import Backend, Processes
from aptmc.checks import whole_number, yes_or_no
from aptmc.clock import duration
from aptmc.errors import InputError
from aptmc.exchange import Rule
from aptmc.kernels import Kernel
from aptmc.kernels.default import why_chosen
from aptmc.keys import check_seed, new_seed
from aptmc.ladder import LEARNED, AutoLadder, Ladder
from aptmc.pools import Pools, Shared
from aptmc.problem import Problem
from aptmc.processors import processors_available
from aptmc.quota import EVALUATIONS, MOVES, NO_LIMIT, SIMULATIONS, Quota, quota_in
from aptmc.sampling.enough import until_from
from aptmc.sampling.short_forms import kernel_from, ladder_from, pools_from, schedule_from
from aptmc.schedule import Anytime, Schedule
from aptmc.settings import SWEEPS_TO_SETTLE, Settings, ToFind
from aptmc.store.folder import path_from
from aptmc.warmup import first_guess
from aptmc.warmup.guess import with_deadlines


def asked_for(
    problem: Problem,
    budget: float | str,
    ladder: Any,
    kernel: Kernel | str,
    schedule: Schedule | str | None,
    pools: Pools | str | None,
    on: Backend | None,
    warmup: float | str,
    keep: str,
    thin: int,
    log_events: bool | None,
    store: str | os.PathLike[str] | None,
    save_every: float | str,
    progress: bool | None,
    seed: int | None,
    until: Any,
    *,
    shows_progress: bool,
) -> tuple[Settings, Path | None]:
    """The settings that were asked for, whole, and where the run is to be kept.

    :param shows_progress: if nothing is said about that
    """
    check_kind("problem", problem, Problem)
    placed = pools_from(pools)
    is_automatic = isinstance(kernel, str) and kernel == "auto"
    moves = problem.default_kernel() if is_automatic else kernel_from(kernel)
    exchanges = schedule_from(schedule) or Anytime()
    wanted = ladder_from(ladder, problem)
    if on is not None and on.own_pools is not None:
        if placed is not None:
            raise InputError(f"{on!r} places its chains itself: leave out pools={placed!r}")
        placed = on.own_pools
    if on is not None and on.own_deadlines is not None and exchanges.wants_deadlines:
        exchanges = with_deadlines(exchanges, on.own_deadlines(problem), 0.0)
    _check_that_they_fit(problem, wanted, moves, exchanges)

    quota, seconds = amount_of(budget, problem)
    ends = until_from(until)
    check_quota(ends.quota, problem)
    if on is not None and on.settles_itself and (quota or ends.quota):
        raise InputError(
            f"{on!r} does not count {(quota or ends.quota)}: give a time, or its ticks"
        )
    to_find = ToFind(
        ladder=wanted if isinstance(wanted, AutoLadder) else None,
        kernel=moves if moves.learns else None,
        deadlines=exchanges if exchanges.wants_deadlines else None,
        reference=isinstance(wanted, Ladder | AutoLadder) and wanted.reference == LEARNED,
        pools=placed is None,
        length=_length(warmup, budget, quota),
    )
    if to_find.length == 0.0 and to_find.needs_warmup:
        raise InputError(
            "without a warm-up nothing can be found automatically: leave out warmup=0, or give "
            "ladder, kernel and the time between deadlines"
        )
    if keep not in ("coldest", "all"):
        raise InputError(f'keep must be "coldest" or "all", got {keep!r}')
    thin = whole_number("thin", thin)
    seed = new_seed() if seed is None else check_seed(seed)
    if on is None:
        on = _default_backend(wanted, exchanges, placed, to_find)
    settles = exchanges.settles and not on.settles_itself
    settings = Settings(
        problem=problem,
        ladder=wanted,  # type: ignore[arg-type]  # until it has its first guess
        kernel=moves,
        schedule=exchanges,
        pools=placed or Shared(),
        on=on,
        seed=seed,
        budget=seconds,
        quota=quota,
        until=str(ends),
        warmup=0.0 if to_find.needs_warmup else to_find.length or 0.0,
        settling=SWEEPS_TO_SETTLE if settles and to_find.length != 0.0 else 0,
        keep=keep,
        thin=thin,
        log_events=(on.logs_events or store is not None)
        if log_events is None
        else yes_or_no("log_events", log_events),
        save_every=duration(save_every, "save_every"),
        progress=shows_progress if progress is None else progress,
        to_find=to_find,
        chosen=why_chosen(problem) if is_automatic else "",
    )
    return first_guess(settings), None if store is None else path_from("store", store)


def amount_of(budget: float | str, problem: Problem) -> tuple[Quota | None, float]:
    """What may be computed, if the budget says that; and how long it may take."""
    quota = quota_in(budget)
    if quota is None:
        return None, duration(budget)
    check_quota(quota, problem)
    return quota, NO_LIMIT


def check_quota(quota: Quota | None, problem: Problem) -> None:
    """Refuse to count what a problem does not have."""
    if quota is None or quota.unit == MOVES:
        return
    wanted = SIMULATIONS if problem.has_simulator else EVALUATIONS
    if quota.unit != wanted:
        raise InputError(
            f"this problem has {wanted} and no {quota.unit}, got {str(quota)!r}: say how many "
            f'{wanted}, or "{quota.most:.0f} moves"'
        )


def check_kind(name: str, value: object, kind: Any) -> None:
    """Refuse what is not of the kind that an argument must be."""
    if not isinstance(value, kind):
        raise wrong_kind(name, value)


def wrong_kind(name: str, value: object) -> InputError:
    """The error that says what an argument must be."""
    wanted = {"on": "Backend", "exchange": "Rule", "within": "Rule"}.get(name, name.capitalize())
    remedy = ""
    if wanted == "Rule":
        remedy = f": use {name}=aptmc.RungParity(), say, or leave it out"
    if name == "problem" and callable(value):
        remedy = ": use aptmc.Tempered(log_likelihood, prior), or aptmc.Abc for a simulator"
    return InputError(f"{name} must be an aptmc {wanted}, got {value!r}{remedy}")


def _check_that_they_fit(
    problem: Problem, ladder: Ladder | AutoLadder | Any, kernel: Kernel, schedule: Schedule
) -> None:
    if isinstance(ladder, AutoLadder) and ladder.hottest is not None:
        if problem.ladder_kind != "tolerances":
            raise InputError(
                f"hottest is a tolerance, got {ladder.hottest!r} for a problem of kind "
                f"{type(problem).__name__}, which stands on powers: leave it out"
            )
    elif isinstance(ladder, Ladder):
        if ladder.kind != problem.ladder_kind:
            raise InputError(
                f"a problem of kind {type(problem).__name__} needs a ladder of "
                f"{problem.ladder_kind}, got {ladder!r}: use aptmc.Ladder.{problem.ladder_kind}"
            )
        if ladder.reference is not None:
            problem = problem.with_fitted_reference()
        problem.check_levels(ladder.levels)
        kernel.at_first(np.ones(problem.dimension), ladder.rungs).tuning(problem, ladder)
    if isinstance(ladder, Ladder | AutoLadder) and ladder.reference is not None:
        _check_reference(problem, ladder, kernel)
    for name, rule in (("exchange", schedule.exchange), ("within", schedule.within)):
        if rule is None:
            continue
        check_kind(name, rule, Rule)
        if rule.kind not in (None, problem.ladder_kind):
            raise InputError(f"{type(rule).__name__}() is for ladders of {rule.kind} only")


def _check_reference(problem: Problem, ladder: Ladder | AutoLadder, kernel: Kernel) -> None:
    problem.with_fitted_reference()
    if not kernel.suits_any_reference:
        raise InputError(
            f"{type(kernel).__name__} moves towards prior * likelihood ** level, and with "
            f"reference={ladder.reference!r} rungs are something else: leave out the reference"
        )
    if isinstance(ladder, Ladder) and ladder.levels[-1] != 0.0:
        raise InputError(
            f"a reference stands at power 0, and this ladder ends at {ladder.levels[-1]:g}: use "
            f"Ladder.powers([1, …, 0], reference={ladder.reference!r})"
        )
    dimension = getattr(ladder.reference, "dimension", problem.dimension)
    if dimension != problem.dimension:
        raise InputError(
            f"the reference has {dimension} coordinates, and the problem {problem.dimension}"
        )


def _length(warmup: float | str, budget: float | str, quota: Quota | None) -> float | None:
    """How long a warm-up was asked for, if that was said."""
    if warmup == "auto":
        return None
    if not isinstance(warmup, bool) and warmup == 0:
        return 0.0
    if quota is not None:
        raise InputError(
            f"with a budget of {quota} a warm-up takes a quarter of them, got warmup={warmup!r}: "
            "leave it out"
        )
    length = duration(warmup, "warmup")
    if length >= duration(budget):
        raise InputError(f"warmup must be shorter than the budget, got {warmup!r} and {budget!r}")
    return length


def _default_backend(
    ladder: Ladder | AutoLadder | Any, schedule: Schedule, pools: Pools | None, to_find: ToFind
) -> Backend:
    """As many workers as there are processors and as the chains can keep busy."""
    for processors in range(processors_available(), 1, -1):
        if isinstance(ladder, Ladder) and not to_find.needs_warmup:
            try:
                schedule.check((pools or Shared()).layout(ladder, processors))
            except InputError:
                continue
        return Processes(processors)
    return Processes(1)
