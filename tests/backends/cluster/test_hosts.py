"""Two hosts, as far as one machine allows: network namespaces with a cable between that is cut.

Only the superuser can make them; elsewhere these tests are left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

import aptmc
from aptmc import start
from tests.backends.contract import eventually
from tests.support import chaos

ROOT = Path(__file__).resolve().parents[3]
HERE, THERE = "10.77.0.1", "10.77.0.2"
CABLE, OTHER_END, HOST = "aptmc0", "aptmc1", "aptmc-there"
COMMAND = "import sys; from distributed.cli import {0}; sys.exit({0}.main())"


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def two_hosts():
    """This one and another, with a cable between them."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("only the superuser can make hosts, with the command ip")
    with ExitStack() as stack:
        try:
            ip("netns", "add", HOST)
            stack.callback(ip, "netns", "del", HOST)
            ip("link", "add", CABLE, "type", "veth", "peer", "name", OTHER_END)
            stack.callback(ip, "link", "del", CABLE)
            ip("link", "set", OTHER_END, "netns", HOST)
            for host, end, address in (([], CABLE, HERE), (["-n", HOST], OTHER_END, THERE)):
                ip(*host, "addr", "add", f"{address}/24", "dev", end)
                ip(*host, "link", "set", end, "up")
            ip("-n", HOST, "link", "set", "lo", "up")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no hosts can be made here: {error.stderr.decode()}")
        yield


@contextmanager
def program(kind, *options, on=()):
    """A program of Dask's, on a host."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    running = subprocess.Popen(
        [*on, sys.executable, "-c", COMMAND.format(kind), *options,
         "--dashboard-address", "127.0.0.1:0"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    try:
        yield
    finally:
        running.kill()
        running.wait()


def worker(address, on=()):
    scheduler = f"tcp://{HERE}:8798"
    options = ("--nthreads", "1", "--no-nanny", "--host", address)
    return program("dask_worker", scheduler, *options, on=on)


def moves_of(handle):
    """How many moves each processor has made."""
    return np.bincount(handle.inspect().run.events.completions.processor, minlength=2)


@pytest.mark.validation(shortest=0.1)
def test_a_link_that_is_cut_for_a_while_costs_nothing_but_time():
    distributed = pytest.importorskip("distributed")
    with (
        two_hosts(),
        program("dask_scheduler", "--host", HERE, "--port", "8798"),
        worker(HERE),
        worker(THERE, on=["ip", "netns", "exec", HOST]),
        distributed.Client(f"tcp://{HERE}:8798", set_as_default=False) as client,
    ):
        client.wait_for_workers(2)
        is_there = [THERE in address for address in client.nthreads()]
        far = is_there.index(True)
        with start(
            chaos.PROBLEM,
            budget=chaos.LONGER_THAN_ANY_TEST,
            ladder=chaos.LADDER,
            kernel=chaos.KERNEL,
            schedule=chaos.SCHEDULE,
            pools=chaos.POOLS,
            on=aptmc.Dask(client, group=20, ahead=1),
            keep="all",
            seed=chaos.SEED,
        ) as handle:
            eventually(lambda: moves_of(handle).min() > 200)
            ip("link", "set", CABLE, "down")
            near = moves_of(handle)[1 - far]
            eventually(lambda: moves_of(handle)[1 - far] > near + 500)
            cut_off = moves_of(handle)
            ip("link", "set", CABLE, "up")
            eventually(lambda: moves_of(handle)[far] > cut_off[far] + 200)
            eventually(lambda: moves_of(handle).sum() > 3000)
            run = handle.stop()
    chaos.assert_unharmed(run, set(), kills=0, moves_only=True)
