"""Products of matrices, and triangular systems."""

from __future__ import annotations

from typing import Any

from aptmc.jax_programs.values import Number, Stored, Value, at_hand, copy, room, write
from aptmc.jax_programs.writer import Index, Untranslatable, Writer, kind_of, literal, plus, times

Parameters = dict[str, Any]

MANY = 16  # products, from which on a sum is kept in four parts, which processors add at once


def dot_general(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """A product along some axes, for each place of some others."""
    left, right = (at_hand(writer, operand) for operand in operands)
    (along_left, along_right), (batch_left, batch_right) = given["dimension_numbers"]
    shape, kind = tuple(out.shape), kind_of(out.dtype)
    free_left = _free(left, along_left, batch_left)
    free_right = _free(right, along_right, batch_right)
    along = tuple(left.shape[axis] for axis in along_left)
    batches = len(batch_left)

    def product(index: tuple[Index, ...], inner: tuple[Index, ...]) -> str:
        batch = index[:batches]
        mine, others = index[batches : batches + len(free_left)], index[batches + len(free_left) :]
        one = left.element(_place(left, batch_left, batch, along_left, inner, free_left, mine))
        other = right.element(
            _place(right, batch_right, batch, along_right, inner, free_right, others)
        )
        return f"{one} * {other}"

    if not shape:
        return Number((), kind, _total(writer, kind, along, lambda inner: product((), inner)))
    target = room(writer, shape, kind)
    if _is_better_by_columns(left, along_left, free_left, right, along_right, free_right):
        copy(writer, target, Number(shape, kind, literal(0, kind)))
        with (
            writer.loops(shape[:-1]) as rows,
            writer.loops(along) as inner,
            writer.loop(shape[-1]) as column,
        ):
            index = (*rows, column)
            cell = _cell(target, index)
            writer.put(f"{cell} = {_typed(f'{cell} + {product(index, inner)}', kind)}")
        return target
    with writer.loops(shape) as index:
        code = _total(writer, kind, along, lambda inner: product(index, inner))
        write(writer, target, index, code)
    return target


def _cell(target: Stored, index: tuple[Index, ...]) -> str:
    steps = [times(stride, one) for stride, one in zip(target.strides, index, strict=True)]
    return f"{target.buffer}[{plus(target.start, *steps)}]"


def _typed(code: str, kind: str) -> str:
    return code if kind == "f8" else f"{kind}({code})"


def _free(value: Value, along: Any, batch: Any) -> list[int]:
    return [axis for axis in range(len(value.shape)) if axis not in (*along, *batch)]


def _place(value: Value, *parts: Any) -> tuple[Index, ...]:
    found: list[Index] = [0] * len(value.shape)
    for axes, index in zip(parts[::2], parts[1::2], strict=True):
        for axis, place in zip(axes, index, strict=True):
            found[axis] = place
    return tuple(found)


def _is_better_by_columns(
    left: Value, along_left: Any, free_left: Any, right: Value, along_right: Any, free_right: Any
) -> bool:
    """Whether numbers that stand beside each other belong to different sums."""
    value, along, free = (
        (right, along_right, free_right) if free_right else (left, along_left, free_left)
    )
    if not free or not along or not isinstance(value, Stored):
        return False
    nearest = min(abs(value.strides[axis]) for axis in along)
    return bool(0 < abs(value.strides[free[-1]]) < nearest)


def _total(writer: Writer, kind: str, along: tuple[int, ...], product: Any) -> str:
    """The sum of products, by the name of the sum."""
    total = writer.name("s")
    zero = literal(0, kind)
    if kind == "f8" and len(along) == 1 and along[0] >= MANY:
        whole = along[0] - along[0] % 4
        parts = [writer.name("s") for _ in range(4)]
        writer.put(f"{' = '.join(parts)} = 0.0")
        place = writer.name("i")
        writer.put(f"{place} = 0")
        with writer.inside(f"while {place} < {whole}:"):
            for step, part in enumerate(parts):
                at = f"({place} + {step})" if step else place
                writer.put(f"{part} += {product((at,))}")
            writer.put(f"{place} += 4")
        writer.put(f"{total} = ({parts[0]} + {parts[1]}) + ({parts[2]} + {parts[3]})")
        for last in range(whole, along[0]):
            writer.put(f"{total} += {product((last,))}")
        return total
    writer.put(f"{total} = {zero}")
    with writer.loops(along) as inner:
        writer.put(f"{total} = {_typed(f'{total} + {product(inner)}', kind)}")
    return total


def cholesky(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """The lower triangular factor of symmetric matrices; NaN where one has none."""
    value = at_hand(writer, operands[0])
    target = room(writer, tuple(out.shape), kind_of(out.dtype))
    n = target.shape[-1]
    copy(writer, target, Number(target.shape, target.kind, literal(0, target.kind)))
    with writer.loops(target.shape[:-2]) as batch:
        column, row = writer.name("i"), writer.name("i")
        writer.put(f"{column} = 0")
        with writer.inside(f"while {column} < {n}:"):
            writer.put(f"{row} = {column}")
            with writer.inside(f"while {row} < {n}:"):
                total, k = writer.name("s"), writer.name("i")
                writer.put(f"{total} = {value.element((*batch, row, column))}")
                writer.put(f"{k} = 0")
                with writer.inside(f"while {k} < {column}:"):
                    one, other = _cell(target, (*batch, row, k)), _cell(target, (*batch, column, k))
                    writer.put(f"{total} = {_typed(f'{total} - {one} * {other}', target.kind)}")
                    writer.put(f"{k} += 1")
                diagonal = _cell(target, (*batch, column, column))
                with writer.inside(f"if {row} == {column}:"):
                    code = f"math.sqrt({total}) if {total} > 0.0 else nan"
                    writer.put(f"{diagonal} = {code}")
                with writer.inside("else:"):
                    writer.put(f"{_cell(target, (*batch, row, column))} = {total} / {diagonal}")
                writer.put(f"{row} += 1")
            writer.put(f"{column} += 1")
    return target


def triangular_solve(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """The x with a x = b, or x a = b, for a triangular a."""
    if given["conjugate_a"]:
        raise Untranslatable("a conjugate triangular system")
    matrix = at_hand(writer, operands[0])
    on_left, turned = bool(given["left_side"]), bool(given["transpose_a"])
    target = room(writer, tuple(out.shape), kind_of(out.dtype))
    copy(writer, target, operands[1])
    n = matrix.shape[-1]
    # x a = b is aᵀ xᵀ = bᵀ.
    flipped = turned == on_left
    forwards = bool(given["lower"]) != flipped
    others = target.shape[-1] if on_left else target.shape[-2]

    def entry(batch: tuple[Index, ...], row: Index, column: Index) -> str:
        return matrix.element((*batch, column, row) if flipped else (*batch, row, column))

    def cell(batch: tuple[Index, ...], row: Index, other: Index) -> str:
        return _cell(target, (*batch, row, other) if on_left else (*batch, other, row))

    with writer.loops(target.shape[:-2]) as batch, writer.loop(others) as other:
        step = writer.name("i")
        writer.put(f"{step} = 0")
        with writer.inside(f"while {step} < {n}:"):
            row = step if forwards else writer.let(f"{n - 1} - {step}")
            total, k = writer.name("s"), writer.name("i")
            writer.put(f"{total} = {cell(batch, row, other)}")
            writer.put(f"{k} = {0 if forwards else plus(row, 1)}")
            with writer.inside(f"while {k} < {row if forwards else n}:"):
                code = f"{total} - {entry(batch, row, k)} * {cell(batch, k, other)}"
                writer.put(f"{total} = {_typed(code, target.kind)}")
                writer.put(f"{k} += 1")
            if not given["unit_diagonal"]:
                writer.put(
                    f"{total} = {_typed(f'{total} / {entry(batch, row, row)}', target.kind)}"
                )
            writer.put(f"{cell(batch, row, other)} = {total}")
            writer.put(f"{step} += 1")
    return target


PRODUCTS = {
    "dot_general": dot_general,
    "cholesky": cholesky,
    "triangular_solve": triangular_solve,
}
