"""Models with known answers, ready to sample."""
