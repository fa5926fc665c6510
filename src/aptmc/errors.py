"""What can go wrong, and why a run stopped."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aptmc.keys import Key


def noted_parameters(error: BaseException, parameters: Mapping[str, float]) -> None:
    """Note where a function of the user's ended the program, for whoever computes it elsewhere."""
    error.__dict__["parameters"] = dict(parameters)


def frames_of_the_user(error: BaseException) -> BaseException:
    """The same error of a user's function, without the frames of ours that have called it."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_globals.get("__name__", "").startswith("aptmc."):
        place = place.tb_next
    return error if place is None else error.with_traceback(place)


class AptmcError(Exception):
    """Base of every error that aptmc raises on purpose."""


class InputError(AptmcError, ValueError):
    """An argument cannot be used. Raised before any work starts."""


class ArgumentError(InputError, TypeError):
    """A function was called with an argument that it does not have, or without one it needs."""


class RunFailed(AptmcError):
    """A run could not go on. `run` holds the result up to the failure."""

    run: Any = None


class ExchangeFailed(RunFailed):
    """An exchange rule raised an error, or paired chains that are not there."""


class MoveFailed(RunFailed):
    """A user's function failed inside a move.

    Everything needed to run exactly that move again is here: the parameters that were being
    evaluated, the rung, and the random key.
    """

    order: Any = None  # the move as it was ordered, complete: the state that it started from, too

    def __init__(
        self,
        reason: str,
        parameters: Mapping[str, float],
        rung: int | None = None,
        key: Key | None = None,
    ) -> None:
        where = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
        message = f"{reason} at {where or 'parameters that it was to draw itself'}"
        if rung is not None:
            message += f" on rung {rung}"
        if key is not None:
            message += f"; to run this move again use its random key, {key!r}"
        super().__init__(message)
        self.reason = reason
        self.parameters = dict(parameters)
        self.rung = rung
        self.key = key

    def located(self, rung: int | None, key: Key, order: Any = None) -> MoveFailed:
        """The same failure, with the rung and the key by which it can be run again.

        :param order: the move as it was ordered, if it was
        """
        failure = MoveFailed(self.reason, self.parameters, rung, key)
        failure.__cause__ = self.__cause__
        failure.order = order
        return failure

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {
            name: value for name in ("__notes__", "order") if (value := getattr(self, name, None))
        }
        return type(self), (self.reason, self.parameters, self.rung, self.key), kept or None


class WorkerDied(MoveFailed):
    """A move was ordered several times, and each time the process that computed it died."""


class StoreFailed(RunFailed):
    """A store cannot be written: the disk is full, say. What it held before is sound."""


class StoreDamaged(AptmcError):
    """A file of a store is not what was written there."""

    def __init__(self, path: object, what: str) -> None:
        super().__init__(
            f"{path} is damaged: {what}; aptmc.open(..., salvage=True) reads what is sound"
        )
        self.path, self.what = path, what

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.what)


class StopReason(Enum):
    """Why a run ended: data, not an exception. The values are the messages."""

    BUDGET_SPENT = "the budget was spent"
    TOO_SHORT = "the budget was spent before the first draws"
    INTERRUPTED = "interrupted from the keyboard"
    TERMINATED = "ended by a signal to terminate"
    STOPPED = "stopped on request"
    ENOUGH = "enough was drawn"
    FAILED = "the run failed"
    STILL_RUNNING = "the run goes on"

    def __str__(self) -> str:
        return self.value
