"""torch's global generators, of the processor and of whatever devices are in use."""

from __future__ import annotations

import sys
from typing import Any, final

from typing_extensions import override

from aptmc.compiled import Words
from aptmc.global_generators.generator import GlobalGenerator


@final
class OfTorch(GlobalGenerator):
    """Looked for before each move, since a function may import torch when it is first called."""

    def __init__(self) -> None:
        self._as_seeded: Any = None

    @override
    def seed(self, words: Words) -> None:
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "manual_seed"):  # which it has when it is complete
            torch.manual_seed(int(words[0]) >> 1)
            self._as_seeded = torch.get_rng_state()

    @override
    def is_stale(self) -> bool:
        return "torch" in sys.modules  # what goes on in its devices cannot be seen cheaply

    @override
    def was_used(self) -> bool:
        torch = sys.modules.get("torch")
        if torch is None or self._as_seeded is None:
            return False
        return not torch.equal(torch.get_rng_state(), self._as_seeded)

    @override
    def state(self) -> Any:
        torch = sys.modules.get("torch")
        return torch.get_rng_state() if torch is not None and hasattr(torch, "equal") else None

    @override
    def restore(self, state: Any) -> None:
        if state is not None:
            sys.modules["torch"].set_rng_state(state)
