"""What is no estimator is refused by name, before any work."""

import numpy as np
import pytest
import sklearn.svm

import thetahat as th

X = np.random.default_rng(0).standard_normal((60, 3))
Y = X[:, 0]
LABELS = (Y > 0).astype(int)


@pytest.mark.parametrize("model", [3, "Ridge", th.Ridge], ids=["number", "text", "class"])
@pytest.mark.parametrize(
    "call",
    [
        lambda model: th.evaluate(model, X, Y),
        lambda model: th.conformal(model, X, Y),
        lambda model: th.search(model, {"alpha": [1.0]}, X, Y),
        lambda model: th.tune(model, X, Y),
        lambda model: th.RANSACRegressor(model).fit(X, Y),
    ],
    ids=["evaluate", "conformal", "search", "tune", "RANSACRegressor"],
)
def test_what_is_no_estimator_is_refused(call, model):
    with pytest.raises(th.errors.ParameterError, match="not an estimator"):
        call(model)


@pytest.mark.parametrize(
    "model",
    [
        th.BaggingRegressor(n_estimators=2**31),
        th.RandomForestRegressor(n_estimators=2**31),
        th.ExtraTreesRegressor(n_estimators=2**31),
        th.AdaBoostRegressor(n_estimators=2**31),
        th.IsolationForest(n_estimators=2**31),
        th.DensityForest(n_estimators=2**31),
        th.DensityForest(n_candidates=2**31),
    ],
    ids=lambda model: type(model).__name__,
)
def test_more_members_than_memory_holds_are_refused(model):
    with pytest.raises(th.errors.ParameterError, match="whole number from 1 to 10000000"):
        model.fit(X, Y)


def test_more_draws_than_memory_holds_are_refused():
    with pytest.raises(MemoryError, match="Reduce max_samples"):
        th.BaggingRegressor(max_samples=2**40).fit(X, Y)


@pytest.mark.parametrize("rows", [np.float64(3), None, (row for row in X)])
def test_bagging_refuses_what_has_no_rows(rows):
    with pytest.raises(th.errors.DataError, match="got scalar array instead"):
        th.BaggingRegressor().fit(rows, Y)


def test_rows_of_several_lengths_are_refused_by_ensembles_of_trees():
    with pytest.raises(th.errors.DataError, match="row 0 has 2 entries and row 1 has 1 entry"):
        th.AdaBoostClassifier().fit([[1, 2], [3]], [0, 1])


@pytest.mark.parametrize("answer", [None, "a", [1.0, 2.0]], ids=["none", "text", "two"])
@pytest.mark.parametrize(
    ("named", "call"),
    [
        ("metric", lambda f: th.evaluate(th.Ridge(), X, X[:, 0], scoring=f)),
        ("oob_score", lambda f: th.RandomForestClassifier(5, oob_score=f).fit(X, LABELS)),
        ("oob_score", lambda f: th.RandomForestRegressor(5, oob_score=f).fit(X, X[:, 0])),
        ("loss", lambda f: th.RANSACRegressor(loss=f, random_state=0).fit(X, X[:, 0])),
        ("weights", lambda f: th.KNeighborsClassifier(weights=f).fit(X, LABELS).predict(X)),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_functions_that_return_no_number_are_named(named, call, answer):
    with pytest.raises(th.errors.ThetahatError, match=rf"{named}.* return"):
        call(lambda *given: answer)


@pytest.mark.parametrize("answer", ["a", [1.0, 2.0]], ids=["text", "two"])
def test_distance_functions_that_return_no_number_are_named(answer):
    model = th.KNeighborsClassifier(metric=lambda a, b: answer)
    with pytest.raises(th.errors.ThetahatError, match=r"distance function returned .* number"):
        model.fit(X, LABELS).predict(X)


@pytest.mark.parametrize("model", [th.RandomForestClassifier(), th.LogisticRegression()])
def test_an_array_is_no_switch(model):
    with pytest.raises(th.errors.ParameterError, match="warm_start"):
        model.set_params(warm_start=np.ones(3)).fit(X, LABELS)


def test_arrays_with_named_fields_are_no_rows():
    rows = np.zeros(10, dtype=[("height", float), ("width", float)])
    with pytest.raises(th.errors.DataError, match=r"named fields \(height, width\).*table"):
        th.BaggingClassifier().fit(rows, np.arange(10) % 2)


@pytest.mark.parametrize("error", [ValueError, TypeError])
def test_invalid_parameters_are_caught_as_those_of_scikit_learn(error):
    for library in (sklearn.svm, th):
        with pytest.raises(error):
            library.SVC(C=-1.0).fit([[0.0], [1.0]], [0, 1])
        with pytest.raises(error):
            library.SVC(C="much").fit([[0.0], [1.0]], [0, 1])
