"""Exchanges: which waiting chains are paired, and whether a pair swaps."""

from aptmc.exchange.pairs import Alternating, BetweenPools, OneRandomPair, RandomParity
from aptmc.exchange.reassignment import Reassignment
from aptmc.exchange.rule import Rule
from aptmc.exchange.rung_pairs import NeighbouringRungs, RungParity

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
