"""A given `categorical_features` lists all categorical columns; None lists none."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.ensemble
from numpy.testing import assert_array_equal

import thetahat as th
from thetahat.models.tree.growth.columns import TreeColumns

NONE = [None, [], [False, False], np.zeros(2, dtype=bool)]
every_none = pytest.mark.parametrize("none", NONE, ids=["None", "list", "mask", "array"])
MODELS = [
    (th.HistGradientBoostingRegressor, {"max_iter": 5, "min_samples_leaf": 2}),
    (th.HistGradientBoostingClassifier, {"max_iter": 5, "min_samples_leaf": 2}),
    (th.DecisionTreeRegressor, {}),
    (th.RandomForestClassifier, {"n_estimators": 3, "random_state": 0}),
]
every_model = pytest.mark.parametrize(
    ("kind", "options"), MODELS, ids=[kind.__name__ for kind, _ in MODELS]
)
CODES = np.tile([7, 3, 5, 9], 30)
Y = (CODES > 4).astype(int)
SIZES = np.linspace(0, 1, 120)


def numbers():
    """Categories that are numbers."""
    return pd.DataFrame({"code": pd.Categorical(CODES), "size": SIZES})


def texts(library):
    words = np.array(["low", "mid", "high", "top"])[CODES // 2 - 1].tolist()
    if library == "pandas":
        return pd.DataFrame({"size": SIZES, "word": pd.Categorical(words)})
    if library == "pandas ordered":
        return pd.DataFrame({"size": SIZES, "word": pd.Categorical(words, ordered=True)})
    if library == "pandas text":
        return pd.DataFrame({"size": SIZES, "word": words})
    column = pl.Series(words, dtype=pl.Enum(sorted(set(words))) if "Enum" in library else None)
    column = column if "Enum" in library else column.cast(pl.Categorical)
    return pl.DataFrame({"size": SIZES, "word": column})


@every_none
@every_model
def test_numeric_categories_are_then_numbers(kind, options, none):
    frame = numbers()
    model = kind(**options, categorical_features=none).fit(frame, Y)
    plain = frame.astype({"code": float})
    other = kind(**options).fit(plain, Y)
    assert not model._columns.categorical
    assert_array_equal(model.predict(frame), other.predict(plain))
    # A code between those of fit is a number like others, not an unknown category.
    between = pd.DataFrame({"code": pd.Categorical([4, 8]), "size": [0.5, 0.5]})
    assert_array_equal(model.predict(between), other.predict(between.astype({"code": float})))


@every_none
def test_is_categorical_as_in_scikit_learn(none):
    theirs = sklearn.ensemble.HistGradientBoostingRegressor(max_iter=2, categorical_features=none)
    ours = th.HistGradientBoostingRegressor(max_iter=2, categorical_features=none)
    assert ours.fit(numbers(), Y).is_categorical_ is None
    assert theirs.fit(numbers(), Y).is_categorical_ is None
    default = th.HistGradientBoostingRegressor(max_iter=2).fit(numbers(), Y)
    assert_array_equal(default.is_categorical_, [True, False])


@pytest.mark.parametrize(
    "library", ["pandas", "pandas ordered", "pandas text", "polars", "polars Enum"]
)
@every_none
@every_model
def test_text_is_then_refused(kind, options, none, library):
    with pytest.raises(
        th.errors.DataError,
        match=r"Column 'word' holds '\w+', but must hold numbers.*"
        r'Use categorical_features="from_dtype"',
    ):
        kind(**options, categorical_features=none).fit(texts(library), Y)


def test_columns_that_are_not_listed_are_numbers():
    frame = numbers().assign(other=pd.Categorical(CODES + 1))
    columns = TreeColumns.learn(frame, ["code"])
    assert columns.categorical == (0,)
    assert_array_equal(columns.read(frame)[:, 2], CODES + 1)
    with pytest.raises(th.errors.DataError, match=r"'word'.*categorical_features=\['size'\]"):
        TreeColumns.learn(texts("pandas"), ["size"])


def test_missing_and_unused_categories():
    values = pd.Categorical([2.5, None, 1.0], categories=[1.0, 2.5, "unused"])
    frame = pd.DataFrame({"a": values, "b": pd.Categorical([None] * 3)})
    read = TreeColumns.learn(frame, None).read(frame)
    assert_array_equal(read, [[2.5, np.nan], [np.nan, np.nan], [1.0, np.nan]])
    table = pa.table({"a": pa.array([20, None, 10]).dictionary_encode()})
    assert_array_equal(TreeColumns.learn(table, None).read(table)[:, 0], [20, np.nan, 10])


def test_text_at_prediction_is_refused_still():
    model = th.DecisionTreeRegressor(categorical_features=None).fit(numbers(), Y)
    given = pd.DataFrame({"code": pd.Categorical(["a", "b"]), "size": [0.5, 0.5]})
    with pytest.raises(th.errors.DataError, match=r"'code' is categorical.*numeric in fit"):
        model.predict(given)


def test_the_same_holds_for_rows_of_a_file(tmp_path):
    path = tmp_path / "rows.parquet"
    frame = numbers().assign(y=Y)
    frame.to_parquet(path)
    source = th.scan(path, target="y")
    model = th.HistGradientBoostingRegressor(max_iter=5, categorical_features=None)
    model.fit(source)
    inside = th.HistGradientBoostingRegressor(max_iter=5).fit(
        numbers().astype({"code": float}), Y.astype(float)
    )
    assert model.is_categorical_ is None
    assert_array_equal(model.predict(numbers()), inside.predict(numbers().astype(float)))
    assert_array_equal(np.asarray(model.predict(source)), model.predict(numbers()))
    texts("pandas").assign(y=Y).to_parquet(path)
    with pytest.raises(th.errors.DataError, match=r"Column 'word' holds.*from_dtype"):
        model.fit(th.scan(path, target="y"))
    with pytest.raises(th.errors.DataError, match=r"'word' is categorical.*numeric in fit"):
        th.HistGradientBoostingRegressor(max_iter=2).fit(
            pd.DataFrame({"size": SIZES, "word": CODES * 1.0}), Y
        ).predict(th.scan(path, target="y"))
