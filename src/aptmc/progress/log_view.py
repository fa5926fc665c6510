"""A run as lines in a log."""

from __future__ import annotations

import math
from typing import TextIO, final

from typing_extensions import override

from aptmc.progress.live import LiveState
from aptmc.progress.picture import LONG, QUIET
from aptmc.progress.view import View
from aptmc.progress.words import duration_text

LINE_EVERY = 10.0  # seconds


@final
class LogView(View):
    """Writes one line every few seconds, for files and pipes."""

    period = LINE_EVERY

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._has_spoken = False

    @override
    def begin(self, budget: float, unit: str) -> None:
        """Nothing: a log says what there is to say."""

    @override
    def tell(self, words: str, *, is_news: bool) -> None:
        """Each part of the way once: how far it has come is said by a line now and then."""
        if is_news:
            self._has_spoken = True
            print(f"aptmc: {words}", file=self._stream, flush=True)

    @override
    def show(self, live: LiveState) -> None:
        self._has_spoken = True
        print(one_line(live), file=self._stream, flush=True)

    @override
    def close(self, last_words: str) -> None:
        """Say how it ended, if anything was said before."""
        if self._has_spoken and last_words:
            print(f"aptmc: {last_words}", file=self._stream, flush=True)


def one_line(live: LiveState) -> str:
    """What a log says of a run at one moment."""
    far = f"{live.reached}; " if live.reached else ""
    phase = far + ("" if live.round is None else f"warm-up {live.round}/{live.rounds}, ")
    parts = [
        f"aptmc: {phase}{duration_text(live.elapsed, live.unit)} of "
        f"{duration_text(live.budget, live.unit)}",
    ]
    if live.doing:
        return ", ".join([*parts, live.doing])
    if live.round is None:  # before, there are none that count
        parts.append(f"{live.draws:,} draws")
    if not math.isnan(live.effective):
        parts.append(f"{live.effective:,.0f} effective")
    parts.append(f"{live.moves:,} moves")
    if not math.isnan(live.utilisation):
        parts.append(f"{live.utilisation:.0%} busy")
    stuck = [worker for worker in live.workers if worker.seconds > LONG]
    parts += [f"processor {one.processor + 1} at one move for {one.seconds:.0f} s" for one in stuck]
    if live.silence > QUIET:
        parts.append(f"no news for {duration_text(live.silence)}")
    return ", ".join(parts)
