"""What a real run tells on the way to its first draws, and in which order."""

from __future__ import annotations

import aptmc
from aptmc.progress.live import LiveState
from aptmc.progress.view import View
from tests.kernels.models import Simulator


class Noting(View):
    """Keeps the words."""

    period = 0.25

    def __init__(self) -> None:
        self.words: list[str] = []

    def begin(self, budget: float, unit: str) -> None:
        self.words.append("starting up")

    def tell(self, words: str, *, is_news: bool) -> None:
        self.words.append(words)

    def show(self, live: LiveState) -> None:
        pass

    def close(self, last_words: str) -> None:
        self.words.append(last_words)


def test_workers_are_started_then_a_simulator_is_compiled_then_states_are_looked_for(monkeypatch):
    view = Noting()
    monkeypatch.setattr("aptmc.sampling.announced.choose_view", lambda wanted: view)
    model = Simulator()
    run = aptmc.sample(
        model.compiled, budget="40 moves", ladder=model.ladder, kernel=aptmc.OneHit(1.0),
        schedule=aptmc.Anytime(every="5 ms"), pools=aptmc.Shared(2), seed=1,
        on=aptmc.Processes(2, group=1),
    )  # fmt: skip
    assert run.completions >= 40
    looking = next(words for words in view.words if "first states" in words)
    in_order = ["starting up", "starting 2 workers", "compiling your simulator", looking]
    places = [view.words.index(words) for words in in_order]
    assert places == sorted(places)
    assert places[0] == 0
