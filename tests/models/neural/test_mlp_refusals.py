"""What multilayer perceptrons refuse, and the smallest of data."""

import numpy as np
import pytest

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
    with pytest.raises(th.errors.DataError, match="would hold out"):
        th.MLPRegressor(early_stopping=True).fit([[1.0]], [1.0])
    with pytest.raises(th.errors.DataError, match="differ from those of the first call"):
        th.MLPClassifier().partial_fit([[0.0]], [0], classes=[0, 1]).partial_fit(
            [[0.0]], [1], classes=[1, 2]
        )
    with pytest.raises(th.errors.DataError, match="each must hold 0 or 1 only"):
        th.MLPClassifier().fit(X_IRIS, np.column_stack([Y_IRIS, Y_IRIS]))
