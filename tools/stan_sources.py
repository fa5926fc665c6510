"""Stan's sources for BridgeStan without its own download: `python -m tools.stan_sources`.

BridgeStan brings its sources, Stan's and the translator `stanc` from GitHub's releases. Where only
a package index and a clone can be had, the wheel of `httpstan` has all of it but BridgeStan's own
few files: headers of Stan, its libraries of sundials and TBB, and `stanc`.

    pip download --no-deps httpstan==4.13.0
    git clone https://github.com/roualdes/bridgestan
    python -m tools.stan_sources httpstan-4.13.0-*.whl bridgestan FOLDER
    pip install bridgestan==2.7.0
    export BRIDGESTAN=FOLDER

httpstan 4.13.0 has Stan 2.35.0, with which BridgeStan 2.7.0 compiles, too; its tag is taken from
the clone. A program compiles in a quarter of a minute.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

TAG = "v2.7.0"
MAKEFILE = """\
# In place of BridgeStan's, which wants clones of Stan and of its mathematics.
STAN := $(CURDIR)/httpstan
FLAGS := -std=c++17 -O3 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -w -pthread \\
\t-DBRIDGESTAN_EXPORT -DSTAN_OVERRIDE_EIGEN_ASSERT -DBOOST_DISABLE_ASSERTS \\
\t-D_REENTRANT -D_GLIBCXX_USE_CXX11_ABI=0 $(if $(STAN_THREADS),-DSTAN_THREADS)
BRIDGE := src/bridgestan$(if $(STAN_THREADS),_threads).o
CXX := g++ $(FLAGS) -I $(STAN)/include
LIBRARIES := -L $(STAN)/lib -lsundials_cvodes -lsundials_idas -lsundials_kinsol \\
\t-lsundials_nvecserial -ltbb -Wl,-rpath,$(STAN)/lib
.SECONDARY:

%.hpp: %.stan
\t$(STAN)/stanc $(STANCFLAGS) --o=$@ $<

%.o: %.hpp
\t$(CXX) -c -x c++ -o $@ $<

$(BRIDGE): src/bridgestan.cpp
\t$(CXX) -c -o $@ $<

%_model.so: %.o $(BRIDGE)
\t$(CXX) -shared -o $@ $^ $(LIBRARIES)
"""


def main() -> None:
    """Put together what BridgeStan wants, in a folder that it is told of."""
    parser = argparse.ArgumentParser(prog="python -m tools.stan_sources", description=__doc__)
    parser.add_argument("httpstan", type=Path, help="its wheel")
    parser.add_argument("bridgestan", help="a clone of github.com/roualdes/bridgestan")
    parser.add_argument("folder", type=Path, help="where the sources go")
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(options.httpstan) as wheel:
        wheel.extractall(folder, [n for n in wheel.namelist() if n.startswith("httpstan/")])
    (folder / "httpstan" / "stanc").chmod(0o755)
    kept = subprocess.run(
        ["git", "-C", options.bridgestan, "archive", TAG, "src"], check=True, capture_output=True
    )
    with tarfile.open(fileobj=io.BytesIO(kept.stdout)) as archive:
        archive.extractall(folder, filter="data")
    (folder / "Makefile").write_text(MAKEFILE)


if __name__ == "__main__":
    main()
