"""`check_input` of scikit-learn is accepted and changes nothing."""

import numpy as np
import pytest

import thetahat as th

X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]])
TREES = [
    th.DecisionTreeClassifier,
    th.DecisionTreeRegressor,
    th.ExtraTreeClassifier,
    th.ExtraTreeRegressor,
]


@pytest.mark.parametrize("kind", TREES)
def test_trees_take_check_input(kind):
    plain = kind(random_state=0).fit(X, [0, 0, 1, 1])
    model = kind(random_state=0).fit(X, [0, 0, 1, 1], check_input=False)
    for method in ("predict", "apply", "predict_proba"):
        if hasattr(model, method):
            np.testing.assert_array_equal(
                getattr(model, method)(X, check_input=False), getattr(plain, method)(X)
            )
    paths = model.decision_path(X, check_input=False)
    np.testing.assert_array_equal(paths.toarray(), plain.decision_path(X).toarray())
    assert not hasattr(model, "set_predict_request")  # it is not metadata


@pytest.mark.parametrize("kind", [th.Lasso, th.ElasticNet])
def test_lassos_take_check_input(kind):
    y = X[:, 0] - X[:, 1]
    np.testing.assert_array_equal(
        kind(alpha=0.1).fit(X, y, check_input=False).coef_, kind(alpha=0.1).fit(X, y).coef_
    )
    with pytest.raises(ValueError, match="NaN"):
        kind().fit(X * np.nan, y, check_input=False)


def test_forests_show_the_tree_they_are_made_of():
    model = th.RandomForestClassifier(max_depth=3)
    assert isinstance(model.estimator, th.DecisionTreeClassifier)
    assert model.estimator.max_depth == 3
