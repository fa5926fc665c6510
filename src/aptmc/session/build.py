"""Build a session from a problem and its settings."""

from __future__ import annotations

from functools import partial

import numpy as np

from aptmc.compiled import FloatTable
from aptmc.coordinator.state import SETTLED, Coordinator, Functions, Settling, coordinator
from aptmc.kernels import Kernel
from aptmc.keys import DEADLINE, Key, start_of_epoch
from aptmc.ladder import Ladder
from aptmc.pools import Layout
from aptmc.problem import Problem
from aptmc.problem.chain_state import value_column
from aptmc.problem.prior.draws import draw_prior
from aptmc.problem.prior.log_densities import log_any_density
from aptmc.record.event_log import empty_log
from aptmc.record.record import Record, empty_record
from aptmc.schedule.base import Plan
from aptmc.session.compilation import Aside, Compilation, WaitedFor
from aptmc.session.descent import DownTo, Tell, say_nothing
from aptmc.session.first_states import descent_for, first_states, states_found
from aptmc.session.kept_code import KEPT_ON_DISK
from aptmc.session.orders import ComputeAll, target_for
from aptmc.session.session import Session, empty_states
from aptmc.session.standing_by import stand_by_to_answer
from aptmc.settings import Settings
from aptmc.store import Store
from aptmc.targets import INTERPRETED, needed_by
from aptmc.targets.when import ASIDE, FIRST, when_to_compile

MOST_LOOKING = 1024  # chains on a rung that look for a first state of their own
# Seconds of a round of a warm-up before anything is compiled aside: processors have work of the
# user's own, and a short run is over before it pays.
LATER_IN_WARM_UP = 2.0
RECORD_ROWS = 1 << 16
RECORD_NUMBERS = 1 << 22  # of all rows together: 32 MiB


def build_session(
    settings: Settings,
    store: Store,
    *,
    layout: Layout | None = None,
    epoch: int = 0,
    follows: float | None = None,
    settling: Settling | None = None,
    is_warm_up: bool = False,
) -> Session:
    """A coordinator wired to functions, streams and a store. Its chains have no states yet.

    :param layout: where chains and processors stand, if not as the settings say
    :param epoch: which phase of a run this is: each has random keys of its own
    :param follows: how fast deadlines follow the time of a sweep, if not as the schedule says
    :param settling: how it settles, if not as the settings say and from first states
    :param is_warm_up: whether it is a round of one
    """
    problem, ladder, kernel = settings.problem, settings.ladder, settings.kernel
    schedule = settings.schedule
    layout = settings.layout() if layout is None else layout
    deadlines = Key(settings.seed, 0, start_of_epoch(epoch), DEADLINE)
    plan = schedule.plan(deadlines.generator())
    if follows is not None:
        plan = plan._replace(follows=follows, settings=plan.settings._replace(follow=follows > 0))
    settling = Settling(settings.settling) if settling is None else settling
    machine = build_machine(plan, ladder, layout, problem.dimension, problem.width, epoch, settling)
    rounds = max(plan.rounds, plan.rounds_within_pool)
    rows = min(RECORD_ROWS, RECORD_NUMBERS // problem.width) + 8 * rounds * layout.rung.size
    functions = functions_of(settings)
    return Session(
        seed=settings.seed,
        problem=problem,
        kernel=kernel,
        machine=machine,
        record=build_record(
            ladder, layout, problem.width, settings.keep, rows, settings.thin, kernel.info_length
        ),
        log=empty_log(RECORD_ROWS + 4 * layout.served.size if settings.log_events else 0),
        served=layout.served,
        apart=layout.apart,
        tuning=kernel.numbers(problem, ladder),
        functions=functions,
        compilation=compilation_for(settings, functions, is_warm_up),
        find_states=partial(_find_states, problem, ladder, kernel, layout, settings.seed),
        descend=partial(
            descent_for, problem, ladder, kernel, settings.seed, down_to(settings, ladder, layout)
        ),
        found_by=partial(states_found, ladder=ladder, layout=layout),
        store=store.append,
    )


def _find_states(
    problem: Problem,
    ladder: Ladder,
    kernel: Kernel,
    layout: Layout,
    seed: int,
    compute_all: ComputeAll,
    tell: Tell = say_nothing,
) -> FloatTable:
    """First states; of very many chains on a rung, some begin where others do."""
    place = np.arange(layout.rung.size) - np.searchsorted(layout.rung, layout.rung)
    looks = place < MOST_LOOKING
    if looks.all():
        return first_states(problem, ladder, kernel, layout, seed, compute_all, tell)
    few = layout._replace(
        rung=layout.rung[looks], pool=layout.pool[looks], moves=layout.moves[looks]
    )
    found = first_states(problem, ladder, kernel, few, seed, compute_all, tell)
    looking = np.bincount(few.rung, minlength=ladder.rungs)
    first = np.cumsum(looking) - looking
    return found[first[layout.rung] + place % looking[layout.rung]]


def down_to(settings: Settings, ladder: Ladder, layout: Layout) -> DownTo:
    """How far first states have to be searched for: down to the coldest rung with a chain."""
    levels = ladder.levels[int(layout.rung.min()) :]
    return DownTo(levels, settings.problem.start_simulations, settings.on.searchers)


def functions_of(settings: Settings) -> Functions:
    """The functions with which a coordinator works. They may have to be compiled yet."""
    schedule, target = settings.schedule, KEPT_ON_DISK
    rule = schedule.rule(settings.ladder.kind)
    return Functions(
        rule.function(target),
        (schedule.within or rule).function(target),
        *schedule.functions(target),
        settings.problem.log_weight(),
    )


def goes_ahead(settings: Settings) -> bool:
    """Whether a run begins without a compiled coordinator, if there is none on disk.

    One in plain Python does; and one whose workers need not wait for the process that coordinates.
    """
    is_plain = not target_for(settings.problem, settings.kernel).is_compiled
    when = when_to_compile()
    return when != FIRST if is_plain else when == ASIDE and settings.on.compiles_aside


def compilation_for(settings: Settings, functions: Functions, is_warm_up: bool) -> Compilation:
    """Who waits for the compiler."""
    problem, kernel = settings.problem, settings.kernel
    needed = (stand_by_to_answer, *functions)
    if not goes_ahead(settings):
        return WaitedFor(needed)
    # What plain moves call, and what priors that are put together of parts do.
    later = (*needed_by(kernel.move(problem, INTERPRETED)), draw_prior, log_any_density)
    is_compiled = target_for(problem, kernel).is_compiled
    if is_compiled:
        return Aside(needed, urgent=True)
    return Aside(needed, later, after=LATER_IN_WARM_UP if is_warm_up else 0.0)


def build_machine(
    plan: Plan,
    ladder: Ladder,
    layout: Layout,
    dimension: int,
    width: int,
    epoch: int,
    settling: Settling = SETTLED,
) -> Coordinator:
    """A coordinator whose chains have no states yet."""
    states, level = empty_states(layout.rung.size, width), ladder.level_array()
    return coordinator(plan, layout, level, states, value_column(dimension), epoch, settling)


def build_record(
    ladder: Ladder, layout: Layout, width: int, keep: str, rows: int, thin: int, info_length: int
) -> Record:
    """A record without draws, with room for those that are to be kept."""
    chains = layout.rung.size
    wanted = layout.rung == 0 if keep == "coldest" else np.ones(chains, np.bool_)
    if layout.recorded is not None:
        wanted &= layout.recorded
    return empty_record(layout.rung, ladder.rungs, width, wanted, rows, thin, info_length)
