"""The C code for several lanes at once: added to that for one."""

from __future__ import annotations

from importlib.resources import files

from aptmc.backends.lanes.model import LaneModel
from aptmc.translation import GENERATOR, REAL, Module, sized


def code_at_once(model: LaneModel, one_by_one: Module) -> str:
    """What takes a simulator's lanes on, several at once.

    :param one_by_one: where its functions are written for one lane
    :raises InputError: if most of a step cannot be done at once
    """
    assert model.steps is not None
    module = Module(
        one_by_one.draws, one_by_one.apart, largest=one_by_one.largest,
        primitives=one_by_one.primitives, beside=one_by_one,
    )  # fmt: skip
    kinds = sized(model.dimension), GENERATOR, sized(model.size), REAL
    step, _ = module.translated(model.steps.step, kinds)
    head = "flag on, flag &lost, real *theta, Generator &rng, real *state, real tolerance"
    folder = files("aptmc.backends.lanes.at_once")
    return "\n".join(
        [
            folder.joinpath("numbers.c").read_text(),
            module.code(),
            f"DEVICE real step_simulation({head}) {{",
            f"  return real({step}(on, lost, theta, rng, state, tolerance));",
            "}",
            folder.joinpath("advance.c").read_text(),
        ]
    )
