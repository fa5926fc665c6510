"""`python -m aptmc.cli`, where the command `aptmc` is not on the path."""

import sys

from aptmc.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
