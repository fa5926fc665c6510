"""Exchanges: which waiting chains are paired, and whether a pair swaps."""

from aptmc.exchange.rules import (
    Alternating,
    BetweenPools,
    NeighbouringRungs,
    OneRandomPair,
    RandomParity,
    Reassignment,
    Rule,
    RungParity,
)

__all__ = [
    "Alternating",
    "BetweenPools",
    "NeighbouringRungs",
    "OneRandomPair",
    "RandomParity",
    "Reassignment",
    "Rule",
    "RungParity",
]
