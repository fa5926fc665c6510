"""Who waits for the compiler: all, or nobody while plain Python does the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, final

from typing_extensions import override

from aptmc.clock import Clock, WallClock
from aptmc.compiled import AtFirstUse
from aptmc.session.compiling_process import CompilingProcess, compiling, recipes_of
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

    If that fails, or if nothing is to be compiled aside, they are never there, and plain Python
    goes on; a compiled problem, which is too quick for that, has them compiled then.

    :param functions: what is to be loaded
    :param later: what else the process is to compile, for those who come later
    :param urgent: a compiled problem needs them
    :param after: so many seconds from now, at the earliest, the process begins
    """

    def __init__(
        self,
        functions: Iterable[Any],
        later: Iterable[Any] = (),
        clock: Clock | None = None,
        *,
        urgent: bool = False,
        after: float = 0.0,
    ) -> None:
        self._functions = library_functions(functions)
        self._later, self._urgent = library_functions(later), urgent
        self._clock = WallClock() if clock is None else clock
        self._look_again = self._clock.now()
        self._begins_at = self._look_again + after
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
        if not self._has_begun and (self._is_done or now >= self._begins_at):
            self._has_begun = True
            wanted = [one for one in (*self._functions, *self._later) if not _is_there(one)]
            if wanted and when_to_compile() == ASIDE:
                self._process = compiling(wanted, urgent=self._urgent)
        if self._urgent and self._process is None and not self._is_done:
            for function in self._functions:
                function.make_ready()
            self._is_done = True
        # Once the process is gone there is nothing to look for.
        is_over = self._has_begun and self._process is None
        self._look_again = float("inf") if is_over else now + LOOK_EVERY
        return self._is_done


def library_functions(functions: Iterable[Any]) -> list[AtFirstUse]:
    """Those that are compiled when they are first used: the library's, rules and schedules."""
    return [function for function in functions if isinstance(function, AtFirstUse)]


def waited_for(functions: Iterable[Any]) -> list[AtFirstUse]:
    """Of functions that a plain problem needs, those that it must wait for.

    They belong to a rule or a schedule of the user's own that no other process can make again.
    """
    return [one for one in own_functions(functions) if not _can_be_sent(one)]


def own_functions(functions: Iterable[Any]) -> list[AtFirstUse]:
    """Those of rules and schedules of the user's own."""
    return [one for one in library_functions(functions) if one.model is not None]


def _can_be_sent(function: AtFirstUse) -> bool:
    try:
        return recipes_of([function]) != b""
    except Exception:
        return False


def _is_there(function: AtFirstUse) -> bool:
    return bool(function.signatures) or function.is_on_disk()
