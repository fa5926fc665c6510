"""Functions for worker processes, which import them from here by name.

All are the log density of a standard normal, up to what they do besides. Chains start at 0, so what
they do elsewhere they do in moves only.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import aptmc

FAR = 1.5  # some functions fail beyond
PAUSE = 0.01  # between two looks at a file
MANY = 30_000  # numbers, more than a socket holds


def log_density(theta):
    return -0.5 * theta[0] * theta[0]


class Parabola:
    """An object that can be called."""

    def __init__(self, height):
        self.height = height

    def __call__(self, theta):
        return self.height + log_density(theta)


def raises_far_out(theta):
    if abs(theta[0]) > FAR:
        raise ArithmeticError("too far out")
    return log_density(theta)


def nan_far_out(theta):
    return float("nan") if abs(theta[0]) > FAR else log_density(theta)


def exits_far_out(theta):
    if abs(theta[0]) > FAR:
        raise SystemExit("enough")
    return log_density(theta)


class DiesFarOut:
    """Ends its own process, by a signal or by a status."""

    def __init__(self, signal=None, status=None):
        self.signal, self.status = signal, status

    def __call__(self, theta):
        if abs(theta[0]) > FAR:
            if self.signal is not None:
                os.kill(os.getpid(), self.signal)
            os._exit(self.status)
        return log_density(theta)


class Counted:
    """Leaves a byte in a file at each call, and does something at some of them."""

    def __init__(self, path, calls=(), action=None):
        self.path, self.calls, self.action = Path(path), calls, action

    def __call__(self, theta):
        if note(self.path) in self.calls:
            self.action()
        return log_density(theta)


class DiesAtFirst:
    """Ends its own process in the first so many calls away from the start."""

    def __init__(self, path, times):
        self.path, self.times = Path(path), times

    def __call__(self, theta):
        if theta[0] != 0.0 and note(self.path) <= self.times:
            os._exit(3)
        return log_density(theta)


class Gate:
    """Away from the start it says who is there, and waits until the gate is open."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def __call__(self, theta):
        if theta[0] != 0.0 and not self.is_open:
            (self.folder / f"{os.getpid()}.waits").touch()
            while not self.is_open:
                time.sleep(PAUSE)
        return log_density(theta)

    @property
    def is_open(self):
        return (self.folder / "open").exists()

    def open(self):
        (self.folder / "open").touch()

    def waiting(self):
        """The processes that stood before the gate."""
        return [int(path.stem) for path in self.folder.glob("*.waits")]


class Door:
    """Cannot be loaded by another process until the door is open."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def __call__(self, theta):
        return log_density(theta)

    def __setstate__(self, state):
        self.__dict__.update(state)
        (self.folder / "reached").touch()
        while not (self.folder / "opened").exists():
            time.sleep(PAUSE)

    def is_reached(self):
        return (self.folder / "reached").exists()

    def open(self):
        (self.folder / "opened").touch()


class Surroundings:
    """Writes down in what kind of process it is called."""

    def __init__(self, path):
        self.path = Path(path)

    def __call__(self, theta):
        command = Path("/proc/self/cmdline").read_text().replace("\0", " ")
        threads = os.environ.get("OMP_NUM_THREADS")
        # A worker may be ended at any moment, so the file appears as a whole or not at all.
        draft = self.path.with_suffix(f".{os.getpid()}")
        draft.write_text(f"{command}\n{threads}\n{os.environ.get('PYTHONPATH')}\n")
        draft.replace(self.path)
        return log_density(theta)


def note(path):
    """Leave a byte in a file; says how many there are now."""
    with path.open("ab") as file:
        file.write(b".")
        file.flush()
        return file.tell()


def raise_arithmetic_error():
    raise ArithmeticError("not this time")


def interrupt():
    raise KeyboardInterrupt


def exit_with_three():
    os._exit(3)


def problem(function=log_density):
    """All chains start at 0."""
    return aptmc.Power(function, {"x": 0.0})


def process_pool():
    """Two workers that start in a fresh Python each."""
    return ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))


def simulate_many(theta, rng):
    return theta[0] + rng.standard_normal(MANY)


def distance_of_means(simulated, observed):
    return abs(simulated.mean() - observed.mean())
