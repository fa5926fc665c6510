"""Operations that make one number of many: sums, products, extremes, and running ones."""

from __future__ import annotations

import math
from typing import Any

from aptmc.jax_programs.values import Number, Stored, Value, at_hand, room, write
from aptmc.jax_programs.writer import Index, Untranslatable, Writer, kind_of, literal

Parameters = dict[str, Any]

_COMBINED = {
    "sum": "{0} + {1}", "prod": "{0} * {1}", "max": "larger({0}, {1})", "min": "smaller({0}, {1})",
    "and": "{0} and {1}", "or": "{0} or {1}", "xor": "{0} != {1}",
}  # fmt: skip
REDUCTIONS = {f"reduce_{name}": name for name in _COMBINED}
RUNNING = {"cumsum": "sum", "cumprod": "prod", "cummax": "max", "cummin": "min"}
ARGUMENTS = {"argmax": ">", "argmin": "<"}


def _first(name: str, kind: str) -> str:
    if name in ("and", "or", "xor") or kind == "b1":
        if name == "max":
            name = "or"
        return literal(name in ("and", "min", "prod"), kind)
    if name in ("sum", "prod"):
        return literal(0 if name == "sum" else 1, kind)
    if kind[0] == "f":
        return literal(-math.inf if name == "max" else math.inf, kind)
    bits = 8 * int(kind[1]) - (kind[0] == "i")
    lowest = 0 if kind[0] == "u" else -(1 << bits)
    return literal(lowest if name == "max" else (1 << bits) - 1, kind)


def _combined(name: str, kind: str, one: str, other: str) -> str:
    if kind == "b1":
        name = {"sum": "or", "max": "or", "prod": "and", "min": "and"}.get(name, name)
    elif name in ("and", "or", "xor"):
        raise Untranslatable(f"{name} of whole numbers along an axis")
    code = _COMBINED[name].format(one, other)
    return code if kind in ("f8", "b1") else f"{kind}({code})"


def _placed(
    axes: list[int], index: tuple[Index, ...], others: tuple[Index, ...]
) -> tuple[Index, ...]:
    """An index from that along some axes, and that along all others."""
    along, rest = iter(index), iter(others)
    return tuple(
        next(along) if axis in axes else next(rest) for axis in range(len(index) + len(others))
    )


def reduce(writer: Writer, name: str, given: Parameters, operands: list[Value], out: Any) -> Value:
    """A reduction along some axes."""
    value, axes, shape = operands[0], list(given["axes"]), tuple(out.shape)
    along, kind = tuple(value.shape[axis] for axis in axes), kind_of(out.dtype)

    def total(others: tuple[Index, ...]) -> str:
        found = writer.name("s")
        writer.put(f"{found} = {_first(name, kind)}")
        with writer.loops(along) as index:
            one = value.element(_placed(axes, index, others))
            writer.put(f"{found} = {_combined(name, kind, found, one)}")
        return found

    if not shape:
        return Number((), kind, total(()))
    target = room(writer, shape, kind)
    with writer.loops(shape) as others:
        write(writer, target, others, total(others))
    return target


def running(writer: Writer, name: str, given: Parameters, operands: list[Value], out: Any) -> Value:
    """A reduction of all numbers up to each place of an axis."""
    value, axis = operands[0], int(given["axis"])
    shape, kind = value.shape, value.kind
    target: Stored = room(writer, shape, kind)
    others = tuple(n for place, n in enumerate(shape) if place != axis)
    with writer.loops(others) as rest:
        total, step = writer.name("s"), writer.name("i")
        writer.put(f"{total} = {_first(name, kind)}")
        writer.put(f"{step} = 0")
        with writer.inside(f"while {step} < {shape[axis]}:"):
            place = writer.let(f"{shape[axis] - 1} - {step}") if given["reverse"] else step
            index = _placed([axis], (place,), rest)
            one = value.element(index)
            writer.put(f"{total} = {_combined(name, kind, total, one)}")
            write(writer, target, index, total)
            writer.put(f"{step} += 1")
    return target


def place_of_extreme(
    writer: Writer, name: str, given: Parameters, operands: list[Value], out: Any
) -> Value:
    """Where along an axis the largest, or the smallest, is: the first of them."""
    (axis,), value, kind = given["axes"], at_hand(writer, operands[0]), kind_of(out.dtype)
    compare, shape = ARGUMENTS[name], tuple(out.shape)

    def found(others: tuple[Index, ...]) -> str:
        best, where, step = writer.name("s"), writer.name("t"), writer.name("i")
        writer.put(f"{best} = {value.element(_placed([axis], (0,), others))}")
        writer.put(f"{where} = {step} = 0")
        with writer.inside(f"while {step} < {value.shape[axis]}:"):
            one = value.element(_placed([axis], (step,), others))
            with writer.inside(
                f"if {one} {compare} {best} or ({one} != {one} and {best} == {best}):"
            ):
                writer.put(f"{best}, {where} = {one}, {step}")
            writer.put(f"{step} += 1")
        return f"{kind}({where})"

    if not shape:
        return Number((), kind, writer.let(found(())))
    target = room(writer, shape, kind)
    with writer.loops(shape) as others:
        write(writer, target, others, found(others))
    return target
