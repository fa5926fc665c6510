"""Messages over a socket that strangers may write into, and that nobody may read from."""

from __future__ import annotations

import socket
from typing import NamedTuple

import numpy as np
import pytest

from aptmc.backends.workers.channel import Channel, Nonsense, WorkerChannel

LONG = 3_000_000  # bytes, far more than a socket holds


class Ends(NamedTuple):
    ours: Channel
    theirs: WorkerChannel
    stranger: socket.socket  # at their end


@pytest.fixture
def ends():
    mine, yours = socket.socketpair()
    channel, stranger = Channel(mine), yours.dup()
    worker = WorkerChannel(yours.detach())
    yield Ends(channel, worker, stranger)
    for end in (channel, worker, stranger):
        end.close()


def all_received(channel, count):
    messages = []
    while len(messages) < count:
        messages += channel.receive()
    return messages


def test_messages_arrive_whole_and_in_order(ends):
    sent = [b"", b"one", bytes(range(256)) * 40]
    for message in sent:
        ends.ours.send(message)
        ends.theirs.send(message)
    assert [ends.theirs.receive() for _ in sent] == sent
    assert all_received(ends.ours, len(sent)) == sent
    assert ends.ours.receive() == []


def test_a_message_in_pieces_is_put_together(ends):
    frame = ends.theirs._frames.framed(b"whole")
    for piece in (frame[:3], frame[3:15], frame[15:-1]):
        ends.stranger.send(piece)
        assert ends.ours.receive() == []
    ends.stranger.send(frame[-1:])
    assert ends.ours.receive() == [b"whole"]


def test_whoever_does_not_read_holds_up_nobody(ends):
    message = np.random.default_rng(1).bytes(LONG)
    ends.ours.send(message)  # returns, though nobody reads
    assert ends.ours.has_unsent
    ends.ours.send(b"next")
    found = []
    while len(found) < 2:
        ends.stranger.setblocking(True)
        ends.ours.send_rest()
        ends.theirs._frames.add(ends.stranger.recv(1 << 20))
        while (whole := ends.theirs._frames.next()) is not None:
            found.append(whole)
    assert found == [message, b"next"]
    assert not ends.ours.has_unsent


@pytest.mark.parametrize("garbage", [b"garbage", b"\0", b"\xff" * 100_000])
def test_garbage_is_noticed_at_once(ends, garbage):
    ends.stranger.setblocking(False)
    ends.stranger.send(garbage)
    with pytest.raises(Nonsense):
        ends.ours.receive()


def test_garbage_after_a_message_is_noticed(ends):
    ends.theirs.send(b"good")
    ends.stranger.send(b"garbage")
    with pytest.raises(Nonsense):
        ends.ours.receive()


def test_garbage_within_a_message_is_noticed(ends):
    """Threads of the user's may write while the worker does."""
    frame = ends.theirs._frames.framed(b"a message of some length")
    ends.stranger.send(frame[:30] + b"garbage" + frame[30:])
    with pytest.raises(Nonsense, match="not as it was sent"):
        ends.ours.receive()


def test_a_message_that_somebody_else_has_read_is_missed(ends):
    ends.ours.send(b"first")
    ends.stranger.recv(1000)
    ends.ours.send(b"second")
    with pytest.raises(Nonsense, match="missing"):
        ends.theirs.receive()


def test_a_message_of_another_channel_is_none_of_this_one(ends):
    mine, yours = socket.socketpair()
    with mine, yours:
        other = Channel(mine.dup())
        ends.stranger.send(other._frames.framed(b"hello"))
        other.close()
    with pytest.raises(Nonsense, match="not from the other end"):
        ends.ours.receive()


def test_the_end_is_told(ends):
    ends.theirs.send(b"last")
    ends.theirs.close()
    ends.stranger.close()
    assert ends.ours.has_mail()
    assert ends.ours.receive() == [b"last"]
    assert ends.ours.has_mail()
    with pytest.raises(EOFError):
        ends.ours.receive()


def test_a_worker_hears_that_the_other_side_hung_up(ends):
    ends.ours.send(b"last")
    ends.ours.close()
    assert ends.theirs.receive() == b"last"
    with pytest.raises(EOFError):
        ends.theirs.receive()
