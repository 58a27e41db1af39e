"""A warning points at the line that called the library."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((50, 3))
Y = X @ [1.0, 2.0, 3.0] + RANDOM.standard_normal(50)


def warnings_of(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return caught


def test_fits_that_stop_early_point_here():
    for model in (th.HuberRegressor(max_iter=1), th.LogisticRegression(max_iter=1, tol=1e-12)):
        (warning,) = warnings_of(lambda model=model: model.fit(X, Y > 0))
        assert warning.category is ConvergenceWarning
        assert warning.filename == __file__


def test_so_do_other_warnings_of_fit():
    (warning,) = warnings_of(lambda: th.HuberRegressor().fit(X, Y[:, None]))
    assert warning.category is DataConversionWarning
    assert warning.filename == __file__


def _separable():
    th.LogisticRegression(C=np.inf).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def _one_column_too_few():
    th.OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit([[1.0, 1.0], [2.0, 2.0]], [1.0, 2.5])


def _reused():
    hold = th.HoldOut(np.arange(40.0)[:, None], np.arange(40) % 2)
    for model in (th.ConstantClassifier(), th.RidgeClassifier()):
        hold.error(model.fit(hold.X_train, hold.y_train))


def _inconsistent():
    th.HalfspaceLP(on_inconsistent="warn").fit([[0.0], [1.0], [2.0]], [0, 1, 0])


@pytest.mark.parametrize("work", [_separable, _one_column_too_few, _reused, _inconsistent])
def test_whatever_the_depth_it_comes_from(work):
    (warning,) = warnings_of(work)
    assert warning.filename == __file__
