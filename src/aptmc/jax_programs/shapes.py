"""Operations that only say which number stands where."""

from __future__ import annotations

from typing import Any

import numpy as np

from aptmc.jax_programs.values import (
    Computed,
    Number,
    Stored,
    Value,
    at_hand,
    contiguous,
    copy,
    is_contiguous,
    room,
    stored,
    write,
)
from aptmc.jax_programs.writer import Index, Untranslatable, Writer, kind_of, literal, plus, times

Parameters = dict[str, Any]


def moved(
    writer: Writer,
    value: Value,
    shape: tuple[int, ...],
    sources: list[tuple[int | None, int, int]],
    axes: int,
) -> Value:
    """An array whose numbers stand elsewhere in another.

    :param sources: by axis of the result, the axis of the other (None: no matter), the first place
        there, and the step from one to the next
    :param axes: how many axes the other has
    """
    if isinstance(value, Number):
        return Number(shape, value.kind, value.code)
    if isinstance(value, Stored):
        start: Index = value.start
        strides = []
        for axis, first, step in sources:
            if axis is None:
                strides.append(0)
            else:
                start = plus(start, value.strides[axis] * first)
                strides.append(value.strides[axis] * step)
        return value.view(shape, start, tuple(strides))

    def compute(index: tuple[Index, ...]) -> str:
        there: list[Index] = [0] * axes
        for place, (axis, first, step) in zip(index, sources, strict=True):
            if axis is not None:
                there[axis] = plus(first, times(step, place))
        return value.element(tuple(there))

    return Computed(writer, shape, value.kind, compute, is_at_hand=value.is_at_hand)


def broadcast_in_dim(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """Repeated along new axes."""
    value, shape = operands[0], tuple(given["shape"])
    dims = list(given["broadcast_dimensions"])
    if value.size < int(np.prod(shape)):
        value = at_hand(writer, value)
    sources: list[tuple[int | None, int, int]] = [(None, 0, 1)] * len(shape)
    for axis, dim in enumerate(dims):
        if value.shape[axis] != 1:
            sources[dim] = (axis, 0, 1)
    return moved(writer, value, shape, sources, len(value.shape))


def reshape(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """The same numbers in another shape."""
    value, shape, order = operands[0], tuple(out.shape), given.get("dimensions")
    if isinstance(value, Number):
        return Number(shape, value.kind, value.code)
    if "new_sizes" in given and order is not None:  # axes change places before
        turned = tuple(value.shape[axis] for axis in order)
        value = moved(writer, value, turned, [(axis, 0, 1) for axis in order], len(order))
    here, there = ([n for n in one if n != 1] for one in (shape, value.shape))
    if here == there:  # only axes with a single place come or go
        axes = iter([axis for axis, n in enumerate(value.shape) if n != 1])
        sources: list[tuple[int | None, int, int]] = [
            (None if n == 1 else next(axes), 0, 1) for n in shape
        ]
        return moved(writer, value, shape, sources, len(value.shape))
    whole = stored(writer, value)
    if not is_contiguous(whole.shape, whole.strides):
        fresh = room(writer, whole.shape, whole.kind)
        copy(writer, fresh, whole)
        whole = fresh
    return whole.view(shape, whole.start, contiguous(shape))


def transpose(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """Axes in another order."""
    axes = given["permutation"]
    return moved(writer, operands[0], tuple(out.shape), [(axis, 0, 1) for axis in axes], len(axes))


def slice_(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """A part of it."""
    steps = given["strides"] or (1,) * len(out.shape)
    sources = [
        (axis, int(first), int(step))
        for axis, (first, step) in enumerate(zip(given["start_indices"], steps, strict=True))
    ]
    return moved(writer, operands[0], tuple(out.shape), list(sources), len(sources))


def rev(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """Turned round along some axes."""
    shape, turned = tuple(out.shape), set(given["dimensions"])
    sources: list[tuple[int | None, int, int]] = [
        (axis, n - 1, -1) if axis in turned else (axis, 0, 1) for axis, n in enumerate(shape)
    ]
    return moved(writer, operands[0], shape, sources, len(shape))


def split(writer: Writer, given: Parameters, operands: list[Value], outs: list[Any]) -> list[Value]:
    """Parts along an axis."""
    found: list[Value] = []
    value, first = at_hand(writer, operands[0]), 0
    for out in outs:
        sources: list[tuple[int | None, int, int]] = [
            (axis, first if axis == given["axis"] else 0, 1) for axis in range(len(out.shape))
        ]
        found.append(moved(writer, value, tuple(out.shape), sources, len(out.shape)))
        first += out.shape[given["axis"]]
    return found


def unstack(
    writer: Writer, given: Parameters, operands: list[Value], outs: list[Any]
) -> list[Value]:
    """All places of an axis, which is gone then."""
    value = at_hand(writer, operands[0])
    axis, shape = given["axis"] % len(value.shape), list(value.shape)
    shape[axis] = 1
    found = []
    for place, out in enumerate(outs):
        sources: list[tuple[int | None, int, int]] = [
            (one, place if one == axis else 0, 1) for one in range(len(shape))
        ]
        part = moved(writer, value, tuple(shape), sources, len(shape))
        found.append(reshape(writer, {}, [part], out))
    return found


def iota(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """The places along an axis."""
    kind, axis = kind_of(out.dtype), int(given["dimension"])

    def compute(index: tuple[Index, ...]) -> str:
        place = index[axis]
        return literal(place, kind) if isinstance(place, int) else f"{kind}({place})"

    return Computed(writer, tuple(out.shape), kind, compute, is_at_hand=True)


def concatenate(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """One after the other along an axis."""
    target = room(writer, tuple(out.shape), kind_of(out.dtype))
    axis, first = given["dimension"], 0
    for operand in operands:
        part = target.view(
            operand.shape, plus(target.start, target.strides[axis] * first), target.strides
        )
        copy(writer, part, operand)
        first += operand.shape[axis]
    return target


def stack(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """Side by side along a new axis."""
    target = room(writer, tuple(out.shape), kind_of(out.dtype))
    axis = given["axis"] % len(target.shape)
    strides = (*target.strides[:axis], *target.strides[axis + 1 :])
    for place, operand in enumerate(operands):
        start = plus(target.start, target.strides[axis] * place)
        copy(writer, target.view(operand.shape, start, strides), operand)
    return target


def pad(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """With further numbers around, or between; or with fewer."""
    value, filling = operands
    config = [tuple(map(int, one)) for one in given["padding_config"]]
    target = room(writer, tuple(out.shape), kind_of(out.dtype))
    copy(writer, target, Number(target.shape, target.kind, filling.element(())))
    inner, start, shape = [], target.start, []
    for axis, (low, high, between) in enumerate(config):
        length = value.shape[axis]
        if length and (low < 0 or high < 0):
            if between:
                raise Untranslatable("padding that is negative and between numbers")
            length += min(low, 0) + min(high, 0)
            first = max(-low, 0)
        else:
            first = 0
        inner.append((axis, first, 1))
        shape.append(max(length, 0))
        start = plus(start, target.strides[axis] * max(low, 0))
    strides = tuple(
        stride * (between + 1)
        for stride, (_, _, between) in zip(target.strides, config, strict=True)
    )
    if all(shape):
        source = moved(writer, value, tuple(shape), list(inner), len(shape))
        copy(writer, target.view(tuple(shape), start, strides), source)
    return target


def _starts(writer: Writer, operands: list[Value], room_left: list[int]) -> list[Index]:
    """First places, moved so that all is inside."""
    found: list[Index] = []
    for operand, most in zip(operands, room_left, strict=True):
        place = operand.element(())
        found.append(writer.let(f"min(max(i8({place}), 0), {most})") if most else 0)
    return found


def dynamic_slice(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """A part that begins at places which are computed."""
    value, shape = at_hand(writer, operands[0]), tuple(out.shape)
    if isinstance(value, Number):
        return Number(shape, value.kind, value.code)
    left = [n - m for n, m in zip(value.shape, shape, strict=True)]
    starts = _starts(writer, operands[1:], left)
    if isinstance(value, Stored):
        steps = [times(stride, one) for stride, one in zip(value.strides, starts, strict=True)]
        return value.view(shape, plus(value.start, *steps), value.strides)
    return Computed(
        writer,
        shape,
        value.kind,
        lambda index: value.element(tuple(map(plus, index, starts))),
        is_at_hand=True,
    )


def dynamic_update_slice(
    writer: Writer, given: Parameters, operands: list[Value], out: Any
) -> Value:
    """With such a part replaced."""
    value, update = operands[:2]
    target = room(writer, tuple(out.shape), kind_of(out.dtype))
    copy(writer, target, value)
    left = [n - m for n, m in zip(value.shape, update.shape, strict=True)]
    starts = _starts(writer, operands[2:], left)
    with writer.loops(update.shape) as index:
        code = update.element(index)
        write(writer, target, tuple(map(plus, index, starts)), code)
    return target


SHAPES = {
    "broadcast_in_dim": broadcast_in_dim,
    "reshape": reshape,
    "squeeze": reshape,
    "expand_dims": reshape,
    "transpose": transpose,
    "slice": slice_,
    "rev": rev,
    "iota": iota,
    "concatenate": concatenate,
    "stack": stack,
    "pad": pad,
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
}
# Those with several results.
PARTS = {"split": split, "unstack": unstack}
