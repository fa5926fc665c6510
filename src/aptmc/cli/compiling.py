"""`aptmc compile`: compile the sampler in advance, for images and clusters."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from aptmc.cli.command import FAILED, GOOD, Command
from aptmc.cli.options import add_json

if TYPE_CHECKING:
    from aptmc.compiled import AtFirstUse

WORDS = """\
Compiles everything in the library that can be, which takes a minute or two, and keeps it on disk,
so that no run has to wait for it. For images of containers and for clusters: run it once with the
Python, the kind of processor and, if it is set, the NUMBA_CACHE_DIR of the runs.

examples:
  aptmc compile
  NUMBA_CACHE_DIR=/var/cache/numba aptmc compile
"""


def add_options(parser: ArgumentParser) -> None:
    """Who reads it."""
    add_json(parser)


def compile_all(options: Namespace) -> int:
    """Compile all functions, and say what was done and where it is kept."""
    from aptmc.clock import WallClock
    from aptmc.session.compiling_process import one_at_a_time
    from aptmc.targets.compile_ahead import all_functions, compile_ahead

    functions = all_functions()
    missing = [function for function in functions if not function.is_on_disk()]
    folder = _folder(functions)
    if not options.json:
        print(f"{len(missing)} of {len(functions)} functions are to be compiled, into {folder}")
    clock = WallClock()
    began = clock.now()
    with one_at_a_time():
        for done, _ in enumerate(compile_ahead(functions), 1):
            if not options.json and done % 10 == 0:
                print(f"{clock.now() - began:6.1f} s: {done} are ready", flush=True)
    seconds = clock.now() - began
    lost = [one for one in functions if not one.is_on_disk()]
    if options.json:
        numbers = {"compiled": len(missing), "seconds": round(seconds, 1), "lost": len(lost)}
        print(json.dumps({"folder": str(folder), **numbers}))
    elif lost:
        print(f"{len(lost)} functions could not be kept in {folder}: can it be written?")
    else:
        print(f"all is compiled, in {seconds:.1f} s, and kept in {folder}")
    return FAILED if lost else GOOD


def _folder(functions: list[AtFirstUse]) -> Path:
    return Path(os.path.commonpath([function.cache_folder for function in functions]))


COMMAND = Command(
    "compile", "compile the sampler in advance, for images", WORDS, add_options, compile_all
)
