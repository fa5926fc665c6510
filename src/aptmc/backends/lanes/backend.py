"""Lanes: the anytime race in ticks of the machine, so that no lane ever waits for another."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Literal, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.backends.base import Backend, Engine, LoopEngine
from aptmc.backends.early_here import before_moves_count, search_here
from aptmc.backends.lanes.c_here import NUMBA
from aptmc.backends.lanes.descent import Descent
from aptmc.backends.lanes.device import Device, chosen_device
from aptmc.backends.lanes.handover import show
from aptmc.backends.lanes.how_many import MOST_OF_TRIAL, SHARE_OF_TRIAL
from aptmc.backends.lanes.journey import Journey, voyage_of
from aptmc.backends.lanes.model import lane_model
from aptmc.backends.lanes.tempering import Tempering, with_more
from aptmc.checks import whole_number
from aptmc.errors import InputError, RunFailed, StopReason
from aptmc.exchange import NeighbouringRungs, RandomParity, Reassignment
from aptmc.pools import Groups
from aptmc.problem import Abc, Problem
from aptmc.problem.density import DensityProblem
from aptmc.problem.in_steps import in_steps
from aptmc.schedule.base import Numbers
from aptmc.session.control import Control
from aptmc.session.descent import Errand
from aptmc.session.session import Session, Usage
from aptmc.session.start_up import Part, StoppedEarly

# Between deadlines: steps of a simulator, evaluations of a density, whole simulations.
TICKS, TICKS_OF_DENSITY, TICKS_OF_WHOLE = 1000.0, 101.0, 11.0
# The last two are one here: a coin says which neighbours are paired.
RULES = (Reassignment, NeighbouringRungs, RandomParity)
LANES_IN_WARMUP = 2048


def ticks_between_deadlines(problem: Problem) -> float:
    """So many as suit what a tick is."""
    if not isinstance(problem, Abc):
        return TICKS_OF_DENSITY
    if not problem.is_compiled:  # which is refused later on
        return TICKS
    return TICKS if in_steps(problem).whole_because is None else TICKS_OF_WHOLE


@class_named_clearly
@final
class Lanes(Backend):
    """Many processors that march in step: the lanes of a GPU, or of this machine's processors.

    A lane is a processor with two chains on one rung. Time is counted in ticks, each a step of a
    simulation (`Abc.stepwise`, or a function of JAX with one loop), an evaluation of a density or a
    leap along its gradient. At a deadline one chain of each lane
    is in flight and is left alone, in mid-way; the other takes part in the exchanges. As ticks do
    not depend on how fast the machine is, a run is exact, and the same whenever it is computed
    again.

    Lanes stand in groups. A group is a whole ladder with one lane on each rung, or several; groups
    are independent. A draw is the state that waits in a lane at a deadline, after the exchanges;
    `thin` keeps one of so many. `schedule=Anytime(every=...)` counts ticks.

    :param lanes: how many; the largest multiple of what a group has is used. If nothing is said,
        65,536 on each GPU and 256 on processors, or fewer, if that lets each chain of a budget in
        seconds move often enough
    :param device: "gpu" needs a GPU of NVIDIA and cupy; "cpu" uses this machine's processors;
        "auto": a GPU, if there is one
    :param bits: of the numbers on a GPU: 64, or 32, which is several times as fast. Processors
        always compute with 64
    :param settle: the share of the budget, at first, of which nothing is recorded: chains that all
        begin at the same moment are biased towards fast states for a while
    :param lanes_per_rung: how many lanes of a group stand on each rung
    :param coldest: how many stand on the coldest rung, if not as many as on the others; only there
        draws count
    :param budget_in: "seconds", or "ticks" of each lane: then a run ends at the same tick wherever
        it is computed
    :param threads: how many of this machine's processors compute; all, if nothing is said
    :param compiler: of the code for processors: "c" is some times as fast as "numba", and computes
        the same, several lanes at once if a simulator's step can be done so, or "c one by one";
        "auto": C, where there is a compiler for it
    :param devices: how many GPUs share the groups, or "all"; what comes of it is the same
    """

    logs_events = False
    descends = True
    own_deadlines = staticmethod(ticks_between_deadlines)
    computes_any_kernel = False
    settles_itself = True
    computes_errands_alone = True

    def __init__(
        self,
        lanes: int | None = None,
        *,
        device: Literal["auto", "gpu", "cpu"] = "auto",
        bits: Literal[64, 32] = 64,
        settle: float = 0.1,
        lanes_per_rung: int = 1,
        coldest: int | None = None,
        budget_in: Literal["seconds", "ticks"] = "seconds",
        threads: int | None = None,
        devices: int | Literal["all"] = 1,
        compiler: Literal["auto", "c", "c one by one", "numba"] = "auto",
    ) -> None:
        if bits not in (32, 64):
            raise InputError(f"bits must be 64 or 32, got {bits!r}")
        if budget_in not in ("seconds", "ticks"):
            raise InputError(f'budget_in must be "seconds" or "ticks", got {budget_in!r}')
        if not isinstance(settle, int | float) or not 0.0 <= settle < 1.0:
            raise InputError(f"settle must be a share from 0 on and below 1, got {settle!r}")
        self.device: Device = chosen_device(
            device, bits=bits, threads=threads, devices=devices, compiler=compiler
        )
        # By ticks, each chain makes equally many moves, however many there are.
        self.chooses = lanes is None and budget_in == "seconds"
        if lanes is None:
            lanes = self.device.usual_lanes
        self.processors = whole_number("lanes", lanes)
        self.device.check(self.processors)
        each = whole_number("lanes_per_rung", lanes_per_rung)
        coldest = None if coldest is None else whole_number("coldest", coldest)
        self.own_pools = Groups(self.processors, lanes_per_rung=each, coldest=coldest)
        fewer = min(self.processors, LANES_IN_WARMUP)
        self.pools_in_warmup = replace(self.own_pools, lanes=fewer)
        self.settle = float(settle)
        self.remark = self.device.remark
        self.time_unit = "s" if budget_in == "seconds" else "tick"

    def __repr__(self) -> str:
        return f"Lanes({self.processors}, on {self.device})"

    @override
    def start_early(self, *, compiles: bool) -> None:
        """Nothing is to be started."""

    @override
    def check(self, session: Session) -> None:
        """Is all known that lanes compute?"""
        plan = session.machine.plan
        if not plan.never_waits:
            raise InputError("lanes never wait for each other: use schedule=aptmc.Anytime(...)")
        if not isinstance(plan.settings, Numbers) or plan.settings.follow:
            raise InputError(
                "lanes pass deadlines every so many ticks: use schedule=aptmc.Anytime(every=1000), "
                "with jitter perhaps, but none that follows and none of your own"
            )
        own_rule = session.functions[0] not in [rule().function() for rule in RULES]
        if own_rule or plan.rounds != 1 or plan.rounds_within_pool > 0:
            raise InputError(
                "lanes exchange once at a deadline, by Reassignment() on tolerances and between "
                "neighbours on powers: leave out other rules, rounds and `within`"
            )
        if not session.machine.is_mover.all():
            raise InputError("lanes move the chains of all rungs: leave out idle rungs")
        lane_model(session.problem, session.kernel, session.machine.level)

    @override
    def run(self, session: Session, budget: float, control: Control | None = None) -> Usage:
        """Pass deadlines until the budget is spent: seconds, or ticks."""
        return self._run(session, budget, control or Control())

    @contextmanager
    @override
    def open(self, session: Session, budget: float, control: Control) -> Iterator[Engine]:
        with control.signals(interrupt=True):
            if self.is_in_real_time:
                yield WallClockLanes(self, control, budget)
            else:
                search = partial(self._search, control=control)
                yield LoopEngine(partial(self._run, control=control), search, budget)

    def run_again(
        self, session: Session, deadlines: int, kept: int, times: list[float] | None
    ) -> None:
        """Compute a session again that has its first states, up to a deadline.

        :param kept: how many of the deadlines, the last ones, were recorded
        :param times: at which they were, if that was by a clock
        """
        journey = self._journey(session, Control())
        journey.again(deadlines, kept, times)
        journey.arrive()
        session.flush()

    def try_out(self, session: Session, control: Control, left: float) -> Usage:
        """Pass deadlines for a short while, without a record; first states have all the time.

        :param left: of the budget of the run, in seconds
        """
        return self._run(session, left, control, is_trial=True)

    def _run(
        self, session: Session, budget: float, control: Control, *, is_trial: bool = False
    ) -> Usage:
        until = control.clock.now() + budget if self.is_in_real_time else math.inf
        try:
            self._find_states(session, control, until)
        except StoppedEarly:
            stopped = control.stopped or StopReason.BUDGET_SPENT
            return Usage(stopped, 0.0, np.zeros(session.processors))
        if self.is_in_real_time:
            budget = max(until - control.clock.now(), 0.0)
        with control.start_up.without_looking_up(Part.PROBLEM, self.device.words_at_first):
            journey = self._journey(session, control)
        control.start_up.over()
        by_clock = self.is_in_real_time
        settle = self.settle * budget
        if is_trial:
            budget, settle = min(SHARE_OF_TRIAL * budget, MOST_OF_TRIAL), math.inf
        try:
            stopped = journey.go(budget, settle, by_clock=by_clock)
            failure = None
        except KeyboardInterrupt:
            stopped, failure = StopReason.INTERRUPTED, None
        except RunFailed as error:
            stopped, failure = StopReason.FAILED, error
        journey.arrive()
        return journey.usage(stopped, failure)

    def check_compiler(self, session: Session, before: str) -> None:
        """Would moves that were begun by the code of a compiler be the same, to the last bit?"""
        if not before:
            return
        self.made_by = self.device.made_by(voyage_of(session))
        if self.made_by != before:
            remedy = 'use aptmc.Lanes(compiler="numba")'
            if before != NUMBA:
                remedy = "use a machine with a C compiler, as that was on which it was begun"
            raise InputError(
                f"this run was begun with the code of {before}, and here lanes have that of "
                f"{self.made_by}, by which densities may differ in their last bits: {remedy}"
            )

    def _journey(self, session: Session, control: Control) -> Journey:
        self.made_by = self.device.made_by(voyage_of(session))
        return Journey(session, self.device, control)

    def _search(self, session: Session, errand: Errand, budget: float, control: Control) -> Usage:
        """By ticks: in this process, and without taking any."""
        search = partial(search_here, session, errand, control, math.inf)
        return before_moves_count(search, control, session.processors)._replace(elapsed=0.0)

    def _find_states(self, session: Session, control: Control, until: float) -> None:
        """First states of simulators climb down together, those of densities from their prior."""
        if session.progress.has_states:
            return

        def tell(words: str, share: float) -> None:
            control.start_up.tell(Part.STATES, words, share)

        def look_up() -> None:
            control.do_duties()
            if control.stopped is not None or control.clock.now() >= until:
                raise StoppedEarly

        look_up()
        problem = session.problem
        if problem.needs_search:
            session.begin_from(Descent(voyage_of(session), self.device, tell, look_up).states())
        elif problem.reference_level == 0.0:  # chains can begin with draws from the prior
            assert isinstance(problem, DensityProblem)
            early = session.progress.early
            drawn = session.find_states(early.remembering(session.mover.compute_all), tell)
            drawn = with_more(drawn, problem, session.seed)
            states = Tempering(voyage_of(session), self.device, tell, look_up).states(drawn)
            show(session, states)
            session.begin_from(states)
            early.forget()
        else:
            session.begin(tell=tell)


@final
class WallClockLanes(Engine):
    """The engine of lanes whose budget is in seconds: it counts from the call."""

    def __init__(self, backend: Lanes, control: Control, budget: float) -> None:
        self._backend, self._control = backend, control
        self._end = control.called + budget

    @override
    def run(self, session: Session, budget: float) -> Usage:
        return self._backend.run(session, min(budget, self.left()), self._control)

    @override
    def search(self, session: Session, errand: Errand) -> Usage:
        search = partial(search_here, session, errand, self._control, self._end)
        return before_moves_count(search, self._control, session.processors)

    @override
    def over(self) -> None:
        """Nobody is to go."""

    @override
    def left(self) -> float:
        return self._end - self._control.clock.now()
