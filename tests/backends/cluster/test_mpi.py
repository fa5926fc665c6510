"""MPI ranks: the contract, and a rank that is killed, which ends the whole job."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import aptmc
from tests.backends.contract import eventually
from tests.support import simulators

pytest.importorskip("mpi4py")
ROOT = Path(__file__).resolve().parents[3]
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
PATIENCE = 300  # seconds; a job that takes longer hangs
SCRIPT = """
import aptmc
from mpi4py.futures import MPIPoolExecutor
from tests.support import simulators

if __name__ == "__main__":
    aptmc.sample(
        simulators.problem(simulators.Counted({marks!r})),
        budget=3600,
        ladder=aptmc.Ladder.powers(6),
        kernel=aptmc.RandomWalk(1.0),
        schedule=aptmc.Anytime(every="1 ms"),
        on=aptmc.Futures(MPIPoolExecutor(), 2, group=1),
        store={store!r},
        save_every=0.1,
        progress=False,
        seed=1,
    )
"""


def job(*arguments):
    """Three ranks: one that coordinates and two that compute."""
    if MPIEXEC is None:
        pytest.skip("there is no mpiexec")
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.Popen(
        [MPIEXEC, "-n", "3", sys.executable, "-m", "mpi4py.futures", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        start_new_session=True,
    )  # fmt: skip


@pytest.mark.validation
def test_the_contract_of_backends():
    suite = "tests/backends/cluster/mpi_contract.py"
    with job("-m", "pytest", "-q", "-p", "no:xdist", suite) as running:
        said, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, said
    assert "7 passed" in said


@pytest.mark.validation
def test_a_rank_that_is_killed_ends_the_job_and_the_store_goes_on(tmp_path):
    marks, store, script = tmp_path / "marks", tmp_path / "run.zarr", tmp_path / "script.py"
    script.write_text(SCRIPT.format(marks=str(marks), store=str(store)))
    problem = simulators.problem(simulators.Counted(str(marks)))
    with job(str(script)) as running:
        try:
            eventually(lambda: running.poll() is not None or is_stored(store))
            victim = ranks_of(running.pid)[-1]
            os.kill(victim, signal.SIGKILL)
            said, _ = running.communicate(timeout=PATIENCE)
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode != 0, said
    before = aptmc.open(store).completions
    run = aptmc.resume(store, problem, budget=3.0, on=aptmc.InProcess(), progress=False)
    assert run.completions > before > 0
    assert aptmc.replay(store, problem).is_same


def is_stored(store) -> bool:
    """Whether something of the run is safe."""
    try:
        return aptmc.open(store).completions > 50
    except Exception:  # not yet there
        return False


def ranks_of(parent: int) -> list[int]:
    """The Python processes below a process."""
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            children.append(int(stat.parent.name))
    found = [child for child in children if b"mpi4py" in command(child)]
    ranks = [child for child in found if b"mpiexec" not in command(child).split(b"\0")[0]]
    for child in children:
        if child not in ranks:
            ranks += ranks_of(child)
    return sorted(ranks)


def command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
