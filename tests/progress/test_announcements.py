"""Whoever waits is told: from the call on, in every kind of view, and beside a store."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy import stats

import aptmc
from aptmc.cli.look import Look, look_as_json
from aptmc.errors import StopReason
from aptmc.ladder import Ladder
from aptmc.progress import LiveState, Watch
from aptmc.progress.log_view import LogView, one_line
from aptmc.progress.terminal_view import TerminalView
from aptmc.sampling import announced, phases
from aptmc.sampling.announced import COMPILING
from aptmc.sampling.status import read_status
from aptmc.session.control import Control
from aptmc.session.descent import DownTo, carry_out
from aptmc.session.first_states import descent_for
from aptmc.session.orders import Mover
from aptmc.session.start_up import Part
from tests.progress.test_views import SAMPLING, Screen, rendered
from tests.progress.test_watch import CREW, Album
from tests.support import seen, targets
from tests.support.virtual_workforce import SetClock

HERE = {"on": aptmc.InProcess(), "schedule": aptmc.Anytime(every="2 ms"), "progress": True}
STARTING = SAMPLING._replace(doing="starting 2 workers", draws=0, moves=0)


@pytest.fixture
def album(monkeypatch: pytest.MonkeyPatch) -> Album:
    new = Album()
    monkeypatch.setattr(announced, "choose_view", lambda wanted: new if wanted else None)
    monkeypatch.setattr(phases, "SHARE_OF_TIME", float("inf"))  # every time that the run looks up
    return new


# --- from the call on -----------------------------------------------------------------------------


def test_a_view_is_there_before_anything_is_done(album: Album, monkeypatch) -> None:
    """Even before the arguments are looked at, which may have to compile something."""
    began: list[list[tuple[float, str]]] = []

    def check_arguments(**_: object) -> None:
        began.append(list(album.begun))
        raise aptmc.InputError("wrong")

    monkeypatch.setattr(aptmc.sampling.calls, "asked_for", check_arguments)
    with pytest.raises(aptmc.InputError, match="wrong"):
        seen.sample(progress=True)
    assert began == [[(seen.BUDGET, "unit")]]
    assert album.last_words == [""]  # it vanishes


def test_what_is_compiled_once_on_a_machine_is_said_to_be_and_does_not_count(
    album: Album, monkeypatch
) -> None:
    clock = SetClock()
    control = Control(clock)
    compiler = Compiler(clock, control)
    monkeypatch.setattr(announced, "is_in_cache", lambda: False)
    monkeypatch.setattr(announced, "stand_by_to_answer", compiler)
    watch = Watch(album, control, 8.0, "s")
    watch.begin()
    with announced.while_workers_begin(targets.problem(), None, control):
        clock.time += 5.0  # what the call looks at counts
    clock.time += 1.0
    assert control.elapsed == 6.0
    control.do_once()
    assert compiler.elapsed == [0.0]
    assert control.elapsed == 6.0
    assert album.told == [(COMPILING, True)]
    assert "once on this machine (about 20 s)" in COMPILING
    assert clock.now() == 26.0
    assert control.called == 20.0
    control.do_once()
    # What virtual time needs is another thing, and plain Python needs nothing.
    plain = aptmc.Tempered(lambda theta: 0.0, aptmc.Prior(x=stats.norm(0, 1)))
    for problem, on in ((targets.problem(), aptmc.VirtualTime(2)), (plain, None)):
        monkeypatch.setenv("APTMC_COMPILE", "aside")
        with announced.while_workers_begin(problem, on, control):
            pass
        control.do_once()
    assert compiler.calls == len(album.told) == 1


class Compiler:
    """Takes its time."""

    def __init__(self, clock: SetClock, control: Control) -> None:
        self.clock, self.control, self.calls = clock, control, 0
        self.elapsed: list[float] = []  # of the budget, while it is at work

    def make_ready(self) -> None:
        self.calls += 1
        self.clock.time += 20.0
        self.elapsed.append(self.control.elapsed)


def test_a_run_in_this_process_says_what_it_looks_for(album: Album) -> None:
    run = interrupted(lambda: None)
    assert album.told == [(f"first states: {found} of 4", found == 0) for found in range(4)]
    assert album.last_words == [str(run.stopped)]
    assert album.glances[0].doing == "first states: 0 of 4"
    assert album.glances[-1].doing == ""


def test_nobody_is_told_anything_who_does_not_want_to_know(capfd) -> None:
    interrupted(lambda: None, progress=False)
    assert capfd.readouterr() == ("", "")


def interrupted(look: Callable[[], None], **changes: object) -> aptmc.Run:
    """A run by the clock, which is over after some moves; one looks at it in each."""
    calls = []

    def log_likelihood(theta):
        look()
        calls.append(theta)
        if len(calls) == 40:
            raise KeyboardInterrupt
        return 0.0

    problem = aptmc.Tempered(log_likelihood, seen.problem().prior)
    run = seen.sample(problem, budget="1 h", **(HERE | changes))
    assert run.stopped is StopReason.INTERRUPTED
    return run


# --- views ----------------------------------------------------------------------------------------


def test_a_log_says_each_part_once_and_how_far_it_is_now_and_then() -> None:
    stream = io.StringIO()
    clock = SetClock()
    control = Control(clock)
    watch = Watch(LogView(stream), control, 60.0, "s")
    watch.begin()
    control.start_up.tell(Part.WORKERS, "starting 2 workers")
    for found in range(4):
        control.start_up.tell(Part.STATES, f"first states: {found} of 4", found / 4)
    clock.time = 12.0
    watch.show(CREW)
    watch.view.close("the budget was spent")
    assert stream.getvalue().splitlines() == [
        "aptmc: starting 2 workers",
        "aptmc: first states: 0 of 4",
        "aptmc: warm-up 1/1, 12 s of 1 min 00 s, first states: 3 of 4",
        "aptmc: the budget was spent",
    ]


def test_a_picture_says_what_happens_in_place_of_numbers_that_are_not_there() -> None:
    text = "\n".join(rendered(STARTING, 80))
    assert "starting 2 workers" in text
    assert "draws" not in text
    assert "5 min 12 s / 10 min 00 s" in text
    assert one_line(STARTING) == "aptmc: 5 min 12 s of 10 min 00 s, starting 2 workers"


def test_a_terminal_shows_the_words_and_then_the_picture_in_their_place() -> None:
    screen = Screen(80)
    view = TerminalView(screen)
    view._console.width = 80
    view.begin(600.0, "s")
    view.tell(COMPILING, is_news=True)
    assert [row.strip() for row in screen.rows if row.strip()] == [COMPILING]
    view.show(SAMPLING)
    assert not any(COMPILING in row for row in screen.rows)
    view.close("")
    assert not any(row.strip() for row in screen.rows)


class Ticking(Album):
    """Looks again and again from another thread."""

    ticks = True

    def __init__(self) -> None:
        super().__init__()
        self.has_ticked = threading.Event()

    def tell(self, words: str, *, is_news: bool) -> None:
        super().tell(words, is_news=is_news)
        if words.endswith("· 7 s"):
            assert threading.current_thread() is not threading.main_thread()
            self.has_ticked.set()


def test_seconds_move_on_while_the_process_is_busy() -> None:
    clock, view = SetClock(), Ticking()
    control = Control(clock)
    Watch(view, control, 8.0, "s").begin()
    with control.start_up.without_looking_up(Part.SAMPLER, "compiling the sampler"):
        clock.time = 7.0
        assert view.has_ticked.wait(60.0)
    threads = [thread.name for thread in threading.enumerate()]
    assert "aptmc view" not in threads
    assert view.told[0] == ("compiling the sampler", True)
    assert view.told[-1] == ("compiling the sampler · 7 s", False)


# --- first states of likelihood-free problems -----------------------------------------------------


def test_a_descent_says_how_many_are_within_which_tolerance() -> None:
    def simulate(theta, rng, tolerance):
        return abs(theta[0] + rng.standard_normal())

    problem = aptmc.Abc.early(simulate, aptmc.Prior(x=stats.norm(0, 30)))
    ladder = Ladder.tolerances([1.5, 10.0, float("inf")])
    told: list[tuple[str, float]] = []
    kernel = aptmc.OneHit(5.0)
    descent = descent_for(problem, ladder, kernel, 1, DownTo(ladder.levels, 1e6))
    descent.tell = lambda *said: told.append(said)
    carry_out(descent, Mover(problem, kernel, 1).compute)
    words, shares = zip(*told, strict=True)
    assert words[0] == "looking for first states: 1 of 64"  # within any
    assert words[-1] == "looking for first states: 64 within 1.5"
    assert any(said.startswith("looking for first states: 9 of 64 within ") for said in words)
    assert list(shares) == sorted(shares)
    assert 0.0 < shares[0] < shares[-1] <= 1.0


# --- beside a store -------------------------------------------------------------------------------


def test_whoever_looks_at_the_store_reads_the_same_words(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(phases, "EVERY", 0.0)
    monkeypatch.setattr(phases, "SHARE_OF_TIME", float("inf"))
    store = tmp_path / "run.zarr"
    told: list[str] = []
    looks: list[LiveState] = []

    def look() -> None:
        status = read_status(store)
        assert status is not None
        told.append(status.doing)
        if told[-1] == "first states: 2 of 4":
            from_outside = Look(store)
            looks.append(from_outside.live)
            assert look_as_json(from_outside)["doing"] == told[-1]

    interrupted(look, store=store, progress=False)
    assert told[:4] == [f"first states: {found} of 4" for found in range(4)]
    assert told[-1] == ""
    assert looks[0].doing == "first states: 2 of 4"
