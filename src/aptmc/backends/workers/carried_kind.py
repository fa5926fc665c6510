"""A library whose settings the workers take over, because results depend on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class CarriedOver(ABC):
    """Settings of a library."""

    module: str  # the library, by name

    @abstractmethod
    def seen(self, library: Any) -> Any:
        """The settings that matter as they are here; None if there are none to carry over."""

    @abstractmethod
    def set(self, settings: Any) -> None:
        """Make them the settings of this process."""
