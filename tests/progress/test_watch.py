"""Watching runs in virtual time, and how often one looks."""

from __future__ import annotations

import math

import numpy as np
import pytest

import aptmc
from aptmc.progress import LiveState, View
from aptmc.sampling import announced, phases
from aptmc.session.control import Control, FixedProcessors, RunningProcessors
from tests.support import seen
from tests.support.virtual_workforce import SetClock
from tests.support.wide_prior import BY_HAND, sample

CREW = FixedProcessors(0.0, np.zeros(1))


class Album(View):
    """Keeps every live, and looks whenever it can."""

    period = 0.0

    def __init__(self) -> None:
        self.begun: list[tuple[float, str]] = []
        self.glances: list[LiveState] = []
        self.last_words: list[str] = []
        self.told: list[tuple[str, bool]] = []

    def begin(self, budget: float, unit: str) -> None:
        self.begun.append((budget, unit))

    def tell(self, words: str, *, is_news: bool) -> None:
        self.told.append((words, is_news))

    def show(self, live: LiveState) -> None:
        self.glances.append(live)

    def close(self, last_words: str) -> None:
        self.last_words.append(last_words)


@pytest.fixture
def album(monkeypatch: pytest.MonkeyPatch) -> Album:
    new = Album()
    monkeypatch.setattr(announced, "choose_view", lambda wanted: new if wanted else None)
    monkeypatch.setattr(phases, "SHARE_OF_TIME", math.inf)  # every time that the run looks up
    return new


def test_a_watched_run_shows_its_rounds_and_then_its_draws(album: Album) -> None:
    run = seen.sample(ladder="auto", kernel="auto", schedule=None, budget=8000.0, progress=True)
    assert album.begun == [(8000.0, "unit")]
    assert album.last_words == ["the budget was spent"]
    rounds = [live.round for live in album.glances]
    switch = rounds.index(None)
    assert rounds[:switch] == sorted(rounds[:switch])
    assert rounds[0] == 1
    assert rounds[switch - 1] == album.glances[0].rounds == 10
    assert set(rounds[switch:]) == {None}
    shares = [live.share for live in album.glances]
    assert shares == sorted(shares)
    draws = [live.draws for live in album.glances[switch:]]
    assert draws == sorted(draws)
    assert len(set(draws)) > 1
    last = album.glances[-1]
    assert last.share > 0.999
    assert last.draws == sum(draws.time.size for draws in run.chains())
    assert last.moves == run.completions
    assert last.levels == run.settings.ladder.levels
    assert last.swap_rates == pytest.approx(run.swap_rates.neighbours)
    assert last.utilisation == pytest.approx(run.utilisation, rel=0.01)
    smallest = min(row.ess for row in run.summary().values())
    # The sketch is thinned once.
    assert last.effective == pytest.approx(smallest, rel=0.25)


@pytest.mark.parametrize("way", ["by hand", "found"])
def test_a_likelihood_free_run_shows_how_far_down_it_came(album: Album, way: str) -> None:
    changes = BY_HAND if way == "by hand" else {"ladder": aptmc.Ladder.auto(coldest=0.2)}
    run = sample(progress=True, **changes)
    said = [live.reached for live in album.glances]
    assert said[-1] == str(run.reached)
    if way == "found":  # from the first round on
        assert all(
            live.reached for live in album.glances if live.round is not None and live.moves > 0
        )
    assert album.last_words == [f"the budget was spent; {run.reached}"]


def test_to_be_watched_changes_nothing(album: Album) -> None:
    watched, alone = seen.sample(progress=True), seen.sample()
    assert len(album.glances) > 0
    assert (watched.series("a")[0] == alone.series("a")[0]).all()


def test_a_stored_run_ends_with_the_way_to_go_on(album: Album, tmp_path) -> None:
    path = seen.stored(tmp_path, progress=True)
    assert album.last_words == [
        f"the budget was spent; to go on, aptmc.resume({str(path)!r}, problem, budget=...)"
    ]


def test_a_run_that_fails_says_so(album: Album) -> None:
    calls = []

    def fails_late(theta):
        calls.append(1)
        if len(calls) > 200:
            raise ArithmeticError("late")
        return -0.5 * theta[0] ** 2

    prior = seen.problem().prior
    with pytest.raises(aptmc.MoveFailed, match="late"):
        seen.sample(aptmc.Tempered(fails_late, prior), progress=True)
    assert album.last_words == ["the run failed"]


@pytest.mark.parametrize("progress", [True, False])
def test_a_short_run_prints_nothing_in_a_log(progress, capfd: pytest.CaptureFixture[str]) -> None:
    seen.sample(progress=progress)
    assert capfd.readouterr() == ("", "")


# --- duties -------------------------------------------------------------------------------------


class Duty:
    """Notes when it was done; each time takes a while."""

    def __init__(self, clock: SetClock, takes: float = 0.0) -> None:
        self.clock, self.takes = clock, takes
        self.times: list[float] = []

    def __call__(self, processors: RunningProcessors) -> None:
        assert processors is CREW
        self.times.append(self.clock.time)
        self.clock.time += self.takes


def work(control: Control, clock: SetClock, until: float, step: float) -> None:
    """Look up from work every so often."""
    while clock.time < until:
        control.serve(CREW)
        clock.time += step


def test_several_duties_are_done_each_in_its_time() -> None:
    clock = SetClock(100.0)
    control, often, seldom = Control(clock), Duty(clock), Duty(clock)
    assert control.due == math.inf
    control.regularly(1.0, often)
    control.regularly(2.5, seldom)
    assert control.due == 101.0
    work(control, clock, until=110.25, step=0.25)
    assert often.times == [100.0 + i for i in range(1, 11)]
    assert seldom.times == [102.5, 105.0, 107.5, 110.0]
    assert control.due == 111.0


def test_a_duty_that_takes_long_is_done_less_often() -> None:
    clock = SetClock(0.0)
    control, slow = Control(clock), Duty(clock, takes=0.5)
    control.regularly(1.0, slow, share=0.125)
    work(control, clock, until=21.0, step=0.25)
    # Half a second is an eighth of four.
    assert slow.times == [1.0, 5.5, 10.0, 14.5, 19.0]


def test_a_duty_that_fails_is_not_hidden() -> None:
    clock = SetClock(0.0)
    control = Control(clock)

    def fail(_crew: RunningProcessors) -> None:
        raise OSError("the disk is full")

    control.regularly(1.0, fail)
    clock.time = 1.0
    with pytest.raises(OSError, match="the disk is full"):
        control.serve(CREW)
