"""Loops and branches of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aptmc.jax_programs.opened import counts_of_scan
from aptmc.jax_programs.values import Computed, Number, Stored, Value, at_hand, copy, room
from aptmc.jax_programs.writer import Index, Writer, kind_of, plus

Parameters = dict[str, Any]
# Writes a program inside the present one: (closed program, arguments) -> results.
Play = Callable[[Any, list[Value]], list[Value]]


def _fresh(writer: Writer, value: Value) -> Value:
    """The same in a place of its own, which nobody writes to but who has it."""
    if not value.shape:
        return Number((), value.kind, writer.let(value.element(())))
    target = room(writer, value.shape, value.kind)
    copy(writer, target, value)
    return target


def _place_for(writer: Writer, aval: Any) -> Value:
    """Where a result is to be written."""
    kind = kind_of(aval.dtype)
    if not aval.shape:
        return Number((), kind, writer.name("c"))
    return room(writer, tuple(aval.shape), kind)


def _assign(writer: Writer, target: Value, source: Value) -> None:
    if isinstance(target, Number):
        writer.put(f"{target.code} = {source.element(())}")
    else:
        assert isinstance(target, Stored)
        copy(writer, target, source)


def _assign_all(writer: Writer, targets: list[Value], sources: list[Value]) -> None:
    """Write results to where arguments were, which they may be made of."""
    fresh = [_fresh(writer, source) for source in sources]
    for target, source in zip(targets, fresh, strict=True):
        _assign(writer, target, source)


def _begun(writer: Writer, values: list[Value]) -> list[Value]:
    """Places for what goes from one round to the next, with what it is at first."""
    found: list[Value] = []
    for value in values:
        if value.shape:
            found.append(_fresh(writer, value))
        else:
            name = writer.name("c")
            writer.put(f"{name} = {value.element(())}")
            found.append(Number((), value.kind, name))
    return found


def cond(
    writer: Writer, play: Play, given: Parameters, operands: list[Value], outs: list[Any]
) -> list[Value]:
    """One of several programs."""
    which, *others = [at_hand(writer, operand) for operand in operands]
    branches = given["branches"]
    targets = [_place_for(writer, out) for out in outs]
    place = writer.let(f"i8({which.element(())})")
    for number, branch in enumerate(branches):
        if number == 0:
            head = f"if {place} <= 0:"
        elif number < len(branches) - 1:
            head = f"elif {place} == {number}:"
        else:
            head = "else:"
        with writer.inside(head if len(branches) > 1 else "if True:"):
            writer.put("pass")
            for target, source in zip(targets, play(branch, others), strict=True):
                _assign(writer, target, source)
    return targets


def while_(
    writer: Writer, play: Play, given: Parameters, operands: list[Value], outs: list[Any]
) -> list[Value]:
    """A program again and again, as long as another says so."""
    operands = [at_hand(writer, operand) for operand in operands]
    of_condition, of_body = given["cond_nconsts"], given["body_nconsts"]
    for_condition = operands[:of_condition]
    for_body = operands[of_condition : of_condition + of_body]
    carried = _begun(writer, operands[of_condition + of_body :])
    with writer.inside("while True:"):
        (goes_on,) = play(given["cond_jaxpr"], [*for_condition, *carried])
        with writer.inside(f"if not {goes_on.element(())}:"):
            writer.put("break")
        _assign_all(writer, carried, play(given["body_jaxpr"], [*for_body, *carried]))
    return carried


def scan(
    writer: Writer, play: Play, given: Parameters, operands: list[Value], outs: list[Any]
) -> list[Value]:
    """A program for one row of arrays after the other."""
    operands = [at_hand(writer, operand) for operand in operands]
    constants, carries = counts_of_scan(given)
    length = int(given["length"])
    fixed, rows = operands[:constants], operands[constants + carries :]
    carried = _begun(writer, operands[constants : constants + carries])
    results = [room(writer, tuple(out.shape), kind_of(out.dtype)) for out in outs[carries:]]
    step = writer.name("i")
    writer.put(f"{step} = 0")
    with writer.inside(f"while {step} < {length}:"):
        place = writer.let(f"{length - 1} - {step}") if given["reverse"] else step
        arguments = [*fixed, *carried, *(read_row(writer, row, place) for row in rows)]
        found = play(given["jaxpr"], arguments)
        for result, row in zip(results, found[carries:], strict=True):
            copy(writer, read_row(writer, result, place), row)  # type: ignore[arg-type]
        _assign_all(writer, carried, found[:carries])
        writer.put(f"{step} += 1")
    return [*carried, *results]


def read_row(writer: Writer, value: Value, place: Index) -> Value:
    """A row of an array."""
    if isinstance(value, Number):
        return Number(value.shape[1:], value.kind, value.code)
    if isinstance(value, Stored):
        start = plus(value.start, f"{value.strides[0]} * {place}")
        return value.view(value.shape[1:], start, value.strides[1:])
    return Computed(
        writer,
        value.shape[1:],
        value.kind,
        lambda index: value.element((place, *index)),
        is_at_hand=True,
    )


CONTROL = {"cond": cond, "while": while_, "scan": scan}
