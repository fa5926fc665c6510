"""Are reported errors as large as errors are? Root mean squares of (mean - truth) / mcse."""
