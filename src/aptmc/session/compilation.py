"""Who waits for the compiler: all, or nobody while plain Python does the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, final

from typing_extensions import override

from aptmc.clock import Clock, WallClock
from aptmc.compiled import AtFirstUse
from aptmc.session.compiling_process import CompilingProcess, compiling
from aptmc.targets.when import ASIDE, when_to_compile

LOOK_EVERY = 0.1  # seconds


class Compilation(ABC):
    """Whether functions that a session needs can be called as compiled code."""

    @abstractmethod
    def is_done(self) -> bool:
        """Whether they are compiled by now, and loaded. Asked again and again until they are."""


@final
class WaitedFor(Compilation):
    """Compiled when one asks."""

    def __init__(self, functions: Iterable[Any]) -> None:
        self._functions = library_functions(functions)

    @override
    def is_done(self) -> bool:
        for function in self._functions:
            function.make_ready()
        return True


@final
class Aside(Compilation):
    """Loaded if they are on disk; if not, a process of its own compiles them meanwhile.

    If that fails, or if nothing is to be compiled aside, they are never there.

    :param functions: what is to be loaded
    :param later: what else the process is to compile, for those who come later
    """

    def __init__(
        self,
        functions: Iterable[Any],
        later: Iterable[Any] = (),
        clock: Clock | None = None,
    ) -> None:
        self._functions = library_functions(functions)
        self._later = library_functions(later)
        self._clock = WallClock() if clock is None else clock
        self._look_again = self._clock.now()
        self._process: CompilingProcess | None = None
        self._has_begun = self._is_done = False

    @override
    def is_done(self) -> bool:
        """Whether they are loaded. Looks up from work ten times a second at most."""
        now = self._clock.now()
        if self._is_done or now < self._look_again:
            return self._is_done
        if self._process is None or self._process.has_ended():
            self._is_done = all(function.load() for function in self._functions)
            self._process = None
        if not self._has_begun:
            self._has_begun = True
            wanted = [one for one in (*self._functions, *self._later) if not _is_there(one)]
            if wanted and when_to_compile() == ASIDE:
                self._process = compiling(wanted)
        # Once the process is gone there is nothing to look for.
        self._look_again = now + LOOK_EVERY if self._process is not None else float("inf")
        return self._is_done


def library_functions(functions: Iterable[Any]) -> list[AtFirstUse]:
    """Those that belong to the library: a user's rule was compiled when it was made."""
    return [function for function in functions if isinstance(function, AtFirstUse)]


def _is_there(function: AtFirstUse) -> bool:
    return bool(function.signatures) or function.is_on_disk()
