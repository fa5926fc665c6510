"""Teach ArviZ before version 1 what a DataTree is, so that it takes `run.draws` as the newer does.

From version 1 on ArviZ keeps draws in xarray's DataTree; before, in a class of its own, and knows
nothing of trees although it can convert them. Python 3.11 gets the older one. All of its functions
turn what they are given into that class by one function, which is looked up in the modules below:
that one is extended, and as nothing else takes a tree, nothing else changes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, final

from typing_extensions import override

from aptmc.result.beyond import BEYOND

if TYPE_CHECKING:
    import xarray

CONVERTS = "convert_to_inference_data"
_TAUGHT = "__aptmc_takes_trees__"


def teach_older_arviz() -> None:
    """Have the older ArviZ take a DataTree: now if it has been imported, else when it will be."""
    arviz = sys.modules.get("arviz")
    if arviz is not None:
        _teach(arviz)
    elif not any(isinstance(finder, _WhenImported) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenImported())


def inference_data(tree: xarray.DataTree) -> Any:
    """A tree as `InferenceData`, which has no groups of draws that stand beside chains."""
    from arviz import InferenceData

    nodes = {name: node for name, node in tree.children.items() if not name.startswith(BEYOND)}
    groups: dict[str, Any] = {name: node.to_dataset() for name, node in nodes.items()}
    return InferenceData(dict(tree.attrs), **groups)


def _teach(arviz: ModuleType) -> None:
    known = getattr(arviz, CONVERTS, None)
    is_older = hasattr(arviz, "__version__") and "InferenceData" in vars(arviz)
    if known is None or not is_older or hasattr(known, _TAUGHT):
        return

    @wraps(known)
    def convert(obj: Any, **options: Any) -> Any:
        xarray = sys.modules.get("xarray")
        is_tree = xarray is not None and isinstance(obj, xarray.DataTree)
        return known(inference_data(obj) if is_tree else obj, **options)

    setattr(convert, _TAUGHT, True)
    for name, module in list(sys.modules.items()):
        # Not through getattr, because some modules import others when they are asked.
        if name.partition(".")[0] == "arviz" and vars(module).get(CONVERTS) is known:
            setattr(module, CONVERTS, convert)


@final
class _WhenImported(MetaPathFinder):
    """Waits for ArviZ to be imported, and steps aside."""

    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "arviz":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        loader = None if spec is None else spec.loader
        if loader is not None:
            load = loader.exec_module

            def load_and_teach(module: ModuleType) -> None:
                load(module)
                _teach(module)

            loader.exec_module = load_and_teach  # type: ignore[method-assign]
        return spec
