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


def test_a_column_of_targets_is_one_target():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = th.MLPRegressor(hidden_layer_sizes=(4,), tol=1.0, random_state=0).fit(X, X[:, :1])
    assert model.predict(X).shape == (40,)


def test_many_rare_classes_with_early_stopping():
    X = np.random.default_rng(0).normal(size=(300, 8))
    model = th.MLPClassifier((5,), early_stopping=True, n_iter_no_change=2, tol=1.0)
    assert len(model.fit(X, np.repeat(np.arange(50), 6)).validation_scores_) >= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden_layer_sizes": 1.5}, r"=1\.5 must be a whole number ≥ 1, or a sequence"),
        ({"hidden_layer_sizes": "10"}, r"='10' must be a whole number ≥ 1, or a sequence"),
        (
            {"hidden_layer_sizes": (1.5,)},
            r"must hold whole numbers or layers, but an entry is 1\.5",
        ),
        ({"hidden_layer_sizes": (0,)}, "must be > 0, but an entry is 0"),
        ({"activation": 3}, "activation=3 is neither an activation nor the name of one"),
        ({"activation": ("relu", "tanh")}, "which is 1, but it has 2"),
    ],
)
def test_messages_about_layers_and_activations(options, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.MLPRegressor(**options).fit(np.eye(5), np.arange(5.0))
