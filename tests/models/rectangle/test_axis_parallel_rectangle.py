"""The tightest box around the positive rows."""

import numpy as np
import pytest

import thetahat as th


def test_the_tightest_box_has_no_error_on_positive_rows():
    X = np.random.default_rng(1).random((200, 2))
    y = ((X > 0.2) & (X < 0.8)).all(axis=1).astype(int)
    box = th.AxisParallelRectangle().fit(X, y)
    assert (box.predict(X) == y).all()
    assert box.consistent_
    np.testing.assert_array_equal(box.low_, X[y == 1].min(axis=0))
    y[np.argmax(y == 1)], flipped = 0, np.argmax(y == 1)
    again = th.AxisParallelRectangle().fit(X, y)
    assert again.n_inside_ == int(again.decision_function(X[[flipped]])[0] > 0)


def test_a_box_says_when_it_cannot_be_right():
    box = th.AxisParallelRectangle().fit([[0.0], [1.0], [2.0]], [1, 0, 1])
    assert not box.consistent_
    assert box.n_inside_ == 1
    with pytest.raises(th.errors.DataError, match="3 classes"):
        th.AxisParallelRectangle().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
