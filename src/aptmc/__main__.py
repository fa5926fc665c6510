"""`python -m aptmc` is the command `aptmc`, also where that is not on the path."""

from __future__ import annotations

import sys

from aptmc.cli import main

if __name__ == "__main__":
    sys.exit(main())
