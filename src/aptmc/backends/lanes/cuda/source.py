"""The C code of a run: what is the same for all, and the functions of the problem in its middle."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from aptmc.backends.lanes.draws import DRAWS
from aptmc.backends.lanes.fleet import Voyage
from aptmc.backends.lanes.model import LaneModel
from aptmc.backends.lanes.tables import CHANCE_UNIT, Whole
from aptmc.errors import InputError
from aptmc.keys import EXCHANGE, MOVE
from aptmc.problem.prior import Prior
from aptmc.problem.prior.joint import Joint
from aptmc.problem.prior.log_densities import log_marginal
from aptmc.record.record import COLDEST, HOTTEST
from aptmc.translation import GENERATOR, PRIMITIVE, REAL, REALS, WHOLE, Module

# Long, and rarely needed: better not copied into every place where they are called.
APART = ("standard_gamma", "poisson", "binomial")
PROBLEM = "//PROBLEM//"


def source_for(voyage: Voyage, bits: int) -> str:
    """All of the C code of a run."""
    text = files("aptmc.backends.lanes.cuda").joinpath("lanes.c").read_text()
    return _definitions(voyage, bits) + text.replace(PROBLEM, problem_code(voyage.model, bits))


def _definitions(voyage: Voyage, bits: int) -> str:
    places, model = voyage.places, voyage.model
    numbers: dict[str, int] = {
        "BITS": bits,
        "DIMENSION": model.dimension,
        "STATE": model.size,
        "RUNGS": voyage.rungs,
        "SIDES": 2 if voyage.takes_all else 1,
        "IS_DENSITY": int(model.log_value is not None),
        "HAS_TOLERANCES": int(voyage.has_tolerances),
        "REJECTS_FAILURES": int(model.problem.rejects_failures),
        "FACTOR": model.factor,
        "SPREAD": model.spread,
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
        **{column.name: int(column) for column in Whole if column is not Whole.COUNT},
    }
    real = "double" if bits == 64 else "float"
    lines = [f"#define {name} {value}" for name, value in numbers.items()]
    return "\n".join([f"typedef {real} real;", "typedef long long whole;", *lines, ""])


def problem_code(model: LaneModel, bits: int) -> str:
    """The functions of the problem in C, under the names by which `lanes.c` calls them."""
    if not model.problem.parametrisation.is_identity:
        raise InputError(
            "on a GPU parameters must be real numbers, and this prior has whole numbers or shares: "
            'use aptmc.Lanes(device="cpu")'
        )
    kind = np.float64 if bits == 64 else np.float32
    largest = float(np.finfo(kind).max)
    module = Module({**DRAWS, "random": PRIMITIVE}, APART, largest=largest)
    normal, _ = module.translated(DRAWS["standard_normal"], (GENERATOR,))
    pieces = [
        f"DEVICE real standard_normal_of(Generator &rng) {{ return {normal}(rng); }}",
        _log_prior(model, module),
    ]
    head = "real *theta, Generator &rng, real *state"
    if model.steps is not None:
        begin, _ = module.translated(model.steps.begin, (REALS, GENERATOR, REALS))
        step, _ = module.translated(model.steps.step, (REALS, GENERATOR, REALS, REAL))
        pieces.append(f"DEVICE void begin_simulation({head}) {{ {begin}(theta, rng, state); }}")
        call = f"{step}(theta, rng, state, tolerance)"
        pieces.append(
            f"DEVICE real step_simulation({head}, real tolerance) {{ return real({call}); }}"
        )
    else:
        value, _ = module.translated(model.log_value, (REALS,))
        pieces.append(
            f"DEVICE real step_simulation({head}, real) {{ return real({value}(theta)); }}"
        )
    return module.code() + "\n".join(pieces)


def _log_prior(model: LaneModel, module: Module) -> str:
    """The log prior density: parameter after parameter, or by the user's own function."""
    prior, terms = model.problem.reference, []
    parts = prior.parts if isinstance(prior, Prior) else ()
    if parts and all(part.tables() is not None for part in parts):
        assert isinstance(prior, Prior)
        for place, (family, row) in enumerate(zip(prior.families, prior.parameters, strict=True)):
            name, _ = module.translated(log_marginal, (REAL, WHOLE, REALS))
            terms.append(f"{name}(theta[{place}], whole({family}), {module.constant(row).code})")
    elif len(parts) == 1 and isinstance(parts[0], Joint):
        name, _ = module.translated(parts[0].log_density_at, (REALS,))
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
