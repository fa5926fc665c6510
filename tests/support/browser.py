"""A real browser without a window: what a page is like once it is loaded."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Windows have a least width, which is larger than a phone's, so the page is put into a frame.
FRAME = """<!doctype html>
<iframe style="width: {width}px; height: {height}px; border: 0" srcdoc="{page}"></iframe>
<script>
addEventListener("load", () => {{
  const inside = document.querySelector("iframe").contentWindow, answer = {{
    images: [...inside.document.images].map(one => [one.naturalWidth, one.clientWidth]),
    asked: inside.performance.getEntriesByType("resource").map(one => one.name)
      .filter(name => !name.startsWith("data:")),
    scrolling: [...inside.document.querySelectorAll("*")].filter(one =>
      inside.getComputedStyle(one).overflowX != "visible" && one.scrollWidth > one.clientWidth
    ).map(one => one.textContent.trim().slice(0, 200)),
    width: inside.innerWidth,
    content: inside.document.documentElement.scrollWidth,
  }};
  document.body.append(document.createElement("pre"));
  document.querySelector("pre").textContent = JSON.stringify(answer);
}});
</script>
"""


class Visit(NamedTuple):
    """What there is to say of a page."""

    images: list[list[int]]  # of each: its own width, and the width at which it is shown
    asked: list[str]  # addresses that the page wanted something from
    scrolling: list[str]  # texts of what is wider than the place it has: a table, say
    width: int  # of the frame
    content: int  # of the page: if it is wider, one must scroll
    console: list[str]
    picture: Path


def find_browser() -> str:
    """The command, or the reason why there is none."""
    for name in NAMES:
        if (found := shutil.which(name)) is not None:
            return found
    pytest.skip(f"needs a browser on the path: one of {', '.join(NAMES)}")


def visit(page: Path, width: int, folder: Path, *, height: int = 900) -> Visit:
    """Load a page in a window of some width."""
    framed = folder / f"framed-{width}.html"
    inside = escape(page.read_text(encoding="utf-8"))
    framed.write_text(FRAME.format(width=width, height=height, page=inside), encoding="utf-8")
    picture = folder / f"{page.stem}-{width}.png"
    command = [
        find_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--disable-background-networking", "--no-first-run", "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND",
        "--enable-logging=stderr", "--v=0", f"--window-size={width + 20},{height + 20}",
    ]  # fmt: skip
    address = framed.as_uri()
    done = [
        subprocess.run(
            [*command, *what, address], capture_output=True, text=True, timeout=240, check=True
        )
        for what in (["--dump-dom"], [f"--screenshot={picture}"])
    ]
    answer = re.search(r"</script>\s*<pre>(.*?)</pre>", done[0].stdout, re.DOTALL)
    assert answer is not None, done[0].stdout[-2000:] + done[0].stderr[-2000:]
    found: dict[str, Any] = json.loads(unescape(answer[1]))
    console = [line for line in done[0].stderr.splitlines() if "CONSOLE" in line]
    return Visit(**found, console=console, picture=picture)
