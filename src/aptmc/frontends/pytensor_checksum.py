"""What a graph of PyTensor computes, as a checksum: is it the same model with the same data?"""

from __future__ import annotations

import hashlib
from typing import Any, final

import numpy as np

from aptmc.problem.fingerprint import UNCERTAIN, checksum, is_uncertain, uncertain_part


def checksum_of_graph(inputs: list[Any], outputs: list[Any]) -> str:
    """A checksum of what outputs are made of; of names only those that are part of operations."""
    count = _Graph()
    found = count.graph(inputs, outputs)
    return found if count.unknown is None else f"{UNCERTAIN}{count.unknown}"


@final
class _Graph:
    """Checksums of the variables of a graph, and the first thing that cannot be told apart."""

    def __init__(self) -> None:
        self.unknown: str | None = None

    def graph(self, inputs: list[Any], outputs: list[Any]) -> str:
        """Of the outputs, by what they are made of, from the inputs on."""
        from pytensor.graph.traversal import toposort

        known = {variable: _sum("input", place) for place, variable in enumerate(inputs)}
        for node in toposort(outputs, blockers=list(inputs)):
            made_of = [self._leaf(one, known) for one in node.inputs]
            types = [str(one.type) for one in node.outputs]
            of_node = _sum(self._operation(node.op), made_of, types)
            for place, variable in enumerate(node.outputs):
                known.setdefault(variable, _sum(of_node, place))
        return _sum([self._leaf(one, known) for one in outputs])

    def _leaf(self, variable: Any, known: dict[Any, str]) -> str:
        if variable not in known:
            value = getattr(variable, "data", None)
            if value is None and hasattr(variable, "get_value") and _has_numbers(variable):
                value = variable.get_value(borrow=True)
            known[variable] = _sum(str(variable.type), self._plain(value))
        return known[variable]

    def _operation(self, operation: Any) -> str:
        """Its kind, its properties, and the graph inside it, if there is one."""
        kind = type(operation)
        words = [kind.__module__, kind.__qualname__]
        properties = getattr(operation, "__props__", None)
        inner = getattr(operation, "fgraph", None)
        if properties is None and inner is None:
            return _sum(words, self._plain(vars(operation)))
        for name in properties or ():
            value = getattr(operation, name)
            words.append(self._operation(value) if _is_operation(value) else self._plain(value))
        if inner is not None:
            words.append(self.graph(list(inner.inputs), list(inner.outputs)))
        return _sum(words)

    def _plain(self, value: Any) -> str:
        if isinstance(value, np.ndarray | np.generic):
            array = np.ascontiguousarray(value)
            if not array.dtype.hasobject:
                return _sum(str(array.dtype), array.shape, array.tobytes())
        words = repr(value)
        if len(words) < 200 and " at 0x" not in words and not callable(value):
            return _sum(words)
        found = checksum(value)
        if is_uncertain(found):
            self.unknown = self.unknown or uncertain_part(found)
        return found


def _is_operation(value: Any) -> bool:
    from pytensor.graph.op import Op

    return isinstance(value, Op)


def _has_numbers(variable: Any) -> bool:
    return type(variable.type).__name__ == "TensorType"


def _sum(*words: Any) -> str:
    return hashlib.sha256(repr(words).encode()).hexdigest()[:16]
