"""The report: one file that needs nothing else, whatever the run was like."""

from __future__ import annotations

import re
from base64 import b64decode
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.diagnostics import summarise
from aptmc.result.report import report
from tests.support import seen
from tests.support.browser import visit

ALWAYS = [
    "Posterior", "Advice", "Marginals", "Pairs", "Traces", "Ladder", "Autocorrelation", "Settings",
]  # fmt: skip
WITH_EVENTS = ["Processors", "Time of moves", "Busy"]
WITH_ALL_RUNGS = ["Journeys", "Levels"]
PHONE = 390
WIDTHS = (1100, PHONE)


class Page(HTMLParser):
    """What a browser would fetch, run and show."""

    void = frozenset(("meta", "img", "source", "br", "hr", "link", "input"))

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.wanted: list[str] = []
        self.words: list[str] = []
        self.images = 0
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.images += tag == "img"
        self.wanted += [value or "" for name, value in attrs if name in ("src", "href", "srcset")]
        if tag not in self.void:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def headings(html: str) -> list[str]:
    return [unescape(text) for text in re.findall(r"<h2>(.*?)</h2>", html)]


@pytest.fixture(scope="module")
def run() -> aptmc.Run:
    return seen.sample()


@pytest.fixture(scope="module")
def beside() -> aptmc.Run:
    return seen.sample(schedule=aptmc.Synchronous())


@pytest.fixture(scope="module")
def html(run: aptmc.Run, beside: aptmc.Run) -> str:
    return report(run, beside=beside, title="two schedules")


def test_a_report_needs_nothing_else(html: str) -> None:
    page = Page(html)
    assert page.images == 10
    assert all(address.startswith("data:image/png;base64,") for address in page.wanted)
    assert page.tags.count("source") == page.tags.count("figure") - html.count('class="small"')
    assert not {"script", "link", "iframe", "object", "embed"} & set(page.tags)
    rest = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "", html)
    assert "://" not in rest
    assert "url(" not in rest
    assert "@import" not in rest


def test_a_report_has_all_its_parts(html: str, run: aptmc.Run) -> None:
    expected = [*ALWAYS, *WITH_EVENTS, *WITH_ALL_RUNGS, "How to reproduce"]
    assert sorted(headings(html)) == sorted(expected)
    text = Page(html).text
    for words in (
        "two schedules", "the budget was spent", "moves",
        "Tempered of a, b", "RandomWalk", "Anytime", "VirtualTime(workers=2)", "Seed: 1",
        f"numpy {np.__version__}",
    ):  # fmt: skip
        assert words in text
    assert f"{run.completions:,}" in text
    assert "Warm-up" not in text


def test_without_a_log_and_other_rungs_a_report_is_shorter(
    beside: aptmc.Run,
) -> None:
    bare = seen.sample(keep="coldest", log_events=False)
    found = headings(report(bare, beside=beside))
    assert sorted(found) == sorted([*ALWAYS, "How to reproduce"])


def test_one_rung_of_one_parameter_is_enough() -> None:
    one = aptmc.Tempered(lambda theta: -(theta[0] ** 2), aptmc.Prior(x=stats.norm(0, 1)))
    run = seen.sample(
        one, ladder=aptmc.Ladder.powers([1.0]), schedule=aptmc.Synchronous(), on=aptmc.VirtualTime()
    )
    found = headings(report(run))
    assert "Marginals" in found
    assert not {"Pairs", "Ladder", "Journeys", "Levels"} & set(found)


@pytest.fixture(scope="module")
def warmed() -> tuple[aptmc.Run, Page]:
    """A run with a warm-up, and its report."""
    run = seen.sample(ladder="auto", kernel="auto", schedule=None, budget=2000.0)
    return run, Page(report(run))


def test_a_warm_up_is_shown_round_by_round(warmed: tuple[aptmc.Run, Page]) -> None:
    run, page = warmed
    assert "Warm-up" in page.text
    assert page.tags.count("tr") > len(run.warmup_rounds) > 5


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run, with settings of many digits and tables."""
    folder = tmp_path_factory.mktemp("reports") / "<b>bold<"  # words of the user are words
    folder.mkdir()
    kernel = aptmc.RandomWalk(covariance=np.eye(2)[None].repeat(4, axis=0) / 3)
    return seen.stored(folder, kernel=kernel, schedule=aptmc.Anytime(every=4 + 1 / 3))


@pytest.fixture(scope="module")
def alone(stored: Path) -> str:
    target = aptmc.open(stored).report(stored.parent.parent / "stored.html")
    assert target == (stored.parent.parent / "stored.html").resolve()
    return target.read_text(encoding="utf-8")


def test_two_runs_are_drawn_one_below_the_other(html: str, alone: str) -> None:
    """In the picture of processors; the others show the first."""
    grown = [two > one for two, one in zip(heights(html), heights(alone), strict=True)]
    assert sum(grown) == 1


def heights(html: str) -> list[int]:
    """Of the pictures that broad screens show, in pixels."""
    pictures = re.findall(r"src=\"data:image/png;base64,([A-Za-z0-9+/=]+)", html)
    return [int.from_bytes(b64decode(data)[20:24], "big") for data in pictures]


def test_settings_are_shown_with_few_digits_and_without_tables(alone: str) -> None:
    text = Page(alone).text
    assert "RandomWalk(covariance=…)" in text
    assert "Anytime(every=4.333, follow" in text


def test_tables_do_not_swallow_what_stands_between_them() -> None:
    spread = np.eye(2)[None].repeat(4, axis=0) / 3
    kernel = aptmc.Mixture(aptmc.RandomWalk(covariance=spread), aptmc.RandomWalk(covariance=spread))
    text = Page(report(seen.sample(kernel=kernel, budget=0.001))).text
    assert "Mixture(RandomWalk(covariance=…), RandomWalk(covariance=…), share=" in text


def test_the_time_of_sampling_stands_beside_the_budget(warmed: tuple[aptmc.Run, Page]) -> None:
    run, page = warmed
    assert run.elapsed < 2000.0
    assert f"{run.elapsed:,.4g}units of sampling, of a budget of 2,000" in page.text


def test_a_stored_run_says_how_to_go_on(stored: Path, alone: str) -> None:
    text = Page(alone).text
    assert set(headings(alone)) >= {*ALWAYS, *WITH_EVENTS, *WITH_ALL_RUNGS}
    assert f"aptmc.resume('{stored}', problem, budget=...)" in text
    assert f"aptmc.replay('{stored}', problem)" in text
    assert "<title>stored</title>" in alone


def test_a_title_is_words() -> None:
    nasty = "<script>alert('x & y')</script>"
    page = Page(report(seen.sample(budget=0.001), title=nasty))
    assert "script" not in page.tags
    assert page.text.count(nasty) == 2  # title and heading


def test_a_run_without_draws_has_its_settings_and_advice_to_report() -> None:
    page = Page(report(seen.sample(budget=0.001)))
    assert "the budget was spent before the first draws. Use a longer budget." in page.text
    assert "seed" in page.text
    assert "img" not in page.tags


# --- in a browser -------------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
def test_a_browser_shows_all_of_it_and_asks_nobody(html: str, tmp_path: Path, width: int) -> None:
    page = tmp_path / "report.html"
    page.write_text(html, encoding="utf-8")
    seen_there = visit(page, width, tmp_path)
    assert len(seen_there.images) == 10
    for natural, shown in seen_there.images:
        assert natural > 300  # it was decoded
        # Figures fill the page, or stand side by side; on a phone each fills it.
        assert shown > 0.9 * width or (width > 700 and shown > 0.4 * width)
    assert seen_there.asked == []
    assert seen_there.console == []
    assert seen_there.width == width
    assert seen_there.content <= width  # nothing is broader than the page
    assert seen_there.scrolling == []  # nor than its own place in it
    assert seen_there.picture.stat().st_size > 10_000


def test_a_phone_shows_a_table_of_long_numbers_and_names(html: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    scales = {"predation": 0.008, "rate_at_which_hares_are_eaten_by_lynxes[12]": -1e-7, "n": 1.5e6}
    draws = {name: list(scale * rng.gamma(5.0, size=(2, 500))) for name, scale in scales.items()}
    table = summarise(draws, 1.0)._repr_html_()
    place = re.compile('(<div class="wide posterior">).*?(</div>)', re.DOTALL)
    wide = place.sub(lambda found: found[1] + table + found[2], html, count=1)
    assert "lynxes[12]" in wide
    page = tmp_path / "wide.html"
    page.write_text(wide, encoding="utf-8")
    assert visit(page, PHONE, tmp_path).scrolling == []


def test_a_browser_would_notice_a_page_that_is_wrong(tmp_path: Path) -> None:
    page = tmp_path / "wrong.html"
    page.write_text(
        '<!doctype html><img src="https://example.org/a.png"><img src="data:image/png;base64,AA">'
        '<div style="overflow-x: auto; width: 100px"><p style="width: 300px">cut off</p></div>'
        '<p style="width: 2000px">wide</p><script>console.error("planted")</script>'
    )
    seen_there = visit(page, 400, tmp_path)
    assert seen_there.asked == ["https://example.org/a.png"]
    assert [natural for natural, _ in seen_there.images] == [0, 0]
    assert any("planted" in line for line in seen_there.console)
    assert seen_there.content > 400
    assert seen_there.scrolling == ["cut off"]
