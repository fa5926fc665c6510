"""The C code of a run: what is the same for all, and the functions of the problem in its middle."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from aptmc.backends.lanes.draws import DRAWS
from aptmc.backends.lanes.elementary import cosine_of_turn, logarithm
from aptmc.backends.lanes.fleet import Voyage
from aptmc.backends.lanes.model import LaneModel
from aptmc.backends.lanes.tables import CHANCE_UNIT, Whole
from aptmc.errors import InputError
from aptmc.jax_programs import special
from aptmc.kernels.stages import GOES, GOES_ON
from aptmc.keys import EXCHANGE, MOVE
from aptmc.problem.chain_state import OWN, STATUS, WORK
from aptmc.problem.prior import Prior
from aptmc.problem.prior.joint import Joint
from aptmc.problem.prior.log_densities import log_marginal
from aptmc.record.record import COLDEST, HOTTEST
from aptmc.translation import (
    GENERATOR,
    LONG_WORD,
    PRIMITIVE,
    REAL,
    SINGLE,
    WORD,
    Module,
    Static,
    sized,
    tuple_of,
)

# What programs of JAX call that is written in C by hand.
PRIMITIVES = {
    special.threefry: ("threefry", tuple_of((WORD, WORD))),
    special.bits_f4: ("bits_f4", SINGLE),
    special.bits_u4: ("bits_u4", WORD),
    special.bits_f8: ("bits_f8", REAL),
    special.bits_u8: ("bits_u8", LONG_WORD),
}
# A GPU has its own, which are faster there, and so have numbers of 32 bits.
ELEMENTARY = {logarithm: ("log", REAL), cosine_of_turn: ("cosine_of_turn", REAL)}
# Long, and rarely needed: better not copied into every place where they are called.
APART = ("standard_gamma", "poisson", "binomial")
PROBLEM = "//PROBLEM//"


def source_for(voyage: Voyage, bits: int, *, on_gpu: bool = True) -> str:
    """All of the C code of a run."""
    return written(voyage, bits, on_gpu=on_gpu)[0]


def written(voyage: Voyage, bits: int, *, on_gpu: bool) -> tuple[str, Module]:
    """The same, and the functions of the problem as they stand in it."""
    text = files("aptmc.backends.lanes.cuda").joinpath("lanes.c").read_text()
    code, module = _problem_code(voyage, bits, on_gpu=on_gpu)
    return _definitions(voyage, bits) + text.replace(PROBLEM, code), module


def _definitions(voyage: Voyage, bits: int) -> str:
    places, model = voyage.places, voyage.model
    numbers: dict[str, int] = {
        "BITS": bits,
        "DIMENSION": model.dimension,
        "STATE": model.size,
        "RUNGS": voyage.rungs,
        "LANES_OF_GROUP": voyage.positions,
        "SIDES": 2 if voyage.takes_all else 1,
        "HAS_STAGES": int(model.stages is not None),
        "STATISTICS": len(model.statistics),
        "INFO": OWN + len(model.statistics),
        "STATUS": STATUS,
        "WORK": WORK,
        "OWN": OWN,
        "GOES_ON": GOES_ON,
        "GOES": GOES,
        "HAS_TOLERANCES": int(voyage.has_tolerances),
        "REJECTS_FAILURES": int(model.problem.rejects_failures),
        "FACTOR": model.factor,
        "VALUE": places.value,
        "LOG_PRIOR": places.log_prior,
        "THERE": places.there,
        "LOG_PRIOR_THERE": places.log_prior_there,
        "STATE_FIRST": places.state,
        "MOVE": MOVE,
        "EXCHANGE": EXCHANGE,
        "COLDEST": COLDEST,
        "HOTTEST": HOTTEST,
        "CHANCE_UNIT": CHANCE_UNIT,
        **{column.name: int(column) for column in Whole},
    }
    real = "double" if bits == 64 else "float"
    lines = [f"#define {name} {value}" for name, value in numbers.items()]
    lines.append(f"#define RUNG_STARTS {{{', '.join(map(str, voyage.starts))}}}")
    return "\n".join([f"typedef {real} real;", "typedef long long whole;", *lines, ""])


def _problem_code(voyage: Voyage, bits: int, *, on_gpu: bool) -> tuple[str, Module]:
    """The functions of the problem in C, under the names by which `lanes.c` calls them."""
    model = voyage.model
    parametrisation = model.problem.parametrisation
    if not (parametrisation.is_identity or parametrisation.is_kept):
        raise InputError(
            "on a GPU parameters must be real numbers, and this prior has whole numbers or shares: "
            'use aptmc.Lanes(device="cpu")'
        )
    kind = np.float64 if bits == 64 else np.float32
    largest = float(np.finfo(kind).max)
    draws = {**DRAWS, "random": PRIMITIVE}
    primitives = PRIMITIVES | (ELEMENTARY if on_gpu or bits == 32 else {})
    module = Module(draws, APART, largest=largest, primitives=primitives)
    pieces = _stages(voyage, module) if model.stages is not None else _simulation(model, module)
    return module.code() + "\n".join(pieces), module


def _simulation(model: LaneModel, module: Module) -> list[str]:
    assert model.steps is not None
    theta, state = sized(model.dimension), sized(model.size)
    normal, _ = module.translated(DRAWS["standard_normal"], (GENERATOR,))
    begin, _ = module.translated(model.steps.begin, (theta, GENERATOR, state))
    step, _ = module.translated(model.steps.step, (theta, GENERATOR, state, REAL))
    head = "real *theta, Generator &rng, real *state"
    call = f"{step}(theta, rng, state, tolerance)"
    return [
        f"DEVICE real standard_normal_of(Generator &rng) {{ return {normal}(rng); }}",
        _log_prior(model, module),
        f"DEVICE void begin_simulation({head}) {{ {begin}(theta, rng, state); }}",
        f"DEVICE real step_simulation({head}, real tolerance) {{ return real({call}); }}",
    ]


def _stages(voyage: Voyage, module: Module) -> list[str]:
    stages, width = voyage.model.stages, voyage.model.dimension + 2
    assert stages is not None
    info = sized(OWN + len(voyage.model.statistics))
    tuning = sized(voyage.tuning.shape[1])
    kinds = (REAL, tuning, sized(width), GENERATOR, sized(width), sized(stages.size), info)
    begin, _ = module.translated(stages.begin, kinds)
    advance, _ = module.translated(stages.advance, kinds)
    head = (
        "real level, real *tuning, real *here, Generator &rng, real *there, real *memory, "
        "real *info"
    )
    given = "level, tuning, here, rng, there, memory, info"
    return [
        f"DEVICE void begin_move({head}) {{ {begin}({given}); }}",
        f"DEVICE whole step_move({head}) {{ return {advance}({given}); }}",
    ]


def _log_prior(model: LaneModel, module: Module) -> str:
    """The log prior density: parameter after parameter, or by the user's own function."""
    prior, terms = model.problem.reference, []
    parts = prior.parts if isinstance(prior, Prior) else ()
    if parts and all(part.tables() is not None for part in parts):
        assert isinstance(prior, Prior)
        for place, (family, row) in enumerate(zip(prior.families, prior.parameters, strict=True)):
            name, _ = module.translated(log_marginal, (REAL, Static(int(family)), sized(len(row))))
            terms.append(f"{name}(theta[{place}], {module.constant(row).code})")
    elif len(parts) == 1 and isinstance(parts[0], Joint):
        name, _ = module.translated(parts[0].log_density_at, (sized(model.dimension),))
        terms.append(f"real({name}(theta))")
    elif prior is not None:
        raise InputError(
            f"on a GPU the prior must be made of independent numbers or be a Prior.joint, got "
            f'{prior!r}: use aptmc.Lanes(device="cpu")'
        )
    # In the order in which processors add.
    lines = [f"total += {term};" for term in terms]
    body = " ".join(["real total = 0;", *lines, "return total;"])
    return f"DEVICE real log_prior_of(real *theta) {{ {body} }}"
