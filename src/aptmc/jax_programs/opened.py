"""A program opened up: what it calls stands in it, so that its loop is seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

# By what name an operation that only holds another program keeps it.
INSIDE = ("jaxpr", "call_jaxpr", "fun_jaxpr")
LOOPS = ("while", "scan")


def counts_of_scan(given: Mapping[str, Any]) -> tuple[int, int]:
    """How many of a scan's arguments never change, and how many are carried."""
    if "num_consts" in given:
        return given["num_consts"], given["num_carry"]
    # From JAX 0.11 on they are told as a tree with three branches.
    constants, carried, _ = (len(list(branch)) for branch in given["ft_in"].unpack())
    return constants, carried


class Primitive(NamedTuple):
    """The kind of an operation."""

    name: str


class Operation(NamedTuple):
    """One operation, as JAX has them."""

    primitive: Primitive
    params: dict[str, Any]
    invars: list[Any]
    outvars: list[Any]


class Piece(NamedTuple):
    """A part of a program: what it is given, what it does, and what it gives."""

    invars: list[Any]
    eqns: list[Operation]
    outvars: list[Any]
    constvars: tuple[Any, ...] = ()


class Opened(NamedTuple):
    """A program whose loops stand at its top level, and what of it is known: by variable."""

    piece: Piece
    known: dict[Any, Any]


def opened(program: Any) -> Opened:
    """The same program, with all that holds a loop written out."""
    jaxpr = program.jaxpr
    known = dict(zip(jaxpr.constvars, program.consts, strict=True))
    named: dict[Any, Any] = {}  # of variables inside, those outside that they are
    operations: list[Operation] = []

    def outside(atom: Any) -> Any:
        while not hasattr(atom, "val") and atom in named:
            atom = named[atom]
        return atom

    def write_out(equations: Any) -> None:
        for equation in equations:
            given = [outside(atom) for atom in equation.invars]
            inner = _program_inside(equation)
            if inner is None or not has_loop(inner):
                primitive = Primitive(equation.primitive.name)
                operations.append(
                    Operation(primitive, equation.params, given, list(equation.outvars))
                )
                continue
            body = getattr(inner, "jaxpr", inner)
            known.update(zip(body.constvars, getattr(inner, "consts", ()), strict=True))
            named.update(zip(body.invars, given, strict=True))
            write_out(body.eqns)
            results = [outside(atom) for atom in body.outvars]
            named.update(zip(equation.outvars, results, strict=True))

    write_out(jaxpr.eqns)
    results = [outside(atom) for atom in jaxpr.outvars]
    return Opened(Piece(list(jaxpr.invars), operations, results), known)


def has_loop(program: Any) -> bool:
    """Whether there is a loop in it, or in what it calls; loops inside loops and branches apart."""
    for equation in getattr(program, "jaxpr", program).eqns:
        if equation.primitive.name in LOOPS:
            return True
        inner = _program_inside(equation)
        if inner is not None and has_loop(inner):
            return True
    return False


def _program_inside(equation: Any) -> Any:
    if equation.primitive.name in LOOPS:
        return None
    return next((equation.params[name] for name in INSIDE if name in equation.params), None)


def used_by(piece: Piece) -> set[Any]:
    """The variables that a piece looks at, or gives."""
    atoms = [atom for operation in piece.eqns for atom in operation.invars]
    return {atom for atom in (*atoms, *piece.outvars) if not hasattr(atom, "val")}
