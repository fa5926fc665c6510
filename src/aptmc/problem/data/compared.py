"""From what users give for data, simulator and distance to what a problem computes with.

Simulators with names are tried here, before anything is sampled: what does not fit is refused with
an error that names the part, and what is converted is noted.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.checks import numbers
from aptmc.compiled import Floats, is_compiled
from aptmc.errors import InputError
from aptmc.problem.data.by_part import checked, distance_of, unscaled_in, with_scales
from aptmc.problem.data.containers import TABLES, called, has_names, kind_of, without_labels
from aptmc.problem.data.layout import Leaf, Part, layout_of
from aptmc.problem.data.named_simulator import NamedSimulator
from aptmc.problem.data.noted import conversions, scales_in_words
from aptmc.problem.data.scales import from_prior, names_of, near_the_data, spread, wanted
from aptmc.problem.data.trial import Trial
from aptmc.problem.data.unscaled import Unscaled
from aptmc.problem.prior.prior import Prior
from aptmc.problem.simulator import PlainSimulator
from aptmc.targets import INTERPRETED, Target, target_of

Function = Callable[..., Any]


class Compared(NamedTuple):
    """A simulator that is ready, how it is computed, and what users should know of it."""

    simulator: PlainSimulator | NamedSimulator
    target: Target
    notes: list[str]


def compared(
    simulate: Function,
    prior: Prior,
    observed: Any,
    distance: Any,
    summary: Function | None,
    *,
    rejects_failures: bool,
) -> Compared:
    """What simulations are compared with the data by."""
    is_named = has_names(observed)
    # A copy, so that nothing depends on what happens to the data later.
    given = deepcopy(observed) if is_named else _array(observed)
    data = given if summary is None else _summarised(summary, given)

    remembered: dict[int, Any] = {}

    def trial_of(part: Part, distance: Any) -> Trial:
        simulator = NamedSimulator(simulate, part, distance, summary, takes_arrays=not is_named)
        return Trial(simulator, prior, rejects_failures, remembered)

    def with_names(data: Any) -> bool:
        """Whether simulations have names, too; if not, a table is compared as an array."""
        if kind_of(data) not in TABLES:
            return has_names(data)
        if is_compiled(simulate) and summary is None:
            return False
        return bool(trial_of(layout_of(data), None).first(has_names))

    notes: list[str] = []
    if (is_named and summary is not None) or with_names(data):
        part = layout_of(data)
        trial = trial_of(part, checked(distance, part))
        notes += trial.first(lambda simulated: conversions(trial.simulator, simulated))
        ready, said = _scaled(trial)
        # The first simulation is compared as all others will be.
        _ = ready.first(lambda simulated: _compare(ready.simulator, simulated))
        return Compared(ready.simulator, INTERPRETED, [*notes, *said])
    target = np.atleast_1d(_array(without_labels(data)))
    if is_named:
        shape = "array of shape " + "x".join(map(str, target.shape))
        notes.append(f"observed, {called(observed)}, is compared as an {shape}, as simulations are")
    part = Leaf("", target, target.shape)
    ready, said = _scaled(trial_of(part, checked(distance, part)))
    distance = ready.simulator.distance
    functions = [simulate, distance] if summary is None else [simulate, distance, summary]
    simulator = PlainSimulator(simulate, target, distance, summary)
    return Compared(simulator, target_of(*functions), [*notes, *said])


def _compare(simulator: NamedSimulator, simulated: Any) -> float:
    part = simulator.observed
    return distance_of(simulator.distance, part, part.numbers_in(simulated), simulated)


def _scaled(trial: Trial) -> tuple[Trial, list[str]]:
    """The same simulator with all scales measured, and what they are."""
    part, distance = trial.simulator.observed, trial.simulator.distance
    waiting = [one for one, _, _ in unscaled_in(distance, part)]
    if not waiting:
        return trial, []
    counts, names = wanted(waiting), names_of(part)
    found = from_prior(trial, max(counts.values()))
    by_prior = {scale: spread(found, scale, names) for scale, _ in counts}
    notes = [
        scales_in_words(f"{scale} of {len(found)} simulations from the prior", part, scales)
        for scale, scales in by_prior.items()
        if (scale, "prior") in counts
    ]
    scales: dict[Unscaled, Floats] = {one: by_prior[one.scale] for one in waiting}
    scaled = trial.with_distance(with_scales(distance, part, scales))
    nearer = {scale: count for (scale, at), count in counts.items() if at == "tolerance"}
    if not nearer:
        return scaled, notes
    near, tolerance = near_the_data(scaled, found, max(nearer.values()))
    by_pilot = {scale: spread(near, scale, names) for scale in nearer}
    for scale, measured in by_pilot.items():
        words = f"{scale} of {len(near)} simulations of a pilot at tolerance {tolerance:.3g}"
        notes.append(scales_in_words(words, part, measured))
    scales |= {one: by_pilot[one.scale] for one in waiting if one.at == "tolerance"}
    return trial.with_distance(with_scales(distance, part, scales)), notes


def _array(observed: Any) -> npt.NDArray[np.float64]:
    data = numbers(observed)
    if data is None or data.size == 0:
        raise InputError(f"observed must be an array of finite numbers, got {observed!r}")
    return data


def _summarised(summary: Function, data: Any) -> Any:
    """The summary of the data, which is all that simulations are compared with."""
    try:
        value = summary(deepcopy(data))
    except Exception as error:
        raise InputError(
            f"summary raised {type(error).__name__} for the observed data: {error}"
        ) from error
    if has_names(value):
        return value
    target = numbers(value)
    if target is None or target.size == 0:
        raise InputError(f"summary must give finite numbers for the observed data, got {value!r}")
    return target
