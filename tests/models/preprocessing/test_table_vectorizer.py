"""Tables of mixed columns as one matrix: what each kind becomes, whatever library holds it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import thetahat as th

SIZE = [1.0, None, 3.0, 8.0]
COLOUR = ["red", "blue", None, "red"]
GRADE = ["low", "high", "low", "high"]
DAY = ["2024-01-01", "2024-01-08", None, "2024-03-05"]
WORDS = ["a good film it was", "a bad film it was", "no film at all here", "a good thing it was"]


def polars_table():
    return pl.DataFrame(
        {
            "size": SIZE,
            "colour": COLOUR,
            "grade": pl.Series(GRADE, dtype=pl.Enum(["low", "high"])),
            "day": pl.Series(DAY).str.to_date(),
            "words": WORDS,
        }
    )


def pandas_table():
    return pd.DataFrame(
        {
            "size": SIZE,
            "colour": COLOUR,
            "grade": pd.Categorical(GRADE, ["low", "high"], ordered=True),
            "day": pd.to_datetime(DAY),
            "words": WORDS,
        }
    )


TABLES = {
    "polars": polars_table,
    "pandas": pandas_table,
    "arrow": lambda: polars_table().to_arrow(),
}


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


@pytest.mark.parametrize("kind", TABLES)
def test_every_library_gives_the_same_matrix(kind):
    vectorizer = th.TableVectorizer()
    got = dense(vectorizer.fit_transform(TABLES[kind]()))
    expected = dense(th.TableVectorizer().fit_transform(polars_table()))
    if kind == "arrow":  # polars exports an Enum to it as unordered text
        expected = dense(
            th.TableVectorizer({"grade": vectorizer.kinds_["grade"]}).fit_transform(polars_table())
        )
    np.testing.assert_allclose(got, expected)


def test_what_each_kind_becomes():
    vectorizer = th.TableVectorizer().fit(polars_table().drop("words"))
    assert vectorizer.kinds_ == {
        "size": "numeric",
        "colour": "categorical",
        "grade": "ordinal",
        "day": "date",
    }
    names = vectorizer.get_feature_names_out().tolist()
    assert names == [
        "size",
        "size=(missing)",
        "colour=blue",
        "colour=red",
        "colour=(missing)",
        "grade",
        "day: days",
        "day: month",
        "day: weekday",
    ]
    matrix = vectorizer.transform(polars_table().drop("words"))
    columns = dict(zip(names, matrix.T, strict=True))
    filled = np.array([1.0, 3.0, 3.0, 8.0])  # the median in the gap
    np.testing.assert_allclose(columns["size"], (filled - filled.mean()) / filled.std())
    np.testing.assert_array_equal(columns["size=(missing)"], [0, 1, 0, 0])
    np.testing.assert_array_equal(columns["colour=red"], [1, 0, 0, 1])
    np.testing.assert_array_equal(columns["colour=(missing)"], [0, 0, 1, 0])
    np.testing.assert_allclose(columns["grade"], [-1, 1, -1, 1])


def test_parts_of_dates():
    table = pl.DataFrame({"when": ["2024-01-01 06:00:00", "2024-02-04 23:00:00", None]})
    table = table.with_columns(pl.col("when").str.to_datetime())
    matrix = th.TableVectorizer(encoding="codes").fit_transform(table)
    # Days since 1970, month, weekday (Monday is 0), hour.
    np.testing.assert_array_equal(matrix, [[19723, 1, 0, 6], [19757, 2, 6, 23], [np.nan] * 4])


def test_text_is_weighed_by_its_words():
    matrix = th.TableVectorizer().fit_transform(polars_table().select("words"))
    assert sp.issparse(matrix)
    np.testing.assert_allclose(np.sqrt(matrix.multiply(matrix).sum(axis=1)), 1.0)
    empty = pl.DataFrame({"words": [None, "", None]}, schema={"words": pl.String})
    kept = th.TableVectorizer({"words": "text"}).fit(empty)
    assert kept.transform(empty).nnz == 0


def test_many_indicators_are_sparse_and_many_numbers_are_not():
    random = np.random.default_rng(0)
    names = [f"c{j}" for j in range(300)]
    words = pl.DataFrame(random.choice(["a", "b", "c"], (40, 300)), schema=names)
    matrix = th.TableVectorizer().fit_transform(words)
    assert sp.issparse(matrix)
    assert matrix.shape == (40, 900)
    np.testing.assert_allclose(matrix.sum(axis=1), 300)
    numbers = pl.DataFrame(random.standard_normal((40, 300)), schema=names)
    assert isinstance(th.TableVectorizer().fit_transform(numbers), np.ndarray)


def test_codes_for_trees_keep_the_places_of_the_columns():
    vectorizer = th.TableVectorizer(encoding="codes")
    matrix = vectorizer.fit_transform(polars_table().select("day", "size", "colour", "grade"))
    assert vectorizer.get_feature_names_out().tolist()[:3] == ["size", "colour", "grade"]
    assert vectorizer.categorical_columns_ == [1]
    np.testing.assert_array_equal(matrix[:, 0], [1, np.nan, 3, 8])
    np.testing.assert_array_equal(matrix[:, 1], [1, 0, np.nan, 1])
    np.testing.assert_array_equal(matrix[:, 2], [0, 1, 0, 1])


def test_categories_that_were_not_there():
    seen = pl.DataFrame({"c": ["a"] * 5 + ["b"] * 5 + ["x", "y"]})
    new = pl.DataFrame({"c": ["a", "z", "z", "x"]})
    rare = th.TableVectorizer(min_share=0.2).fit(seen)
    assert rare.get_feature_names_out().tolist() == ["c=a", "c=b", "c=(other)"]
    np.testing.assert_array_equal(rare.transform(new)[:, 2], [0, 1, 1, 1])
    assert rare.unseen(new) == {"c": {"z": 2}}
    codes = th.TableVectorizer(encoding="codes").fit(seen)
    np.testing.assert_array_equal(codes.transform(new)[:, 0], [0, np.nan, np.nan, 2])


def test_two_categories_are_one_column():
    table = pl.DataFrame({"c": ["a", "b", "b"]})
    vectorizer = th.TableVectorizer().fit(table)
    assert vectorizer.get_feature_names_out().tolist() == ["c=b"]
    np.testing.assert_array_equal(vectorizer.transform(table), [[0], [1], [1]])


def test_numbers_of_an_array():
    x = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 4.0]])
    matrix = th.TableVectorizer().fit_transform(x)
    assert matrix.shape == (3, 3)
    np.testing.assert_allclose(matrix[:, 0].mean(), 0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": {"size": "colour"}}, "must be one of 'numeric'"),
        ({"kinds": dict.fromkeys(["size"], "drop")}, "Keep at least one"),
        ({"encoding": "magic"}, "encoding='magic'"),
        ({"min_share": 2}, "min_share"),
    ],
    ids=["kind", "all dropped", "encoding", "share"],
)
def test_refusals(options, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        th.TableVectorizer(**options).fit(polars_table().select("size"))


def test_other_columns_are_refused():
    vectorizer = th.TableVectorizer().fit(polars_table())
    with pytest.raises(ValueError, match="feature names"):
        vectorizer.transform(polars_table().drop("size"))
    with pytest.raises(TypeError, match="sparse"):
        th.TableVectorizer().fit(sp.csr_array(np.eye(3)))
    with pytest.raises(th.errors.DataError, match="0 sample"):
        th.TableVectorizer().fit(polars_table().head(0))
