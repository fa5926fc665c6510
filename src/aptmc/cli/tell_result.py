"""How a command that sampled ends: what it prints, and its exit code."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from aptmc.cli.command import FAILED, GOOD, INTERRUPTED
from aptmc.cli.run_as_json import run_as_json
from aptmc.errors import StopReason
from aptmc.result.run import Run


def tell_result(result: Run, options: Namespace) -> int:
    """Print a run, write the report that was asked for, and give the exit code."""
    if options.json:
        print(json.dumps(run_as_json(result)))
    else:
        print(result.summary())
    if options.report is not None:
        # With --json, programs read the other stream.
        stream = sys.stderr if options.json else sys.stdout
        print(f"the report is {result.report(options.report)}", file=stream)
    codes = {StopReason.INTERRUPTED: INTERRUPTED, StopReason.TOO_SHORT: FAILED}
    return codes.get(result.stopped, GOOD)
