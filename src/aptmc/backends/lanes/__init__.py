"""Lanes: processors that are many and march in step, on a GPU or on this machine's processors."""
