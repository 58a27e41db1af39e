"""What multilayer perceptrons refuse, and the smallest of data."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.neural.mlp_data import X_IRIS, Y_IRIS, both, quietly


@both
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"hidden_layer_sizes": (3, 0)}, "hidden_layer_sizes must be > 0, but an entry is 0"),
        ({"hidden_layer_sizes": -1}, "hidden_layer_sizes=-1 must be a whole number ≥ 1"),
        ({"hidden_layer_sizes": (2.5,)}, "an entry is 2.5"),
        ({"activation": "sinus"}, "activation='sinus' is not known"),
        (
            {"activation": ("tanh", "relu")},
            "activation must have one entry for each number of units",
        ),
        ({"activation": "step"}, "derivative of 0 everywhere"),
        ({"learning_rate_init": 0}, "learning_rate_init=0 must be a number > 0"),
        ({"learning_rate_init": 1e200}, "must be a number > 0 and at most 1e\\+100"),
        ({"solver": "newton"}, "solver='newton' must be one of"),
        ({"dropout": 1.0}, "dropout=1.0 must be a number ≥ 0 and less than 1"),
        ({"solver": "lbfgs", "dropout": 0.5}, "dropout and batch normalisation change it"),
        ({"solver": "lbfgs", "penalty": "l1"}, "takes penalty='l2' or None"),
        ({"hidden_layer_sizes": (10**7, 10**7)}, "the weights of the network"),
        ({"hidden_layer_sizes": (3, th.neural.Residual([th.neural.Dense(2)]))}, "2 outputs for 3"),
        ({"loss": "zero_one"}, "loss"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_before_the_fit(kind, params, message):
    with pytest.raises((ValueError, MemoryError), match=message):
        kind(**params).fit(X_IRIS, Y_IRIS)


@both
def test_wrong_data_are_refused(kind):
    X = X_IRIS.copy()
    X[3, 1] = np.nan
    with pytest.raises(th.errors.DataError, match="NaN"):
        kind().fit(X, Y_IRIS)
    with pytest.raises(th.errors.DataError, match="weights are zero"):
        kind().fit(X_IRIS, Y_IRIS, np.zeros(150))
    model = quietly(kind(max_iter=2, random_state=0), X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match="4 features"):
        model.predict(X_IRIS[:, :3])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X_IRIS[:, :3], Y_IRIS)
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'"):
        kind(solver="lbfgs").partial_fit(X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match="partial_fit does not support early_stopping=True"):
        kind(early_stopping=True).partial_fit(X_IRIS, Y_IRIS)


def test_one_row_one_class_and_losses_of_the_other_kind():
    model = quietly(th.MLPRegressor(random_state=0, max_iter=400), [[1.0, 2.0]], [3.0])
    assert model.predict([[1.0, 2.0]])[0] == pytest.approx(3.0, abs=0.1)
    with pytest.raises(th.errors.DataError, match="one class only"):
        th.MLPClassifier().fit(X_IRIS, np.ones(150))
    with pytest.raises(th.errors.ParameterError, match="is a loss for numbers"):
        th.MLPClassifier(loss="squared").fit(X_IRIS, Y_IRIS)
    with pytest.raises(th.errors.ParameterError, match="is a loss for classes"):
        th.MLPRegressor(loss="softmax").fit(X_IRIS, Y_IRIS)
    with pytest.raises(th.errors.DataError, match="negative"):
        th.MLPRegressor(loss="poisson").fit(X_IRIS, X_IRIS[:, 0])
    with pytest.raises(th.errors.DataError, match=r"would hold out 1 of 1 row; both"):
        th.MLPRegressor(early_stopping=True).fit([[1.0]], [1.0])
    with pytest.raises(th.errors.DataError, match="a class has one row only"):
        th.MLPClassifier(early_stopping=True).fit(X_IRIS, np.arange(150) == 7)
    with pytest.raises(th.errors.DataError, match="differ from those of the first call"):
        th.MLPClassifier().partial_fit([[0.0]], [0], classes=[0, 1]).partial_fit(
            [[0.0]], [1], classes=[1, 2]
        )
    with pytest.raises(th.errors.DataError, match="each must hold 0 or 1 only"):
        th.MLPClassifier().fit(X_IRIS, np.column_stack([Y_IRIS, Y_IRIS]))


@pytest.mark.parametrize(
    ("kind", "loss", "remedy"),
    [
        (th.MLPRegressor, "absolute", "huber"),
        (th.MLPClassifier, "hinge", "squared_hinge"),
        (th.Autoencoder, "quantile", "huber"),
    ],
)
def test_losses_with_kinks_and_lbfgs(kind, loss, remedy):
    """The remedies are settings that the model has."""
    model = kind(loss=loss, solver="lbfgs", random_state=0, max_iter=1)
    with pytest.raises(
        th.errors.CapabilityError,
        match=f"{kind.__name__}: .*loss='{loss}' has a kink. Use solver='adam', .*'{remedy}'",
    ):
        model.fit(X_IRIS, Y_IRIS)
    quietly(model.set_params(solver="adam"), X_IRIS, Y_IRIS)
    quietly(model.set_params(solver="lbfgs", loss=remedy), X_IRIS, Y_IRIS)


@both
def test_the_limit_of_lbfgs_that_was_reached_is_named(kind):
    options = {"solver": "lbfgs", "random_state": 0, "hidden_layer_sizes": (5,)}
    with pytest.warns(ConvergenceWarning, match=r"max_fun=2 was reached .*Raise max_fun or tol"):
        kind(**options, max_fun=2).fit(X_IRIS, Y_IRIS)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or tol"):
        kind(**options, max_iter=2).fit(X_IRIS, Y_IRIS)
    assert kind(**options, max_iter=2, tol=None).fit(X_IRIS, Y_IRIS).n_iter_ == 2


def test_a_fit_that_continues_says_what_differs():
    X, Y = X_IRIS, np.column_stack([Y_IRIS == label for label in range(3)]).astype(int)
    model = quietly(th.MLPClassifier((3,), max_iter=2, random_state=0), X, Y_IRIS)
    cases = [
        (model, {"hidden_layer_sizes": (4,)}, Y_IRIS, r"layers \[Dense\(units=3.*Dense\(units=4"),
        (model, {}, Y, "fitted to one label per row, but y has several labels"),
        (quietly(clone(model), X, Y), {}, Y_IRIS, "several labels per row, but y has one label"),
    ]
    for each, params, y, message in cases:
        with pytest.raises(th.errors.DataError, match=message):
            clone_of(each).set_params(**params).partial_fit(X, y)
        with pytest.raises(th.errors.DataError, match=message):
            clone_of(each).set_params(**params, warm_start=True).fit(X, y)
    numbers = quietly(th.MLPRegressor(hidden_layer_sizes=(3,), max_iter=2), X, Y_IRIS)
    with pytest.raises(th.errors.DataError, match="has 1 output, but y needs 3 outputs"):
        numbers.partial_fit(X, Y)
    with pytest.raises(th.errors.DataError, match="another number of columns, but X has 2"):
        numbers.set_params(warm_start=True).fit(X[:, :2], Y_IRIS)


def clone_of(model):
    """A fitted copy."""
    return pickle.loads(pickle.dumps(model))


def test_classes_of_the_first_batch():
    Y = np.column_stack([Y_IRIS == 0, Y_IRIS == 1]).astype(int)
    with pytest.raises(th.errors.ParameterError, match="classes=3 must be a sequence of all"):
        th.MLPClassifier().partial_fit(X_IRIS, Y_IRIS, classes=3)
    with pytest.raises(th.errors.DataError, match=r"numbers of the columns, \[0, 1\], but classes"):
        th.MLPClassifier().partial_fit(X_IRIS, Y, classes=[0, 1, 2])
    th.MLPClassifier().partial_fit(X_IRIS, Y, classes=[0, 1])
