"""Sequences of labels: decoding and sums over all of them, against every sequence."""

from itertools import product

import numpy as np
import pytest

import thetahat as th


def test_viterbi_finds_the_best_of_all_sequences():
    random = np.random.default_rng(0)
    chain = th.structures.Chain(n_states=3, n_features=2)
    x, weights, truth = (
        random.standard_normal((5, 2)),
        random.standard_normal(chain.size),
        np.array([0, 1, 2, 1, 0]),
    )
    everything = [np.array(each) for each in product(range(3), repeat=5)]
    scores = [weights @ chain.features(x, y) for y in everything]
    np.testing.assert_array_equal(chain.decode(x, weights), everything[int(np.argmax(scores))])
    with_loss = [s + chain.loss(truth, y) for s, y in zip(scores, everything, strict=True)]
    found = chain.decode(x, weights, truth)
    np.testing.assert_array_equal(found, everything[int(np.argmax(with_loss))])
    total, mean = chain.log_partition(x, weights)
    assert total == pytest.approx(np.log(np.exp(scores).sum()))
    p = np.exp(np.array(scores) - total)
    expected = sum(q * chain.features(x, y) for q, y in zip(p, everything, strict=True))
    np.testing.assert_allclose(mean, expected, atol=1e-12)
