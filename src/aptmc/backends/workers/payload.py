"""What a worker needs to know before its first order, as bytes: the problem and the kernel.

With it travels what the coordinating process had set and results depend on; it is taken over before
the problem is loaded.
"""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any, final

import cloudpickle

from aptmc.backends.workers.carried_over import seen_here, take_over
from aptmc.backends.workers.wire import Wire
from aptmc.compiled import call_that_makes
from aptmc.global_generators import by_name
from aptmc.problem.prior.independent import Independent
from aptmc.problem.prior.unloaded import without_scipy
from aptmc.session.orders import Mover


@final
class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """Leaves out what a worker can do without, and what it has of its own."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is Independent:
            found = without_scipy(value)
            if found is not None:
                return found
        call = call_that_makes(value)
        if call is not None:
            return call
        find = by_name(value)
        if find is not None:
            return find, ()
        return super().reducer_override(value)


def pack(mover_parts: tuple[object, object], wire: Wire) -> bytes:
    """The bytes of a problem and a kernel, for `unpack` in another process."""
    with io.BytesIO() as parts:
        _Packer(parts).dump((*mover_parts, wire.shape))
        return bytes(cloudpickle.dumps((seen_here(), parts.getvalue())))


def unpack(payload: bytes) -> tuple[Mover, Wire]:
    """The problem, compiled, and the way to speak about it."""
    mover, wire = load(payload)
    compile_move(mover)
    return mover, wire


def load(payload: bytes) -> tuple[Mover, Wire]:
    """The problem as it came, and the way to speak about it."""
    settings, parts = cloudpickle.loads(payload)
    take_over(settings)
    problem, kernel, shape = cloudpickle.loads(parts)
    return Mover(problem, kernel, seed=shape[0]), Wire(*shape)


def compile_move(mover: Mover) -> None:
    """Compile a move now, if it can be, and not when it is timed."""
    with suppress(Exception):
        _ = mover.move  # what cannot be compiled is reported by the first worker that needs it
