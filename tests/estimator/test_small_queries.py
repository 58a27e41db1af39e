"""Few rows are checked in short; what does not pass goes through the general validation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import thetahat as th
from thetahat.estimator import base

MODELS = (
    th.LinearRegression(),
    th.LogisticRegression(),
    th.SVC(),
    th.SVR(),
    th.KNeighborsClassifier(),
    th.KNeighborsRegressor(),
    th.KernelRidge(kernel="rbf"),
    th.KernelModel(),
    th.GaussianProcessRegressor(optimizer=None),
)
by_name = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


def table(n=40):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3))
    return X, (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(float)


def fitted(model, frame=False):
    X, y = table()
    return type(model)(**model.get_params()).fit(
        pd.DataFrame(X, columns=[*"abc"]) if frame else X, y
    )


@by_name
def test_few_rows_give_the_same_bits_as_through_the_general_validation(model, monkeypatch):
    X, _ = table()
    model = fitted(model)
    for few in (X[:1] + 0.1, X[:7], X[::2], np.asfortranarray(X[:5]), X[:2].astype(np.float32)):
        short = model.predict(few)
        with monkeypatch.context() as patch:
            patch.setattr(base, "DIRECT_SIZE", 0)
            general = model.predict(few)
        assert short.dtype == general.dtype
        np.testing.assert_array_equal(short, general)


@by_name
def test_few_sound_rows_skip_the_general_validation(model, monkeypatch):
    X, _ = table()
    model = fitted(model)
    monkeypatch.setattr(base, "as_features", None)
    assert model.predict(X[:1]).shape == (1,)


@by_name
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_entries_of_few_rows_are_refused(model, value):
    X = table()[0][:2]
    X[1, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infin"):
        fitted(model).predict(X)


@by_name
def test_few_rows_of_another_shape_are_refused(model):
    X, _ = table()
    model = fitted(model)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:1, :2])
    with pytest.raises(ValueError, match="2D"):
        model.predict(X[0])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
    if isinstance(model, th.GaussianProcessRegressor):
        return  # before the fit it predicts by its prior
    with pytest.raises(NotFittedError):
        type(model)(**model.get_params()).predict(X[:1])


@by_name
def test_few_rows_without_names_warn_where_fit_had_names(model):
    with pytest.warns(UserWarning, match="feature names"):
        fitted(model, frame=True).predict(table()[0][:1])


@by_name
def test_few_rows_of_other_numbers_are_converted(model):
    X = np.round(table()[0][:3] * 4)
    model = fitted(model)
    for same in (X.astype(">f8"), X.astype(np.int64), X.tolist()):
        np.testing.assert_array_equal(model.predict(same), model.predict(X))


def test_numbers_whose_squares_overflow_are_still_accepted():
    X, y = table()
    model = th.LinearRegression().fit(X, y)
    assert np.isfinite(model.predict([[1e200, 0.0, 0.0]])).all()
    assert np.isfinite(model.predict(np.array([[1e200, 0.0, 0.0]]))).all()
