"""Products that let other threads run."""

import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

from thetahat.foundation.products import product

RANDOM = np.random.default_rng(0)
X, V, W = RANDOM.standard_normal((400, 7)), RANDOM.standard_normal(400), RANDOM.standard_normal(7)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (X, W),
        (X.T, V),
        (X.T, X),
        (V, X),
        (np.asfortranarray(X).T, V),
        (X.astype(np.float32).T, V),
        (X[::2].T, V[::2]),
        (sp.csr_array(X).T, V),
    ],
    ids=["Xw", "Xᵀv", "XᵀX", "vX", "columns", "single", "sliced", "sparse"],
)
def test_it_is_the_product(left, right):
    np.testing.assert_allclose(product(left, right), left @ right, rtol=1e-12)


def test_other_threads_run_meanwhile():
    """With all forced switches off, another thread runs only while the lock is released."""
    tall, long = np.ones((200_000, 4)), np.ones(200_000)
    turns, done = [0], threading.Event()

    def other():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0)

    before = sys.getswitchinterval()
    thread = threading.Thread(target=other)
    sys.setswitchinterval(1000.0)
    try:
        thread.start()
        first, products = turns[0], 0
        while turns[0] == first and products < 1000:
            product(tall.T, long)
            products += 1
        assert turns[0] > first
    finally:
        done.set()
        sys.setswitchinterval(before)
        thread.join()
