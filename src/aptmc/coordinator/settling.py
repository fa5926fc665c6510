"""Settling: how a run that begins with everybody at rest comes to the law under which it is exact.

That law (fact 2 of docs/method.md) has waiting chains at their targets, and in flight the more of
those states whose moves take long, at all ages. A run that begins at rest has all chains at their
targets. Left to itself it comes to the law as slowly as its chains mix, since slow states must
become more in all; meanwhile it is biased towards fast ones.

So for a while each chain that has finished a move starts anew, from one of a number of states that
follow its target. Then whatever goes in flight follows its target, independently of what was
before, and the law is reached when moves have come and gone: in a few hold times, whatever these
depend on. Nothing must be known of hold times, and the flights go over into what counts.
"""

from __future__ import annotations

from aptmc.compiled import compiled, copy_numbers, inlined
from aptmc.coordinator.state import Coordinator
from aptmc.record.record import EXCHANGE_MOVE, NOBODY, Record, begin_journey, write


@inlined
def begin_to_count(machine: Coordinator, record: Record) -> None:
    """The run is settled: whatever is drawn from now on counts."""
    machine.run[0]["is_settled"] = 1
    for chain in range(record.by_chain.shape[0]):
        record.by_chain[chain]["before"] = record.by_chain[chain]["seen"]


@compiled
def start_anew(machine: Coordinator, number: int, time: float, record: Record) -> None:
    """A finished chain takes the next of the states of its rung, which come round in turn."""
    chain, run = machine.chains[number], machine.run[0]
    rung, replica = machine.rungs[chain["rung"]], chain["replica"]
    row = rung["first"] + rung["given"] % rung["count"]
    rung["given"] += 1
    state = machine.states[replica]
    copy_numbers(machine.starts[row], state)
    begin_journey(record, replica, chain["rung"])
    # As after an exchange: what comes next starts from here.
    write(record, number, EXCHANGE_MOVE, 1, replica, time, state, NOBODY, 0.0, 0.0)
    run["settled"] += 1
    # It ends by the clock, not by counting: just after a completion somebody has always just begun.
    # The first moves may be slow for reasons of their own, and do not tell how long it takes.
    if run["settled"] == run["settling_moves"] // 2:
        run["settling_since"] = time
    elif run["settled"] == run["settling_moves"]:
        run["settles_until"] = time + 2.0 * (time - run["settling_since"])
