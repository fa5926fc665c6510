"""Functions that write down in what kind of process they are called. They load next to nothing."""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from pathlib import Path


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


class Notes:
    """Writes down once what it finds in its process, after the first states."""

    def __init__(self, path, imports=()):
        self.path, self.imports = Path(path), imports

    def __call__(self, theta):
        for name in self.imports:
            importlib.import_module(name)
        if not self.path.exists():
            parent = os.getppid()
            found = {
                "modules": sorted(sys.modules),
                "fork server": parent,
                "ancestor": parent_of(parent),
                "variable": os.environ.get("APTMC_TEST_VARIABLE"),
                "folder": os.getcwd(),
                "threads": len(os.listdir("/proc/self/task")),
                "threads of the fork server": len(os.listdir(f"/proc/{parent}/task")),
            }
            draft = self.path.with_name(f"{self.path.name} {os.getpid()}")
            draft.write_text(json.dumps(found))
            draft.rename(self.path)
        return -0.5 * theta[0] * theta[0]

    def read(self):
        return json.loads(self.path.read_text())


class Threaded(Notes):
    """Starts a thread when it is loaded, as arrays of JAX do."""

    def __setstate__(self, state):
        self.__dict__.update(state)
        threading.Thread(target=threading.Event().wait, daemon=True).start()
