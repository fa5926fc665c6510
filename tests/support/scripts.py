"""Scripts in processes of their own, and whether anything is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300  # seconds; a script that takes longer hangs


class Script:
    """A script under way. All processes that come from it can be told by a mark."""

    def __init__(self, folder, text, *, from_standard_input=False, own_temporary_files=False):
        self.folder, self.mark = folder, f"APTMC_TEST_MARK={uuid.uuid4()}"
        path = folder / "script.py"
        path.write_text(text)
        name, _, value = self.mark.partition("=")
        own = {"TMPDIR": str(folder)} if own_temporary_files else {}
        search = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        with path.open() as source:
            self.process = subprocess.Popen(
                [sys.executable, "-" if from_standard_input else str(path), str(folder)],
                stdin=source if from_standard_input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": search, name: value, **own},
            )

    def processes(self) -> list[int]:
        """Those that are alive. Not one that has ended and whose parent has not noticed."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:  # gone meanwhile, or another user's
                continue
        return found

    def processor_time(self) -> int:
        """Of those that are alive, and of their children that are not, in ticks of the system."""
        ticks = 0
        for process in self.processes():
            with suppress(OSError):
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
        return ticks

    def output(self) -> list[str]:
        """All lines that it prints, when it has ended. It must have nothing to complain of."""
        output, errors = self.process.communicate(timeout=PATIENCE)
        assert errors == ""
        return output.splitlines()


@contextmanager
def running_script(folder, text, **options):
    script = Script(folder, text, **options)
    try:
        yield script
    finally:
        for process in script.processes():
            os.kill(process, signal.SIGKILL)
        script.process.wait()
        script.process.stdout.close()
        script.process.stderr.close()
