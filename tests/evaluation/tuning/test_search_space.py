"""Time limits and the settings that are tried."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import thetahat as th
from thetahat.catalog import estimators
from thetahat.evaluation.tuning.search_space import settings_of, space_of
from thetahat.evaluation.tuning.time_limit import seconds_of
from thetahat.foundation.errors import ParameterError

BOOSTING = {
    *("learning_rate", "n_estimators", "max_depth"),
    *("min_samples_leaf", "subsample", "max_features"),
}


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [("90s", 90), ("5m", 300), ("1h", 3600), ("1.5H", 5400), ("7", 7), (" 2 m ", 120), (3, 3)],
)
def test_time_limits(limit, seconds):
    assert seconds_of(limit) == seconds


@pytest.mark.parametrize(
    "limit", ["", "m", "5 minutes", "-5m", -1, np.inf, True, None, "1e3s", -(10**400)]
)
def test_refused_time_limits(limit):
    with pytest.raises(ParameterError, match='"90s", "5m" or "1h"'):
        seconds_of(limit)


def test_the_last_step_of_a_pipeline_is_tuned():
    model = TransformedTargetRegressor(th.KNeighborsRegressor(), transformer=StandardScaler())
    pipeline = Pipeline([("scale", StandardScaler()), ("model", model)])
    found = space_of(pipeline)
    assert set(found) == {
        "model__regressor__n_neighbors",
        "model__regressor__weights",
        "model__regressor__p",
    }
    pipeline.set_params(**{name: values[-1] for name, values in found.items()})


@pytest.mark.parametrize(
    "name",
    [name for name, kind in estimators().items() if "." not in name and kind._search_space],
)
def test_declared_spaces_name_parameters(name):
    kind = estimators()[name]
    parameters = kind._example().get_params(deep=False)
    assert set(kind._search_space) <= set(parameters)
    assert all(len(values) == len(set(map(repr, values))) for values in kind._search_space.values())


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Ridge", {"alpha"}),
        ("RidgeClassifier", {"alpha"}),
        ("Lasso", {"alpha"}),
        ("ElasticNet", {"alpha", "l1_ratio"}),
        ("SGDClassifier", {"alpha"}),
        ("SGDRegressor", {"alpha"}),
        ("LinearSVC", {"C"}),
        ("LinearSVR", {"C"}),
        ("PoissonRegressor", {"alpha"}),
        ("QuantileRegressor", {"alpha"}),
        ("RobustRegressor", {"alpha"}),
    ],
)
def test_penalised_linear_models_declare_a_space(name, parameters):
    assert set(space_of(getattr(th, name)())) == parameters


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("SVC", {"C", "gamma"}),
        ("SVR", {"C", "gamma", "epsilon"}),
        ("KernelRidge", {"alpha", "kernel", "gamma"}),
        ("DecisionTreeClassifier", {"max_depth", "min_samples_leaf", "criterion"}),
        ("DecisionTreeRegressor", {"max_depth", "min_samples_leaf"}),
        ("GradientBoostingClassifier", BOOSTING),
        ("GradientBoostingRegressor", BOOSTING),
    ],
)
def test_kernel_machines_and_trees_declare_a_space_whose_values_can_be_fitted(name, parameters):
    model = getattr(th, name)()
    space = space_of(model)
    assert set(space) == parameters
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0 if is_classifier(model) else X[:, 0]
    short = {"n_estimators": 3} if "n_estimators" in model.get_params() else {}
    for parameter, values in space.items():
        for value in values:
            clone(model).set_params(**(short | {parameter: value})).fit(X, y)


@pytest.mark.parametrize("name", ["RidgeCV", "LassoCV", "ElasticNetCV", "Perceptron"])
def test_models_that_choose_their_penalty_or_have_none_declare_nothing(name):
    assert not space_of(getattr(th, name)())


class TestSettings:
    def test_the_model_as_it_is_comes_first_and_none_twice(self):
        space = {"n_neighbors": (1, 5, 9), "weights": ("uniform", "distance")}
        found = settings_of(th.KNeighborsRegressor(), space, 100, np.random.default_rng(0))
        assert found[0] == {}
        assert len(found) == 6  # (5, "uniform") is the model as it is
        assert {"n_neighbors": 5, "weights": "uniform"} not in found
        assert len({repr(each) for each in found}) == 6

    def test_random_settings_of_a_large_space(self):
        model = th.HistGradientBoostingRegressor()
        space = space_of(model)
        found = settings_of(model, space, 18, np.random.default_rng(0))
        assert len(found) == 18
        assert all(each[name] in space[name] for each in found[1:] for name in space)
        assert found == settings_of(model, space, 18, np.random.default_rng(0))

    def test_nothing_to_tune(self):
        assert settings_of(th.LinearRegression(), {}, 18, np.random.default_rng(0)) == [{}]


@pytest.mark.parametrize(
    "model",
    [
        th.KernelRidge(kernel="precomputed"),
        th.SVC(kernel="precomputed"),
        th.KNeighborsRegressor(metric="precomputed"),
    ],
    ids=repr,
)
def test_of_matrices_between_rows_the_same_columns_are_taken(model):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    distances, products = np.linalg.norm(X[:, None] - X, axis=2), X @ X.T
    nearest = hasattr(model, "n_neighbors")
    plain = {"metric": "euclidean"} if nearest else {"kernel": "linear"}
    name = "n_neighbors" if nearest else "C" if hasattr(model, "C") else "alpha"
    space = {name: [1, 2, 3]}
    matrix = distances if nearest else products
    given = th.tune(model, matrix, y, space=space)
    rows = th.tune(clone(model).set_params(**plain), X, y, space=space)
    assert given.chosen == rows.chosen
    np.testing.assert_allclose(given.scores, rows.scores, atol=1e-6)
    piped = make_pipeline(clone(model))
    step = {f"{piped.steps[0][0]}__{name}": values for name, values in space.items()}
    assert th.tune(piped, matrix, y, space=step).scores == given.scores
    if hasattr(model, "C"):
        models = {"given": model, "rows": th.SVC(kernel="linear")}
        both = th.compare(models, products, y, cv=3, time_limit=60.0).evaluations
        assert both["given"].scores["accuracy"].min() > 0.7
