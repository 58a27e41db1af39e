"""Corners of multilayer perceptrons that users of scikit-learn rely on."""

from __future__ import annotations

import numpy as np
import pytest

import thetahat as th


@pytest.mark.parametrize("kind", [th.MLPClassifier, th.MLPRegressor])
def test_partial_fit_is_there_for_steps_only(kind):
    assert hasattr(kind(solver="sgd"), "partial_fit")
    assert not hasattr(kind(solver="lbfgs"), "partial_fit")


def test_one_held_out_row_is_refused():
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    with pytest.raises(th.errors.DataError, match="validation set is too small: 1 of 6 rows"):
        th.MLPRegressor(early_stopping=True, validation_fraction=0.1).fit(X, y)
