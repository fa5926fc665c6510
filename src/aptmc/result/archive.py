"""Settings as JSON, and back. Only numbers and names: nothing that could be executed."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from typing import Any, NamedTuple, final

import numpy as np

from aptmc import exchange, kernels, pools, schedule
from aptmc.__about__ import __version__
from aptmc.backends import Backend, Processes
from aptmc.errors import InputError
from aptmc.ladder import AutoLadder, Ladder
from aptmc.problem import Problem
from aptmc.problem.fingerprint import VERSION as FINGERPRINT_VERSION
from aptmc.problem.fingerprint import is_uncertain, python_version, uncertain_part
from aptmc.problem.parametrisation import Parametrisation
from aptmc.problem.variables import Labelled, Variable, scalars

MOST_DATA = 100_000  # numbers of a variable in the description of a store

# The only classes that are ever made from a file.
KNOWN = {
    kind.__name__: kind
    for kind in [
        Ladder, AutoLadder,
        pools.Shared, pools.Partitioned, pools.Paired, pools.Groups,
        schedule.Anytime, schedule.Synchronous, schedule.Uncorrected,
        *filter(is_dataclass, (getattr(kernels, name) for name in kernels.__all__)),
        *(getattr(exchange, name) for name in exchange.__all__ if name != "Rule"),
    ]
}  # fmt: skip


@final
class StoredProblem:
    """What a store says of its problem: enough to read the draws, not to compute new ones."""

    is_stored = True
    its_function = "your simulator"  # of which alone a store has something to tell

    def __init__(self, said: Mapping[str, Any], width: int) -> None:
        self.kind: str = said["kind"]
        # Stores of the time before vectors say names only.
        variables = said.get("variables")
        coordinates = said.get("coordinates")
        self.parametrisation = Parametrisation(
            scalars(said["names"])
            if variables is None
            else [Variable.from_json(variable) for variable in variables],
            coordinates and [Variable.from_json(variable) for variable in coordinates],
        )
        self.names = self.parametrisation.names
        self.labels = self.parametrisation.labels
        self.variables = self.parametrisation.variables
        self.constrain = self.parametrisation.constrain
        self.dimension = len(self.names)
        self.value_name: str = said["value_name"]
        self.ladder_kind: str = said["ladder_kind"]
        self.has_evidence: bool = said["has_evidence"]
        # Stores of the time before do not say: nothing is said of a ladder that ends short, then.
        self.reference_level: float | None = from_json(said.get("reference_level"), "problem")
        self.reference_is_fitted: bool = said.get("reference_is_fitted", False)
        self.width = width
        self.prior: Mapping[str, Any] | None = said.get("prior")  # in a few numbers
        self.prior_shapes: Mapping[str, Any] | None = said.get("prior_shapes")  # for pictures
        # Stores of the time before regression adjustment have neither.
        kept = from_json(said.get("kept_data"), "problem")
        self.kept_data: np.ndarray | None = kept
        unbounded = np.full(self.dimension, -np.inf), np.full(self.dimension, np.inf)
        self.support = from_json(said.get("support"), "problem") or unbounded
        self.notes: tuple[str, ...] = tuple(said.get("notes", ()))
        self.data_groups = {
            group: tuple(map(Labelled.from_json, data))
            for group, data in said.get("data_groups", {}).items()
        }

    def __repr__(self) -> str:
        return f"<stored {self.kind} of {', '.join(self.names)}>"


class StoredBackend(NamedTuple):
    """What a store says of who computed: enough for summaries and reports."""

    name: str
    processors: int
    time_unit: str
    remark: str

    def __repr__(self) -> str:
        return self.name


def describe_problem(problem: Problem) -> dict[str, Any]:
    """What is stored of a problem: names, and hashes by which another one is noticed."""
    return {
        "kind": type(problem).__name__,
        "names": list(problem.names),
        "variables": [variable.to_json() for variable in problem.variables],
        "coordinates": _coordinates(problem),
        "data_groups": _small_data(problem),
        "value_name": problem.value_name,
        "ladder_kind": problem.ladder_kind,
        "reference_level": to_json(problem.reference_level),
        "has_evidence": problem.has_evidence,
        "reference_is_fitted": problem.reference_is_fitted,
        "kept_data": to_json(problem.kept_data),
        "support": to_json(problem.support),
        "notes": list(problem.notes),
        "fingerprint": problem.fingerprint(),
        "fingerprint_version": FINGERPRINT_VERSION,
        "python": python_version(),
    }


def _coordinates(problem: Problem) -> list[dict[str, Any]] | None:
    """What chains hold, where that is not what users see in another form."""
    coordinates = problem.parametrisation.coordinates
    return None if coordinates is None else [variable.to_json() for variable in coordinates]


def _small_data(problem: Problem) -> dict[str, list[dict[str, Any]]]:
    """Data that are shown beside the draws. Large ones stay with whoever has the model."""
    return {
        group: [one.to_json() for one in data if one.variable.size <= MOST_DATA]
        for group, data in problem.data_groups.items()
    }


def describe_backend(backend: Backend) -> dict[str, Any]:
    """What is stored of who computes: enough to go on with the same number of processors."""
    return {
        "name": repr(backend),
        "processors": backend.processors,
        "time_unit": backend.time_unit,
        "is_local": isinstance(backend, Processes),
        "remark": backend.remark,
        "made_by": backend.made_by,
    }


def versions() -> dict[str, str]:
    """The versions of aptmc, of Python and of the libraries that draws depend on."""
    packages = {name: version(name) for name in ("numpy", "numba", "scipy", "zarr")}
    return {"aptmc": __version__, "python": platform.python_version(), **packages}


def differences(problem: Problem, said: Mapping[str, Any]) -> list[str]:
    """How a problem differs from one that was stored; functions only on the same Python."""
    now = describe_problem(problem)
    found = [
        f"{name} is {now[name]!r}, was {said[name]!r}"
        for name in ("kind", "names")
        if now[name] != said[name]
    ]
    if now["kind"] != said["kind"]:  # nothing else can be the same
        return found
    if said.get("fingerprint_version", 1) != FINGERPRINT_VERSION:
        found.append(
            "it was stored by an earlier version of aptmc, whose fingerprints of functions and "
            "data cannot be compared with those of today"
        )
    elif now["python"] == said["python"]:
        before, after = said["fingerprint"], now["fingerprint"]
        for name in sorted({*before, *after} - {"kind", "names"}):
            both = (after.get(name, ""), before.get(name, ""))
            unknown = [one for one in both if is_uncertain(one)]
            if unknown:
                found.append(
                    f"{name} holds a {uncertain_part(unknown[0])}, and whether that is the same as "
                    "before cannot be told"
                )
            elif before.get(name) != after.get(name):
                found.append(f"{name} has changed")
    return found


def to_json(value: Any) -> Any:
    """A setting as numbers, names, lists and dictionaries, which JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray):
        return {"array": to_json(value.tolist())}
    if isinstance(value, tuple):
        return {"tuple": [to_json(part) for part in value]}
    if isinstance(value, list):
        return [to_json(part) for part in value]
    if isinstance(value, frozenset):
        return {"set": sorted(value)}
    if isinstance(value, Mapping):
        return {"mapping": {str(key): to_json(part) for key, part in value.items()}}
    name = type(value).__name__
    if is_dataclass(value) and KNOWN.get(name) is type(value):
        parts = {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
        return {"made": name, "of": parts}
    return {"foreign": repr(value)}


def from_json(value: Any, what: str) -> Any:
    """A setting from JSON; an error says which one has to be given again."""
    if isinstance(value, list):
        return [from_json(part, what) for part in value]
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "tuple" in value:
        return tuple(from_json(part, what) for part in value["tuple"])
    if "array" in value:
        return np.array(from_json(value["array"], what))
    if "set" in value:
        return frozenset(value["set"])
    if "mapping" in value:
        return {key: from_json(part, what) for key, part in value["mapping"].items()}
    if "made" in value:
        return _made(value["made"], value["of"], what)
    raise InputError(
        f"this run used a {what} of your own, {value.get('foreign')}: give it again, {what}=..."
    )


def _made(name: str, said: Mapping[str, Any], what: str) -> Any:
    """An object of one of the known classes, which check what they are given as always."""
    if name not in KNOWN:
        raise InputError(
            f"this run used a {what} that this version of aptmc does not know, {name}: open it "
            "with the version that wrote it"
        )
    kind = KNOWN[name]
    unknown = sorted(set(said) - {field.name for field in fields(kind)})
    if unknown:
        raise InputError(
            f"the {what} of this run, {name}, says more than this version of aptmc knows, "
            f"{', '.join(unknown)}: open it with the version that wrote it"
        )
    return kind(**{part: from_json(value, what) for part, value in said.items()})
