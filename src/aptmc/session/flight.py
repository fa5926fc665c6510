"""What virtual processors are doing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.record.record import NOBODY


class Flight(NamedTuple):
    """What each virtual processor is doing. Place p belongs to processor p modulo their number."""

    pool: Integers  # by place: that it serves
    speed: Floats  # by processor
    chain: Integers  # by place: whose move it computes, or NOBODY
    replica: Integers  # by place: the state that the move started from
    started: Floats  # by place: when its processor began to compute it, or will
    finish: Floats  # by place
    busy: Floats  # by processor: time inside completed moves
    outcome: FloatTable
    info: FloatTable
    now: Floats  # one number: the time of the last completion
    suspect: Integers  # one number: the chain that is being computed
    stage: Integers  # one number: what is being computed
    standing: Integers  # one number: completions in a row at the same time
    backlog: Integers  # chains whose moves were in flight elsewhere, and are issued again first
    backlog_age: Floats  # of each of them: how long its move had been computed there


def empty_flight(
    pool: Integers,
    speed: Floats,
    width: int,
    info_length: int,
    now: float,
    backlog: Mapping[int, float],
    ahead: int = 0,
) -> Flight:
    """All processors without work, with room for one order and for those that wait.

    :param backlog: chains whose moves were in flight elsewhere, and for how long
    """
    places = (1 + ahead) * pool.size
    return Flight(
        pool=np.tile(pool, 1 + ahead),
        speed=speed,
        chain=np.full(places, NOBODY),
        replica=np.full(places, NOBODY),
        started=np.zeros(places),
        finish=np.zeros(places),
        busy=np.zeros(pool.size),
        outcome=np.empty((places, width)),
        info=np.zeros((places, info_length)),
        now=np.full(1, now),
        suspect=np.full(1, NOBODY),
        stage=np.zeros(1, np.int64),
        standing=np.zeros(1, np.int64),
        backlog=np.array(list(backlog), np.int64),
        backlog_age=np.array(list(backlog.values()), np.float64),
    )
