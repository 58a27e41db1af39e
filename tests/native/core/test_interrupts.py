"""Ctrl-C ends a long kernel between two of its steps."""

import signal
import threading
import time

import numpy as np
import pytest

from thetahat import _native


@pytest.mark.parametrize("name", ["near", "all"])
def test_spanning_trees_are_interrupted(name):
    n = 40_000 if name == "all" else 400_000
    rows = np.random.default_rng(0).normal(size=(n, 4))
    found = np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)
    call = {
        "near": lambda: _native.spanning_tree_near(rows, 2.0, np.empty(0), *found, 1),
        "all": lambda: _native.spanning_tree_all(rows, 2.0, False, np.empty(0), *found, 1),
    }[name]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.process_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.process_time() - start < 4.0  # an uninterrupted one takes a minute
