"""A program as a function: one operation after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

import numba
import numpy as np

from aptmc.compiled import keep_source
from aptmc.jax_programs.control import CONTROL
from aptmc.jax_programs.elementwise import KNOWN, cast, elementwise
from aptmc.jax_programs.indexing import SCATTERS, gather, scatter
from aptmc.jax_programs.keys import form_of, is_key, with_words
from aptmc.jax_programs.opened import INSIDE
from aptmc.jax_programs.products import PRODUCTS
from aptmc.jax_programs.randomness import WRITTEN_OUT, counted, threefry2x32, written_out
from aptmc.jax_programs.reductions import (
    ARGUMENTS,
    REDUCTIONS,
    RUNNING,
    place_of_extreme,
    reduce,
    running,
)
from aptmc.jax_programs.shapes import PARTS, SHAPES
from aptmc.jax_programs.special import SPECIAL
from aptmc.jax_programs.values import Number, Stored, Value, at_hand, constant, write
from aptmc.jax_programs.writer import KINDS, Untranslatable, Writer, cast_name, kind_of, literal

# A longer text would take the compiler minutes.
MOST_LINES = 30_000


class Written(NamedTuple):
    """A function that was written: its text, and the arrays that it uses."""

    name: str
    source: str
    constants: dict[str, Any]


def function_of(program: Any, name: str, flat: Sequence[str]) -> Callable[..., Any]:
    """A numba function of flat arrays that writes all results to its last argument, a flat array.

    :param program: what `jax.make_jaxpr` gives
    :param flat: the names of the arguments
    """
    return function_from(written(program, name, flat))


def written(program: Any, name: str, flat: Sequence[str]) -> Written:
    """Its text. All that it needs beside is in this package."""
    writer = Writer()
    arguments: list[Value] = []
    for variable, argument in zip(program.jaxpr.invars, flat, strict=True):
        kind, shape = kind_of(variable.aval.dtype), tuple(variable.aval.shape)
        one: Value = Stored(writer, shape, kind, argument, 0, cast=cast_name(kind))
        arguments.append(one if shape else Number((), kind, one.element(())))
    start = 0
    for found in Walk(writer).play(program, arguments):
        target = Stored(writer, found.shape, "f8", "out", start)
        with writer.loops(found.shape) as index:
            write(writer, target, index, cast(found.element(index), found.kind, "f8"))
        start += found.size
    text = writer.text()
    if len(text.lines) > MOST_LINES:
        raise Untranslatable(f"{len(text.lines)} operations")
    head = [f"def {name}({', '.join(flat)}, out):"]
    head += [f"    r_{kind} = np.empty({size}, {kind})" for kind, size in text.room.items()]
    source = "\n".join([*head, *text.lines, "    return None"])
    constants = {f"c_{kind}": numbers for kind, numbers in text.constants.items()}
    return Written(name, source, constants)


def function_from(text: Written, **others: Any) -> Callable[..., Any]:
    """The function itself. It is taken for one of the user's, which is not run as plain Python.

    :param others: what else it finds by name
    """
    around: dict[str, Any] = {kind: np.dtype(kind).type for kind in KINDS}
    around |= SPECIAL | {"math": math, "np": np, "inf": math.inf, "nan": math.nan}
    around |= text.constants | others | {"__name__": "jax_program"}
    exec(compile(text.source, f"<{text.name}>", "exec"), around)
    function = around.pop(text.name)
    keep_source(function, text.source)
    return numba.njit(nogil=True, error_model="numpy")(function)


@final
class Walk:
    """Goes through programs, operation by operation."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def play(self, program: Any, arguments: list[Value]) -> list[Value]:
        """The results of a program for some arguments."""
        if hasattr(program, "consts"):
            return self.play_piece(program.jaxpr, program.consts, arguments)
        return self.play_piece(program, (), arguments)

    def play_piece(self, jaxpr: Any, known: Sequence[Any], arguments: list[Value]) -> list[Value]:
        """The same for a program whose constants are given apart."""
        values: dict[Any, Value] = dict(zip(jaxpr.invars, arguments, strict=True))
        for variable, numbers in zip(jaxpr.constvars, known, strict=True):
            values[variable] = self._constant(numbers)

        def value_of(atom: Any) -> Value:
            if hasattr(atom, "val"):
                return self._constant(atom.val)
            return values[atom]

        uses = _uses(jaxpr)
        for equation in jaxpr.eqns:
            if not any(variable in uses for variable in equation.outvars):
                continue
            operands = [value_of(atom) for atom in equation.invars]
            found = self._operation(equation, operands)
            for variable, value in zip(equation.outvars, found, strict=True):
                count = uses.get(variable, 0)
                # What several look at is computed once.
                values[variable] = at_hand(self.writer, value) if count > 1 else value
        return [value_of(atom) for atom in jaxpr.outvars]

    def _constant(self, numbers: Any) -> Value:
        if hasattr(numbers, "dtype") and is_key(numbers):
            import jax

            numbers = jax.random.key_data(numbers)
        array = np.asarray(numbers)
        return constant(self.writer, kind_of(array.dtype), array)

    def _operation(self, equation: Any, operands: list[Value]) -> list[Value]:
        name, given = equation.primitive.name, equation.params
        outs = [form_of(variable.aval) for variable in equation.outvars]
        writer = self.writer
        if name in CONTROL:
            return CONTROL[name](writer, self.play, given, operands, outs)
        if name == "threefry2x32":
            return threefry2x32(writer, operands, outs)
        if name in ("random_wrap", "random_unwrap"):
            return operands
        if name in WRITTEN_OUT:
            avals = [atom.aval for atom in equation.invars]
            kinds = [None if is_key(one) else one.dtype for one in avals]
            program = written_out(name, given, [tuple(one.shape) for one in avals], kinds)
            return self.play(program, operands)
        if name == "iota_2x32_shape":
            return counted(writer, outs)
        has_program = any(inside in given for inside in INSIDE)
        if not has_program and any(is_key(variable.aval) for variable in equation.outvars):
            given, operands = with_words(name, given, operands)
        if name in PARTS:
            return PARTS[name](writer, given, operands, outs)
        for inside in INSIDE:
            if inside in given:
                return self.play(given[inside], operands)
        return [self._one(name, given, operands, outs[0])]

    def _one(self, name: str, given: Any, operands: list[Value], out: Any) -> Value:
        writer = self.writer
        if name in KNOWN:
            return elementwise(writer, name, given, operands, out)
        if name in SHAPES:
            return SHAPES[name](writer, given, operands, out)
        if name in PRODUCTS:
            return PRODUCTS[name](writer, given, operands, out)
        if name in REDUCTIONS:
            return reduce(writer, REDUCTIONS[name], given, operands, out)
        if name in RUNNING:
            return running(writer, RUNNING[name], given, operands, out)
        if name in ARGUMENTS:
            return place_of_extreme(writer, name, given, operands, out)
        if name == "gather":
            return gather(writer, given, operands, out)
        if name in SCATTERS:
            return scatter(writer, name, given, operands, out)
        if name == "platform_index":
            return Number((), "i4", literal(_own_place(given["platforms"]), "i4"))
        if name in ("empty", "empty2"):
            return Number(tuple(out.shape), kind_of(out.dtype), literal(0, kind_of(out.dtype)))
        raise Untranslatable(f"the operation {name}")


def _own_place(platforms: Any) -> int:
    """The place of processors among platforms, or else that of all others."""
    for place, names in enumerate(platforms):
        if names is None or "cpu" in names:
            return place
    raise Untranslatable("something that no processor does")


def _uses(jaxpr: Any) -> dict[Any, int]:
    """How often each variable is looked at by what is needed for the results."""
    uses: dict[Any, int] = {}

    def look(atoms: Any) -> None:
        for atom in atoms:
            if not hasattr(atom, "val"):
                uses[atom] = uses.get(atom, 0) + 1

    look(jaxpr.outvars)
    for equation in reversed(jaxpr.eqns):
        if any(variable in uses for variable in equation.outvars):
            look(equation.invars)
    return uses
