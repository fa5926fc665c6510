"""From the moment of the call: a control, and a view that says what happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import final

from aptmc.backends import Backend
from aptmc.clock import duration
from aptmc.problem import Problem
from aptmc.progress import Watch, choose_view
from aptmc.quota import quota_in
from aptmc.sampling.asking import check_kind
from aptmc.sampling.phases import Phases
from aptmc.session.build import functions_of, goes_ahead
from aptmc.session.compilation import own_functions, waited_for
from aptmc.session.control import Control
from aptmc.session.standing_by import is_in_cache, stand_by_to_answer
from aptmc.session.start_up import Part
from aptmc.settings import Settings
from aptmc.targets.when import FIRST, when_to_compile

COMPILING = "compiling the sampler, once on this machine (about 20 s)"
OWN = "compiling your exchange rule or schedule, once on this machine"


@final
@dataclass(frozen=True)
class Call:
    """A call that was made, and whoever watches."""

    control: Control
    watch: Watch | None

    def watched(self, phases: Phases) -> Phases:
        """A run that is ready, which shows itself from now on and closes the view at its end."""
        phases.watch = self.watch
        return phases


@contextmanager
def announced(on: Backend | None, budget: float | str, *, progress: bool) -> Iterator[Call]:
    """Have a view before anything slow is done. What fails in this block leaves no trace of it.

    :param on: who computes; None: who did before, by the clock
    """
    check_kind("on", on, Backend | None)
    quota = quota_in(budget)
    amount, unit = (duration(budget), "s") if quota is None else (quota.most, quota.unit)
    if quota is None and on is not None:
        unit = on.time_unit
    control = Control()
    view = choose_view(progress)
    if view is None:
        yield Call(control, None)
        return
    watch = Watch(view, control, amount, unit)
    try:
        watch.begin()
        yield Call(control, watch)
    except BaseException:
        view.close("")
        raise


@contextmanager
def while_workers_begin(problem: object, on: Backend | None, control: Control) -> Iterator[None]:
    """Have workers begin while this block looks at what was asked for, and note what is compiled.

    Of all that a call does only that does not count which is compiled once on a machine, and a
    plain problem does not wait for that: see `aptmc.session.compilation`.
    """
    is_plain = isinstance(problem, Problem) and not problem.target.is_compiled
    waits = not is_plain or when_to_compile() == FIRST
    if on is not None:
        on.start_early(compiles=not is_plain)
    yield
    if waits and (on is None or on.is_in_real_time) and not is_in_cache():
        control.once = partial(_compile_the_sampler, control)


def compile_own(settings: Settings, control: Control) -> None:
    """Compile rules and schedules of the user's own, unless the run can begin without."""
    functions = functions_of(settings)
    own = waited_for(functions) if goes_ahead(settings) else own_functions(functions)
    waiting = [function for function in own if not function.load()]
    if waiting:
        begun = control.clock.now()
        with control.start_up.without_looking_up(Part.SAMPLER, OWN):
            for function in waiting:
                function.make_ready()
        control.called += control.clock.now() - begun


def _compile_the_sampler(control: Control) -> None:
    with control.start_up.without_looking_up(Part.SAMPLER, COMPILING):
        stand_by_to_answer.make_ready()
