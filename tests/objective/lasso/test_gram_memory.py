"""The Gram matrix of a fit with an L1 penalty: too little memory is refused with a remedy."""

import numpy as np
import pytest

import thetahat as th


def test_the_remedy_for_too_little_memory_is_not_the_default():
    X = np.random.default_rng(0).normal(size=(600, 6))
    with th.config(memory=1000), pytest.raises(th.errors.MemoryBudgetError) as caught:
        th.Lasso().fit(X, X[:, 0])
    assert "precompute" not in str(caught.value)
    assert "th.config(memory=...)" in str(caught.value)
