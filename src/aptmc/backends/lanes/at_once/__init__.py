"""Several lanes at once, in the vectors of a processor: the same numbers, sooner."""
