"""numba copies what it inlines, and a fifth of the time in which it compiles a move goes there.

It copies the representation of each function twice, node by node, by rules for any Python object.
Here nodes are copied as what they are: the same for numba, which looks at nothing else of them.
Places in the source never change, and the scope is one that was made for this copy anyway.
"""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numba
from numba.core import inline_closurecall, ir

from aptmc.compiled import TRIED

UNCHANGED = {str, int, float, bool, type(None), ir.Loc, ir.Scope}
Memory = dict[int, Any]  # copies, by what they are copies of


def copied(node: Any, memory: Memory) -> Any:
    """A copy down to the last variable, one that stands in two places made once."""
    kind = type(node)
    if kind in UNCHANGED:
        return node
    if kind is list:
        return [copied(part, memory) for part in node]
    if kind is tuple:
        return tuple([copied(part, memory) for part in node])
    if kind is dict:
        return {name: copied(part, memory) for name, part in node.items()}
    if kind is ir.Global:
        return ir.Global(node.name, node.value, node.loc)
    if not isinstance(node, ir.Var | ir.Inst | ir.Block):
        return copy.deepcopy(node, memory)
    found = memory.get(id(node))
    if found is None:
        found = memory[id(node)] = object.__new__(kind)
        parts = {name: copied(part, memory) for name, part in vars(node).items()}
        vars(found).update(parts)
    return found


def copy_quickly() -> None:
    """In this process, from now on; if this is the numba that it was tried with."""
    if numba.version_info.short == TRIED:
        quick = SimpleNamespace(copy=copy.copy, deepcopy=lambda block: copied(block, {}))
        inline_closurecall.copy = quick
