"""Items that are made on another thread before they are needed."""

import threading

import pytest

import thetahat as th
from thetahat.data.on_disk.read_ahead import AHEAD, read_ahead
from thetahat.foundation.config import settings


def readers():
    return [each for each in threading.enumerate() if each.name == "thetahat reader"]


def test_items_come_in_order():
    with th.config(threads=2):
        assert list(read_ahead(iter(range(50)))) == list(range(50))
    assert not readers()


def test_the_next_items_are_made_while_one_is_used():
    made = []
    enough = threading.Event()

    def items():
        for number in range(6):
            made.append(number)
            if number == AHEAD:
                enough.set()
            yield number

    with th.config(threads=2):
        use = read_ahead(items())
        assert next(use) == 0
        assert enough.wait(10.0), "nothing was made ahead"
        assert len(made) <= AHEAD + 3
        use.close()


def test_one_thread_reads_when_it_needs_the_rows():
    with th.config(threads=1):
        here = []
        for _ in read_ahead(iter(here.append(threading.current_thread()) for _ in range(3))):
            pass
    assert set(here) == {threading.main_thread()}


def test_an_error_comes_at_its_place():
    def items():
        yield 1
        raise ValueError("broken")

    with th.config(threads=2):
        use = read_ahead(items())
        assert next(use) == 1
        with pytest.raises(ValueError, match="broken"):
            next(use)
    assert not readers()


def test_an_abandoned_iteration_ends_the_thread_and_closes_the_items():
    closed = threading.Event()

    def items():
        try:
            yield from range(1_000)
        finally:
            closed.set()

    with th.config(threads=2):
        use = read_ahead(items())
        next(use)
        use.close()
    assert closed.is_set()
    assert not readers()


def test_settings_hold_on_the_other_thread():
    def items():
        yield settings().memory

    with th.config(threads=2, memory=123_456):
        assert list(read_ahead(items())) == [123_456]
