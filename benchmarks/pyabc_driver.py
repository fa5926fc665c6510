"""pyABC's worker processes, in its own environment, on simulators that sleep now and then."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import Any

from benchmarks.pyabc_comparison import INSTALL, PYTHON, is_installed

# Runs in the other environment, where there is no aptmc. Random numbers are those that pyABC seeds
# anew in each process. What was slept is noted in a file that all processes share.
DRIVER = """
import json, logging, math, sys, tempfile, time
from datetime import timedelta
import numpy as np
import pyabc

logging.disable(logging.INFO)
options = json.loads(sys.argv[1])
np.random.seed(options["seed"])
notes = tempfile.TemporaryFile(buffering=0)

def hold_time():
    if "share" in options:
        return options["sleep"] if np.random.random() < options["share"] else 0.0
    variance = options["log_variance"]
    z = np.random.standard_normal()
    return options["mean"] * math.exp(math.sqrt(variance) * z - 0.5 * variance)

def simulate(parameters):
    seconds = hold_time()
    if seconds > 0.0:
        before = time.perf_counter()
        time.sleep(seconds)
        notes.write(np.float64(time.perf_counter() - before).tobytes())
    return {"x": parameters["theta"] + np.random.standard_normal()}

sampler = pyabc.ABCSMC(
    simulate,
    pyabc.Distribution(theta=pyabc.RV("norm", 0.0, math.sqrt(5.0))),
    lambda simulated, observed: abs(simulated["x"] - observed["x"]),
    population_size=options["population"],
    eps=pyabc.ListEpsilon(options["tolerances"]),
    sampler=getattr(pyabc.sampler, options["sampler"])(n_procs=options["workers"]),
)
sampler.new("sqlite://", {"x": 3.0})
limit = options.get("max_walltime")
start = time.perf_counter()
history = sampler.run(
    max_nr_populations=len(options["tolerances"]),
    max_walltime=limit and timedelta(seconds=limit),
)
elapsed = time.perf_counter() - start
notes.seek(0)
slept = np.frombuffer(notes.read()).sum()
print(json.dumps([elapsed, slept, history.total_nr_simulations, history.n_populations]))
"""


def run_pyabc(patience: float, **options: Any) -> tuple[float, float, int, int] | None:
    """Seconds in all, seconds slept, simulations, generations; None if patience has ended first."""
    with subprocess.Popen(
        [str(PYTHON), "-c", DRIVER, json.dumps(options)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            reply, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its workers too
            return None
    elapsed, slept, simulations, generations = json.loads(reply.splitlines()[-1])
    return elapsed, slept, simulations, generations


def reason_to_leave_out(*, quick: bool) -> str | None:
    """Why there is no pyABC in a table."""
    if quick:
        return "pyABC is left out of short runs."
    if not is_installed():
        return f"pyABC is left out: it is not installed. `{INSTALL}` installs it in .cache/pyabc."
    return None
