"""Bagging of tables, several targets and any learner, and bad input."""

import numpy as np
import pytest
from sklearn.inspection import partial_dependence
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import thetahat as th
from tests.models.ensemble.bagging.bagging_data import LABELS, N, OnlyVotes, X, Y, bag, class_bag

# Kinds of input, and what learners may be.


def test_pipelines_on_tables_with_text():
    import pandas
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    frame = pandas.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > 0, "u", "v"))
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = bag(estimator=make_pipeline(columns, th.LinearRegression())).fit(frame, Y)
    assert model.score(frame, Y) > 0.7
    assert list(model.feature_names_in_) == [*"abcd", "kind"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


def test_columns_of_tables_are_drawn():
    import pandas
    import polars
    import pyarrow

    frame = pandas.DataFrame(X, columns=list("abcd"))
    expected = bag(max_features=2).fit(X, Y).predict(X)
    for table in (frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        model = bag(max_features=2).fit(table, Y)
        np.testing.assert_allclose(model.predict(table), expected, rtol=1e-9)
        rows = bag(max_features=2, estimator=KNeighborsRegressor())
        assert rows.fit(X, Y).score(X, Y) > 0.5


def test_several_targets():
    both = np.column_stack([Y, -Y])
    model = bag(oob_score=True, n_estimators=40).fit(X, both)
    np.testing.assert_allclose(model.predict(X)[:, 0], -model.predict(X)[:, 1], atol=1e-9)
    assert model.oob_prediction_.shape == both.shape
    assert model.oob_error().low > 0


def test_nested_parameters():
    model = bag(estimator=th.Ridge())
    model.set_params(estimator__alpha=3.0)
    assert model.get_params()["estimator__alpha"] == 3.0
    assert model.fit(X, Y).estimators_[0].alpha == 3.0


def test_partial_dependence_sees_the_bag():
    model = bag().fit(X, Y)
    found = partial_dependence(model, X, features=[1], grid_resolution=5)
    slope = np.diff(found["average"][0]) / np.diff(found["grid_values"][0])
    np.testing.assert_allclose(slope, 2.0, atol=0.2)


def test_metadata_reaches_members():
    from sklearn import config_context

    class Noted(th.Ridge):
        def fit(self, X, y=None, sample_weight=None, *, note=None):
            self.note_ = note
            return super().fit(X, y, sample_weight)

    with config_context(enable_metadata_routing=True):
        learner = Noted().set_fit_request(sample_weight=True, note=True)
        model = bag(estimator=learner).fit(X, Y, note=np.arange(N))
    assert all(len(member.note_) == N for member in model.estimators_)
    with pytest.raises(th.errors.ParameterError, match="enable_metadata_routing"):
        bag().fit(X, Y, note=1)


# Bad input.


def test_one_class_in_a_draw():
    """Logistic regression cannot learn one class, and the message says that the draw is why."""
    y = np.r_[["rare"], ["common"] * 59]
    with pytest.raises(th.errors.DataError, match=r"one class only, 'common'.*max_samples"):
        class_bag().fit(X[:60], y)
    model = class_bag(estimator=OnlyVotes()).fit(X[:60], y)
    assert model.predict_proba(X[:5]).shape == (5, 2)


def test_a_class_that_a_draw_misses():
    """Members that never met a class give it probability 0; nothing breaks."""
    y = np.r_[["rare"] * 2, LABELS[2:]]
    model = class_bag(n_estimators=30).fit(X, y)
    assert {len(member.classes_) for member in model.estimators_} == {3, 4}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0 must be a whole number from 1 to"),
        ({"max_samples": 1.5}, "max_samples=1.5 must be"),
        ({"max_features": 5}, "max_features=5 must be <= n_features, which is 4"),
        ({"max_samples": 1000, "bootstrap": False}, "1000 rows without replacement"),
        ({"oob_score": True, "bootstrap": False}, "only available if bootstrap=True"),
        ({"oob_score": True, "warm_start": True}, "only available if warm_start=False"),
        ({"estimator": "tree"}, "estimator='tree' must be an estimator with fit and predict"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        bag(**options).fit(X, Y)


def test_bad_targets_and_questions():
    spoilt = Y.copy()
    spoilt[7] = np.nan
    with pytest.raises(th.errors.DataError, match=r"Input y contains NaN.*row 7"):
        bag().fit(X, spoilt)
    with pytest.raises(th.errors.DataError, match=r"Input y contains NaN \(first at row 7\)"):
        class_bag().fit(X, spoilt)
    with pytest.raises(th.errors.DataError, match="requires y"):
        bag().fit(X)
    model = bag().fit(X, Y)
    with pytest.raises(th.errors.CapabilityError, match="oob_score=True"):
        model.oob_error()
    with pytest.raises(th.errors.ParameterError, match="level=2"):
        model.predict_interval(X, level=2)
    with pytest.raises(th.errors.ParameterError, match="kind='tolerance'"):
        model.predict_interval(X, kind="tolerance")
    with pytest.warns(UserWarning, match="few to learn from"):
        class_bag(max_samples=0.01, estimator=KNeighborsClassifier()).fit(X, LABELS)
