"""Stan's models as problems, through BridgeStan: `aptmc.from_stan`."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.frontends.model_problem import PowerModel, Shown, TemperedModel, compile_now
from aptmc.frontends.optional import library
from aptmc.frontends.stan_functions import StanFunction
from aptmc.frontends.stan_variables import variables_of
from aptmc.in_words import first_line, shortened
from aptmc.session.kept_code import kept_folder

FLAG = "prior_only"
# Places at which a likelihood is looked for.
ATTEMPTS = 20
WHOLE_IS_TEMPERED = (
    f"the whole density is tempered, as density ** beta, for the model has no {FLAG} in its data: "
    "there is no prior to begin from, and no evidence"
)


def from_stan(
    model: str | os.PathLike[str], data: Mapping[str, Any] | str | None = None
) -> TemperedModel | PowerModel:
    """A model of Stan as a problem, with gradients, through BridgeStan.

    If the data have a flag `prior_only`, as in brms, with which the model leaves out its
    likelihood, rungs are prior * likelihood ** beta. Without it the whole density is tempered as a
    power, and the problem says so. Draws are constrained, with transformed parameters and generated
    quantities. Needs BridgeStan: `pip install 'aptmc[stan]'`, and a compiler.

    :param model: a file with a Stan program, the program itself, or a library that BridgeStan has
        compiled (`.so`)
    :param data: by name, or a file or text in JSON; the flag need not be given

    >>> aptmc.from_stan("schools.stan", {"J": 8, "y": y, "sigma": sigma})  # doctest: +SKIP
    <aptmc.TemperedModel of mu, tau, z>
    """
    bridgestan = library("bridgestan", extra="stan", asked_by="from_stan")
    given = _data(data)
    compiled, code = _compiled(bridgestan, model)
    has_flag = FLAG in given or (code is not None and _declares_flag(code))
    texts = _texts(given, has_flag)
    stan = _model(bridgestan, compiled, texts[0])
    if stan.param_unc_num() == 0:
        raise InputError("the Stan model has no parameters, so there is nothing to sample")
    coordinates, _ = variables_of(stan.param_unc_names())
    parameters, _ = variables_of(stan.param_names())
    names = stan.param_names(include_tp=True, include_gq=True)
    variables, order = variables_of(names)
    has_generated = len(names) > len(stan.param_names(include_tp=True))
    source = Path(compiled).read_bytes() if code is None else code.encode()
    identity = hashlib.sha256(source + "\0".join(texts).encode()).hexdigest()[:16]
    size = stan.param_unc_num()

    def function(kind: str, length: int, *others: Any) -> StanFunction:
        return StanFunction(identity, kind, compiled, texts, length, *others)

    show = function("shown", len(names), order, has_generated)
    shown = Shown(coordinates, variables, show, len(parameters))
    density, gradient = function("values", size), function("weighted", size)
    start = Start(size)
    problem: TemperedModel | PowerModel
    if has_flag:
        problem = TemperedModel(shown, density, gradient, None, start=start)
        _check_flag(problem, given)
    else:
        problem = PowerModel(shown, density, gradient, start, notes=(WHOLE_IS_TEMPERED,))
    compile_now(problem)
    return problem


@final
class Start:
    """Coordinates between -2 and 2, as Stan's own runs begin."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, rng: np.random.Generator) -> Floats:
        """One start."""
        return rng.uniform(-2.0, 2.0, self.size)


def _data(data: Any) -> dict[str, Any]:
    if isinstance(data, Mapping):
        return {name: _plain(value) for name, value in data.items()}
    if data is None:
        return {}
    wanted = "data must be a mapping, JSON or a file with JSON"
    if not isinstance(data, str | os.PathLike):
        raise InputError(f"{wanted}, got {type(data).__name__}: make a dictionary of it")
    text = os.fspath(data)
    try:
        is_json = text.lstrip().startswith(("{", "["))
        found = json.loads(text if is_json else Path(text).read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"{wanted}, got {text!r} ({error})") from None
    if not isinstance(found, dict):
        raise InputError(f"{wanted} that gives names to values, got {text!r}")
    return found


def _plain(value: Any) -> Any:
    return np.asarray(value).tolist()


def _texts(given: dict[str, Any], has_flag: bool) -> tuple[str, ...]:
    if not has_flag:
        return (json.dumps(given),)
    return tuple(json.dumps({**given, FLAG: flag}) for flag in (0, 1))


def _compiled(bridgestan: Any, model: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Where the compiled model is, and its program, if that is known."""
    text = os.fspath(model) if isinstance(model, str | os.PathLike) else repr(model)
    if text.endswith(".so"):
        if not Path(text).is_file():
            raise InputError(f"there is no compiled Stan model {text}")
        return str(Path(text).resolve()), None
    if text.endswith(".stan"):
        path = Path(text)
        if not path.is_file():
            raise InputError(f"there is no Stan program {text}")
    elif "{" not in text:
        raise InputError(
            "model must be a file that ends in .stan or .so, or a Stan program itself, got "
            f"{shortened(text)!r}"
        )
    else:
        # What was compiled by another version is of no use, and kept until that comes back.
        version = getattr(bridgestan, "__version__", "")
        name = hashlib.sha256(f"{version}\0{text}".encode()).hexdigest()[:16]
        path = kept_folder("stan") / f"model_{name}.stan"
        if not path.is_file():
            path.write_text(text)
    try:
        return str(bridgestan.compile_model(path)), path.read_text()
    except Exception as error:
        which = f"Stan program {text}" if text.endswith(".stan") else "Stan program"
        raise InputError(f"BridgeStan cannot compile the {which}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """What the translator says, and where; of anything else that goes wrong the first lines.

    The translator names the place, shows it between two lines of dashes, and then says why.
    """
    lines = [" ".join(line.split()) for line in str(error).splitlines()]
    lines = [line for line in lines if line and not re.match(r"make(\[\d+\])?:", line)]
    for place, line in enumerate(lines):
        found = re.match(r"(\w+ error) in '[^']*', (line .*?)(?:, parsing error)?:?$", line)
        if found is not None:
            rest = lines[place + 1 :]
            dashes = [number for number, one in enumerate(rest) if set(one) == {"-"}]
            why = rest[dashes[-1] + 1 :] if dashes else rest
            return f"{found[1]}, {found[2]}: {' '.join(why)}"[:400]
    wrong = [line for line in lines if "error" in line.lower()] or lines or [repr(error)]
    return " ".join(wrong[:3])[:400]


def _declares_flag(code: str) -> bool:
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", "", code, flags=re.DOTALL)
    return re.search(rf"\b{FLAG}\s*;", plain) is not None


def _model(bridgestan: Any, compiled: str, text: str) -> Any:
    try:
        return bridgestan.StanModel(compiled, text, capture_stan_prints=False, warn=False)
    except AttributeError as error:
        version = getattr(bridgestan, "__version__", "of unknown version")
        raise InputError(
            f"{compiled} was compiled from other sources than those of BridgeStan {version}, which "
            f"is installed ({error}): remove it, and see that the variable BRIDGESTAN, if it is "
            "set, names the sources of that version"
        ) from None
    except OSError as error:
        raise InputError(
            f"the compiled Stan model {compiled} cannot be loaded ({first_line(error)}): give what "
            "bridgestan.compile_model has made"
        ) from None
    except RuntimeError as error:
        said = " ".join(str(error).split()).removeprefix("construct() failed with exception: ")
        said = said.removeprefix("Exception: ")
        raise InputError(f"the Stan model does not accept its data: {said}") from None


def _check_flag(problem: TemperedModel, given: dict[str, Any]) -> None:
    """A flag that changes nothing gives no likelihood; nor do data that are no numbers."""
    rng, found = np.random.default_rng(0), np.empty(2)
    is_seen = False
    for _ in range(ATTEMPTS):
        problem.density(rng.uniform(-2.0, 2.0, problem.dimension), found)
        is_finite = bool(np.isfinite(found).all())
        if is_finite and found[1] != 0.0:
            return
        is_seen = is_seen or is_finite
    if not is_seen:
        broken = [name for name, value in given.items() if "NaN" in json.dumps(value)]
        if broken:
            raise InputError(
                f"{', '.join(broken)} has data that are no numbers, and neither is the density: "
                "Stan knows no missing values, so leave them out"
            )
        return  # chains look for a start in more places
    raise InputError(
        f"the Stan model has {FLAG} in its data, and the density is the same with it: leave out "
        f"the likelihood in the model block, if (!{FLAG}) y ~ ..."
    )
