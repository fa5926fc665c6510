"""Tuning: from what warm-up rounds have shown to better settings. Arrays in, settings out.

Nothing here runs anything (`aptmc.warmup` does). Whatever is decided here uses the past, so it is
decided between rounds of the warm-up only, and frozen before the first draw that counts.
"""
