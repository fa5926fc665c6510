"""What version 0.1 has written can be gone on with: it knew the ages of moves in flight."""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc.session.snapshot import Snapshot, restore, snapshot
from tests.support import targets
from tests.support.sessions import all_draws, make_session, same

SCHEDULES = {
    "deadlines": aptmc.Anytime(every=2.3),
    "within pools": aptmc.Anytime(every=2.3, within=aptmc.OneRandomPair()),
    "barriers": aptmc.Synchronous(moves=2),
}


def in_old_words(saved: Snapshot) -> Snapshot:
    """The layout of version 0.1."""
    arrays = dict(saved.arrays)
    chains = arrays.pop("in_flight/chain")
    replicas, processor = arrays.pop("in_flight/started_from"), arrays.pop("in_flight/processor")
    ages = saved.notes["elapsed"] - arrays.pop("in_flight/since")
    arrays["in_flight"] = np.column_stack([chains, replicas])
    arrays["under_way"] = np.column_stack([chains, processor, ages])
    arrays["machine/moves_left"] = np.zeros(arrays["machine/replica"].size, np.int64)
    for name in ("machine/barriers", "machine/occasions"):
        del arrays[name]
    return Snapshot(saved.notes, arrays)


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES.keys())
@pytest.mark.parametrize("same_flight", [True, False])
def test_an_old_snapshot_is_gone_on_with(schedule, same_flight):
    on = aptmc.VirtualTime(2, targets.hold)
    session, _ = make_session(schedule, processors=2)
    on.run(session, 50.0)
    session.flush()
    saved = snapshot(session)
    results = []
    for words in (saved, in_old_words(saved)):
        again, kept = make_session(schedule, processors=2)
        restore(again, words, same_flight=same_flight)
        assert again.machine.in_flight == session.machine.in_flight
        assert np.allclose(again.machine.chains["since"], session.machine.chains["since"],
                           equal_nan=True)  # fmt: skip
        for column in ("started_from", "processor"):
            assert np.array_equal(again.machine.chains[column], session.machine.chains[column])
        on.run(again, 50.0)
        results.append([again, all_draws(again, kept)])
    if same_flight:
        assert same(results[0][1], results[1][1])
    for name in ("moves", "passed", "barriers", "occasions", "completed"):
        values = [getattr(again.machine, name) for again, _ in results]
        assert np.array_equal(*values), name


def test_ages_are_lost_by_nobody():
    """The control: a snapshot that forgot since when moves are computed goes on otherwise."""
    on = aptmc.VirtualTime(2, targets.hold)
    session, _ = make_session(SCHEDULES["deadlines"], processors=2)
    on.run(session, 50.0)
    session.flush()
    saved = snapshot(session)
    forgot = dict(saved.arrays)
    forgot["in_flight/since"] = np.full(2, np.nan)
    draws = []
    for arrays in (saved.arrays, forgot):
        again, kept = make_session(SCHEDULES["deadlines"], processors=2)
        restore(again, Snapshot(saved.notes, arrays), same_flight=False)
        on.run(again, 200.0)
        draws.append(all_draws(again, kept))
    assert not same(*draws)
