"""The pictures of the documentation: a report in a browser, the live view, the processors.

    python -m experiments.pictures [FOLDER]

All but the live view are of runs in virtual time, so that they are the same on every machine. The
report needs Chromium on the path.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from scipy import stats

import aptmc
from aptmc import plots
from aptmc.cli.look import Look
from aptmc.models import lotka_volterra as model
from aptmc.progress.picture import picture
from experiments import drawing

FOLDER = Path("docs/figures")
PROCESSORS = 4
EVENTS = 2e8  # of virtual time
LIVE_SECONDS = 105.0
HANGS_AFTER = 30.0  # so that it is stuck for more than a minute when one looks
LADDER = aptmc.Ladder.tolerances([1.0, 1.3, 1.6, 1.9, 2.8, 24.0])
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# A window cannot be as narrow as a phone, so the page is shown in a frame.
FRAME = '<body style="margin:0"><iframe style="width:{}px;height:{}px;border:0" src="{}"></iframe>'
COLOURS = 128  # of a picture of a screen, so that it is light


def predators_and_prey() -> aptmc.Abc:
    """The paper's problem."""
    prior = model.prior_exponential()
    return aptmc.Abc.early(model.simulated_distance, prior, counts_work=True)


def virtual_run(schedule: aptmc.Anytime | aptmc.Synchronous, budget: float) -> aptmc.Run:
    """A run on processors that cost one unit for each event of a simulation."""
    return aptmc.sample(
        predators_and_prey(),
        budget=budget,
        ladder=LADDER,
        schedule=schedule,
        on=aptmc.VirtualTime(PROCESSORS),
        keep="all",
        log_events=True,
        progress=False,
        seed=1,
    )


def draw_report(run: aptmc.Run, beside: aptmc.Run, folder: Path) -> None:
    """The report as a desktop and as a phone show it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"no browser on the path, one of {', '.join(BROWSERS)}: install one")
    with tempfile.TemporaryDirectory() as temporary:
        page = run.report(
            Path(temporary) / "report.html", beside=beside, title="Predators and prey"
        )
        for name, width, height in (("report_desktop", 1100, 1500), ("report_phone", 390, 1300)):
            frame = Path(temporary) / f"{name}.html"
            frame.write_text(FRAME.format(width, height, page.as_uri()), encoding="utf-8")
            target = folder / f"{name}.png"
            subprocess.run(
                [
                    browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--allow-file-access-from-files", f"--user-data-dir={temporary}/profile",
                    f"--window-size={width},{height}", f"--screenshot={target}", frame.as_uri(),
                ],
                check=True, capture_output=True,
            )  # fmt: skip
            make_lighter(target)


def make_lighter(path: Path) -> None:
    """Fewer colours: a picture of a screen has few."""
    from PIL import Image

    with Image.open(path) as whole:
        whole.convert("RGB").quantize(COLOURS).save(path, optimize=True)


def slow_problem(flag: Path) -> aptmc.Abc:
    """A simulator that takes from a moment to seconds, and of which one run hangs."""
    begun = time.time()

    def simulate(theta: Any, rng: Any) -> Any:
        if time.time() > begun + HANGS_AFTER:
            try:
                flag.mkdir()
                time.sleep(1000.0)
            except FileExistsError:  # one is enough
                pass
        time.sleep(rng.lognormal(-2.5, 1.5))
        return theta[0] + rng.standard_normal(3)

    prior = aptmc.Prior(mean=stats.norm(0, 5))
    supremum = aptmc.distance.p_norm(np.inf)
    return aptmc.Abc(simulate, prior, observed=np.array([1.0, 2.0, 1.5]), distance=supremum)


def draw_live_view(folder: Path) -> None:
    """What a terminal shows, taken from outside as `aptmc watch` does."""
    from rich.console import Console

    with tempfile.TemporaryDirectory() as temporary:
        store = Path(temporary) / "run.zarr"
        handle = aptmc.start(
            slow_problem(Path(temporary) / "hangs"),
            budget=600,
            ladder=aptmc.Ladder.tolerances([3.0, 4.5, 7.0, np.inf]),
            kernel=aptmc.OneHit(2.0),
            schedule=aptmc.Anytime(every="200 ms"),
            pools=aptmc.Shared(chains_per_rung=4),
            on=aptmc.Processes(2 * PROCESSORS),
            store=store,
            save_every=1.0,
            progress=False,
            seed=1,
        )
        with handle:
            time.sleep(LIVE_SECONDS)
            live = Look(store).live
    console = Console(record=True, width=96, file=io.StringIO(), force_terminal=True)
    console.print(picture(live))
    text = console.export_svg(title="aptmc watch run.zarr")
    # Fonts from elsewhere would be requests that leave the page.
    text = re.sub(r"@font-face \{.*?\}", "", text, flags=re.DOTALL)
    lines = [line.rstrip() for line in text.splitlines()]
    (folder / "live_view.svg").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Draw them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    anytime = virtual_run(aptmc.Anytime(every="auto"), EVENTS)
    synchronous = virtual_run(aptmc.Synchronous(), EVENTS / 4)
    plots.timeline(anytime, synchronous).savefig(folder / "processors.png", dpi=150)
    draw_report(anytime, synchronous, folder)
    draw_live_view(folder)
    with rc_context({"svg.hashsalt": "aptmc"}):  # the same names inside, whenever it is drawn
        drawing.draw().savefig(folder / "queue.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
