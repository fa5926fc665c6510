"""Numbers picked by places that are themselves computed, and added at such places."""

from __future__ import annotations

import math
from typing import Any

from aptmc.jax_programs.values import Computed, Value, at_hand, copy, room
from aptmc.jax_programs.writer import Index, Untranslatable, Writer, kind_of, literal, plus, times

Parameters = dict[str, Any]


def _mode(given: Parameters) -> str:
    words = str(given["mode"]).upper()
    for known in ("CLIP", "FILL", "PROMISE"):
        if known in words:
            return known
    return "FILL"


def gather(writer: Writer, given: Parameters, operands: list[Value], out: Any) -> Value:
    """Parts of an array, each beginning at a place that is computed."""
    value, places = at_hand(writer, operands[0]), at_hand(writer, operands[1])
    numbers, sizes = given["dimension_numbers"], given["slice_sizes"]
    shape, kind = tuple(out.shape), kind_of(out.dtype)
    offset_dims = list(numbers.offset_dims)
    batched = list(numbers.operand_batching_dims)
    start_batched = list(numbers.start_indices_batching_dims)
    gone = {*numbers.collapsed_slice_dims, *batched}
    kept = [axis for axis in range(len(value.shape)) if axis not in gone]
    batch_dims = [axis for axis in range(len(shape)) if axis not in offset_dims]
    mode = _mode(given)

    def compute(index: tuple[Index, ...]) -> str:
        batch = tuple(index[axis] for axis in batch_dims)
        there: list[Index] = [0] * len(value.shape)
        inside = []
        for part, axis in enumerate(numbers.start_index_map):
            most = value.shape[axis] - sizes[axis]
            place = writer.let(f"i8({places.element((*batch, part))})")
            if mode == "FILL":
                inside.append(f"0 <= {place} <= {most}")
            there[axis] = writer.let(f"min(max({place}, 0), {most})") if most else 0
        for axis, of_places in zip(batched, start_batched, strict=True):
            there[axis] = batch[of_places]
        for axis, offset in zip(kept, offset_dims, strict=True):
            there[axis] = plus(there[axis], index[offset])
        found = value.element(tuple(there))
        if not inside:
            return found
        filling = given.get("fill_value")
        if filling is None:
            filling = math.nan if kind[0] == "f" else 0
        return writer.let(f"{found} if {' and '.join(inside)} else {literal(filling, kind)}")

    return Computed(writer, shape, kind, compute)


_ADDED = {
    "scatter": "{1}", "scatter-add": "{0} + {1}", "scatter_add": "{0} + {1}",
    "scatter-mul": "{0} * {1}", "scatter_mul": "{0} * {1}",
    "scatter-min": "smaller({0}, {1})", "scatter_min": "smaller({0}, {1})",
    "scatter-max": "larger({0}, {1})", "scatter_max": "larger({0}, {1})",
}  # fmt: skip
SCATTERS = frozenset(_ADDED)


def scatter(writer: Writer, name: str, given: Parameters, operands: list[Value], out: Any) -> Value:
    """An array, of which parts at places that are computed are changed."""
    value, places, updates = operands[0], at_hand(writer, operands[1]), operands[2]
    numbers = given["dimension_numbers"]
    kind = kind_of(out.dtype)
    if kind == "b1" and name != "scatter":
        raise Untranslatable(f"{name} of truths")
    window = list(numbers.update_window_dims)
    batched = list(numbers.operand_batching_dims)
    places_batched = list(numbers.scatter_indices_batching_dims)
    gone = {*numbers.inserted_window_dims, *batched}
    kept = [axis for axis in range(len(value.shape)) if axis not in gone]
    batch_dims = [axis for axis in range(len(updates.shape)) if axis not in window]
    length = {axis: updates.shape[dim] for axis, dim in zip(kept, window, strict=True)}
    clips = _mode(given) == "CLIP"
    target = room(writer, tuple(out.shape), kind)
    copy(writer, target, value)
    with writer.loops(updates.shape) as index:
        batch = tuple(index[axis] for axis in batch_dims)
        there: list[Index] = [0] * len(value.shape)
        inside = []
        for part, axis in enumerate(numbers.scatter_dims_to_operand_dims):
            most = value.shape[axis] - length.get(axis, 1)
            place = writer.let(f"i8({places.element((*batch, part))})")
            if not clips:
                inside.append(f"0 <= {place} <= {most}")
            there[axis] = writer.let(f"min(max({place}, 0), {most})")
        for axis, of_places in zip(batched, places_batched, strict=True):
            there[axis] = batch[of_places]
        for axis, dim in zip(kept, window, strict=True):
            there[axis] = plus(there[axis], index[dim])
        one = updates.element(index)
        steps = [times(stride, place) for stride, place in zip(target.strides, there, strict=True)]
        cell = f"{target.buffer}[{plus(target.start, *steps)}]"
        with writer.inside(f"if {' and '.join(inside) or 'True'}:"):
            code = _ADDED[name].format(cell, one)
            writer.put(f"{cell} = {code if kind in ('f8', 'b1') else f'{kind}({code})'}")
    return target
