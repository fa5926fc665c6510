"""Likelihood-free problems: a simulator, a prior, data and a distance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly, named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import Floats, compiler_words
from aptmc.errors import InputError, MoveFailed, noted_parameters
from aptmc.jax_programs.simulators import functions_of_data, simulator_of
from aptmc.problem.base import Problem, check_function
from aptmc.problem.chain_state import state_width, value_column
from aptmc.problem.data.compared import compared
from aptmc.problem.data.named_simulator import NamedSimulator
from aptmc.problem.first_look import first_fault, repeats_itself
from aptmc.problem.in_steps import WrittenInJax
from aptmc.problem.prior.prior import Prior, checked_prior
from aptmc.problem.simulator import (
    PlainSimulator,
    SimulationFailed,
    compiled_simulation,
    simulation_model,
)
from aptmc.problem.stepwise import Stepwise
from aptmc.problem.weights import tolerance_log_weight
from aptmc.problem.words import function_name, given_words
from aptmc.targets import INTERPRETED, Target, target_of

START_SIMULATIONS = 1_000_000
KEPT_BY_DEFAULT = 50  # numbers of a simulation, at most


@class_named_clearly
@final
class Abc(Problem):
    """A posterior without a likelihood: parameters whose simulations come close to the data.

    :param simulate: simulate(theta, rng) gives what looks like the data; theta is an array in the
        prior's order, rng a numpy generator
    :param prior: the prior, with the parameters' names
    :param observed: the data: an array, or a dictionary, list, table or series of them (of pandas
        or xarray), which simulations then resemble. A simulator of data with names is tried once
        before anything is sampled
    :param distance: distance(simulated, observed) gives a number; see `aptmc.distance`. For data
        with names, a dictionary may give one for each part; their sum counts
    :param summary: summary(data) is applied to simulations and data before they are compared
    :param keep_simulated: keep the simulated data (or their summary) of each state, which
        `run.adjusted()` needs; "auto": if they are at most 50 numbers
    :param on_error: "raise" stops the run with an error that names parameters, rung and key when a
        simulation raises or gives NaN, a negative distance or data of the wrong length; "reject"
        counts it as a miss, and `run.failures` says how many there were
    :param start_simulations: how many simulations may be spent to find the chains' first states

    Compiled end to end if the functions are numba functions and the prior's families are known. So
    are functions of JAX, for which the simulator's second argument is a key of JAX.

    >>> from scipy import stats
    >>> def simulate(theta, rng):
    ...     return theta + rng.standard_normal(1)
    >>> def distance(simulated, observed):
    ...     return abs(simulated[0] - observed[0])
    >>> Abc(simulate, Prior(mean=stats.norm(0, 2)), observed=[3.0], distance=distance).names
    ('mean',)
    """

    has_simulator = True
    value_name = "distance"
    ladder_kind = "tolerances"
    needs_search = True
    reference_level = math.inf
    _written: tuple[str, str]  # the call that made it, before and after its prior
    steps: Stepwise | None = None  # of a simulator that was given as steps
    written_in_jax: WrittenInJax | None = None  # the simulator as it was given, if it is of JAX

    def __init__(
        self,
        simulate: Callable[..., Any],
        prior: Prior,
        observed: Any,
        distance: Callable[..., Any] | Mapping[str, Any],
        *,
        summary: Callable[..., Any] | None = None,
        keep_simulated: bool | Literal["auto"] = "auto",
        on_error: Literal["raise", "reject"] = "raise",
        start_simulations: int = START_SIMULATIONS,
    ) -> None:
        check_function(simulate, "simulate", "theta, rng")
        if summary is not None:
            check_function(summary, "summary", "data")
        _check_prior_and_failures(prior, on_error)
        given, simulate = simulate, simulator_of(simulate, prior.parametrisation.size, "simulate")
        more = {"summary": summary} if summary is not None else {}
        self._written = (
            f"Abc({function_name(given)}",
            given_words({"observed": observed, "distance": distance, **more}),
        )
        distance, summary = functions_of_data(distance, summary, observed)
        simulator, target, notes = compared(
            simulate, prior, observed, distance, summary, rejects_failures=on_error == "reject"
        )
        assert simulator.target is not None
        self.notes = tuple(notes)
        self._set_up(
            simulator,
            prior,
            "simulate",
            target,
            kept_numbers=_kept_numbers(keep_simulated, simulator.target.size),
            on_error=on_error,
            start_simulations=start_simulations,
        )
        if simulate is not given:
            self.written_in_jax = WrittenInJax(given, "simulate")

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Without what only the main process asks for: workers need no JAX."""
        return super().__getstate__() | {"written_in_jax": None}

    def __repr__(self) -> str:
        """The call that made it, in short, and what was made of the data."""
        functions, others = self._written
        return "\n  ".join([f"{functions}, {self.prior!r}{others})", *self.notes])

    @classmethod
    @named_clearly
    def early(
        cls,
        simulated_distance: Callable[..., Any],
        prior: Prior,
        *,
        counts_work: bool = False,
        on_error: Literal["raise", "reject"] = "raise",
        start_simulations: int = START_SIMULATIONS,
    ) -> Abc:
        """A simulator that can know before its end that it is too far from the data.

        :param simulated_distance: simulated_distance(theta, rng, tolerance) gives the distance, or
            infinity as soon as it must exceed the tolerance
        :param counts_work: the function gives a pair (distance, work); the work is then what
            `VirtualTime` takes for the hold time

        >>> from scipy import stats
        >>> def simulated_distance(theta, rng, tolerance):
        ...     return abs(theta[0] + rng.standard_normal() - 3.0)
        >>> Abc.early(simulated_distance, Prior(mean=stats.norm(0, 2))).names
        ('mean',)
        """
        check_function(simulated_distance, "simulated_distance", "theta, rng, tolerance")
        _check_prior_and_failures(prior, on_error)
        given = simulated_distance
        simulated_distance = simulator_of(
            simulated_distance, prior.parametrisation.size, "simulated_distance"
        )
        problem = cls.__new__(cls)
        problem._written = f"Abc.early({function_name(given)}", ""
        simulator = PlainSimulator.early(simulated_distance, counts_work=counts_work)
        problem._set_up(
            simulator,
            prior,
            "simulated_distance",
            target_of(simulated_distance),
            kept_numbers=0,
            on_error=on_error,
            start_simulations=start_simulations,
        )
        if simulated_distance is not given:
            problem.written_in_jax = WrittenInJax(given, "simulated_distance")
        return problem

    @classmethod
    @named_clearly
    def stepwise(
        cls,
        begin: Callable[..., Any],
        step: Callable[..., Any],
        prior: Prior,
        *,
        state: int,
        on_error: Literal["raise", "reject"] = "raise",
        start_simulations: int = START_SIMULATIONS,
    ) -> Abc:
        """A simulator that can be left in mid-way and gone on with, as `aptmc.Lanes` does.

        :param begin: begin(theta, rng, state) writes the state in which a simulation begins; it is
            all zeros before
        :param step: step(theta, rng, state, tolerance) goes one step on. It returns a negative
            number as long as the simulation goes on; in the end the distance, or infinity as soon
            as that must exceed the tolerance
        :param state: how many numbers a simulation keeps from one step to the next

        The number of steps is what `VirtualTime` takes for the hold time.

        >>> from scipy import stats
        >>> def begin(theta, rng, state):
        ...     state[0], state[1] = 10, 0  # individuals, and the time
        >>> def step(theta, rng, state, tolerance):
        ...     state[1] += rng.exponential(1 / (theta[0] * state[0]))
        ...     if state[1] > 1:
        ...         return abs(state[0] - 25)
        ...     state[0] += 1
        ...     return -1
        >>> Abc.stepwise(begin, step, Prior(birth=stats.gamma(2)), state=2).names
        ('birth',)
        """
        steps = Stepwise(begin, step, state)
        problem = cls.__new__(cls)
        names = f"{function_name(begin)}, {function_name(step)}"
        problem._written = f"Abc.stepwise({names}", f", state={state}"
        problem._set_up(
            PlainSimulator.early(steps.whole(), counts_work=True),
            prior,
            "step",
            target_of(begin, step),
            kept_numbers=0,
            on_error=on_error,
            start_simulations=start_simulations,
        )
        problem.steps = steps
        return problem

    def _set_up(
        self,
        simulator: PlainSimulator | NamedSimulator,
        prior: Prior,
        function_name: str,
        target: Target,
        *,
        kept_numbers: int,
        on_error: str,
        start_simulations: int,
    ) -> None:
        _check_prior_and_failures(prior, on_error)
        self.prior = prior
        self.simulator = simulator
        self.can_stop_early = simulator.distance is None
        self.rejects_failures = on_error == "reject"
        self.start_simulations = whole_number("start_simulations", start_simulations)
        super().__init__(
            prior.variables,
            function_name,
            target=target if prior.is_compiled else INTERPRETED,
            kept_numbers=kept_numbers,
        )

    @property
    @override
    def reference(self) -> Prior:
        """The prior, which is the target at an infinite tolerance."""
        return self.prior

    @property
    @override
    def kept_data(self) -> Floats | None:
        """The data, or their summary, one number after the other; None if none are kept."""
        return self.simulator.target if self.width > state_width(self.dimension) else None

    @override
    def first_fault(self) -> str | None:
        """Nothing is said of data with names, which were tried before, or where failures miss."""
        if self.rejects_failures or not isinstance(self.simulator, PlainSimulator):
            return None
        return first_fault(self.simulator, self.prior)

    @override
    def repeats_itself(self) -> bool:
        """Data with names, which are put together anew, are not looked at."""
        if not isinstance(self.simulator, PlainSimulator):
            return False
        return repeats_itself(self.simulator, self.prior)

    @override
    def check_levels(self, levels: tuple[float, ...]) -> None:
        """Any tolerances will do; an infinite one is the prior."""

    @override
    def log_weight(self) -> Callable[[float, float], float]:
        """Exchanges look at the distance: is it within the tolerance?"""
        return tolerance_log_weight

    @override
    def simulation(self, target: Target) -> Callable[..., float]:
        """A function like `aptmc.problem.simulator.simulation_model`."""
        simulate = self.of_coordinates(self.simulator.simulate, target)
        simulator = replace(self.simulator, simulate=simulate)
        if target.is_compiled and isinstance(simulator, PlainSimulator):
            body = compiled_simulation(simulator, self.dimension, self.rejects_failures)
            try:
                return target.within(simulation_model, body)
            except Exception as error:
                raise InputError(
                    f"{self.function_name} and what is applied to its result cannot be compiled "
                    "together: check what each takes and returns, or leave out @njit to have them "
                    f"called from Python. numba says: {compiler_words(error)}"
                ) from error

        simulator.make_ready()

        def simulate_into(row: Floats, rng: np.random.Generator, tolerance: float) -> float:
            try:
                return simulator.simulate_into(row, rng, tolerance, self.dimension)
            except SimulationFailed as failure:
                if self.rejects_failures:
                    row[value_column(self.dimension)] = np.nan
                    return 1.0
                raise MoveFailed(str(failure), self.describe(row)) from failure.__cause__
            except BaseException as error:
                noted_parameters(error, self.describe(row))
                raise

        return simulate_into

    @override
    def check(self, row: Floats) -> None:
        """Refuse distances that cannot be."""
        distance = row[value_column(self.dimension)]
        if not distance >= 0.0:
            raise MoveFailed(
                f"the distance of a simulation is {distance}, must be 0 or more,",
                self.describe(row),
            )


def _check_prior_and_failures(prior: object, on_error: object) -> None:
    checked_prior(prior)
    if on_error not in ("raise", "reject"):
        raise InputError(f'on_error must be "raise" or "reject", got {on_error!r}')


def _kept_numbers(keep_simulated: object, size: int) -> int:
    if isinstance(keep_simulated, bool):
        return size if keep_simulated else 0
    if not isinstance(keep_simulated, str) or keep_simulated != "auto":
        raise InputError(
            f'keep_simulated must be True, False or "auto", got {keep_simulated!r}: "auto" keeps '
            f"simulations of at most {KEPT_BY_DEFAULT} numbers"
        )
    return size if size <= KEPT_BY_DEFAULT else 0
