"""The command line: `aptmc --help`."""

from aptmc.cli.main import main

__all__ = ["main"]
