"""Partitions of Dask that hold no rows, other columns or bad weights: errors that name them."""

import numpy as np
import pandas as pd
import pytest

import thetahat as th
from tests.dask_rows import synchronous  # noqa: F401
from thetahat.errors import DataError

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
delayed = pytest.importorskip("dask").delayed


def table(n_rows=60):
    random = np.random.default_rng(0)
    return pd.DataFrame(random.standard_normal((n_rows, 3)), columns=["a", "b", "y"])


def parts(*values):
    return [delayed(each, traverse=False) for each in values]


X, Y = table()[["a", "b"]].to_numpy(), table()["y"].to_numpy()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((parts("hi"), parts("ho")), r"partition 0 of X is of type str \('hi'\)"),
        ((parts(None), parts(None)), "partition 0 of X is of type NoneType"),
        ((parts(X, 3.0), parts(Y, Y)), "partition 1 of X is of type float"),
        ((parts(X, X), parts(Y, None)), "partition 1 of y is of type NoneType"),
        ((parts(X, X), parts(None, Y)), "partition 0 of y is of type NoneType"),
        ((parts(X, X), parts(Y > 0, "no")), "partition 1 of y is of type str"),
        ((parts(X), parts(Y), parts(3)), "partition 0 of sample_weight is of type int"),
        ((parts(X, Y), parts(Y, Y)), "partition 1 of X: Expected 2D array, got 1D array"),
    ],
)
def test_what_is_no_array_is_named(given, message):
    with pytest.raises(DataError, match=message):
        th.Ridge().fit(th.from_dask(*given))


def test_a_partition_of_labels_that_is_no_array_is_named():
    labels = np.where(Y > 0, "yes", "no")
    with pytest.raises(DataError, match="partition 1 of y is of type str"):
        th.LogisticRegression().fit(th.from_dask(parts(X, X), parts(labels, "yes")))


def test_a_partition_of_a_known_length_may_be_no_array_either():
    rows = da.from_array(X, chunks=(30, 2)).map_blocks(
        lambda block, block_id: None if block_id[0] == 1 else block, meta=np.empty((0, 0))
    )
    with pytest.raises(DataError, match="partition 1 of X is of type NoneType"):
        th.Ridge().fit(rows, da.from_array(Y, chunks=30))


def test_a_partition_with_other_columns_than_its_meta_is_named():
    whole = table()
    frame = dd.from_delayed(
        parts(whole, whole.rename(columns={"a": "q"})), meta=whole.iloc[:0], verify_meta=False
    )
    with pytest.raises(DataError, match=r"partition 1 \(from row 60 on\) has 3 columns \('q'"):
        th.KMeans(2).fit(frame)
    with pytest.raises(DataError, match=r"partition 1 of the Dask dataframe.*meta \('a', 'b'\)"):
        th.from_dask(frame, target="y")


def test_columns_of_the_same_name_are_refused():
    frame = dd.from_pandas(table().set_axis(["a", "a", "y"], axis=1), npartitions=2)
    for make in (
        lambda: th.from_dask(frame, target="y"),
        lambda: th.from_dask(frame),
        lambda: th.KMeans(2).fit(frame),
    ):
        with pytest.raises(DataError, match=r"2 columns named 'a'.*must be distinct\. Rename"):
            make()
    frame = dd.from_pandas(table(), npartitions=2)
    with pytest.raises(DataError, match="features names column 'a' twice"):
        th.from_dask(frame, target="y", features=["a", "b", "a"])


MODELS = [th.Ridge(), th.HistGradientBoostingRegressor(max_iter=2), th.RandomForestRegressor(2)]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@each_model
def test_weights_of_zero_are_the_same_error_as_in_memory(model):
    rows, y = da.from_array(X, chunks=(30, 2)), da.from_array(Y, chunks=30)
    with pytest.raises(DataError, match="all sample weights are zero"):
        model.fit(rows, y, da.zeros(60, chunks=30))


@each_model
def test_a_fit_without_a_target_says_how_to_give_it(model):
    with pytest.raises(DataError, match=r"needs a target.*Pass y.*th\.from_dask\(X, y\)"):
        model.fit(da.from_array(X, chunks=(30, 2)))


def test_negative_weights_are_counted_in_their_partition():
    weight = np.ones(60)
    weight[[40, 50]] = -1.0
    rows, y = da.from_array(X, chunks=(30, 2)), da.from_array(Y, chunks=30)
    message = r"2 of 30 sample weights of partition 1 are negative \(first at row 40: -1\)"
    with pytest.raises(DataError, match=message):
        th.Ridge().fit(rows, y, da.from_array(weight, chunks=30))


TWO = np.column_stack([Y, Y])
TEXT = np.where(Y > 0, "yes", "no")


@pytest.mark.parametrize("wide", [TWO, pd.DataFrame(TWO, columns=["a", "b"]), TWO[..., None]])
def test_each_row_has_one_weight(wide):
    message = r"partition 1 of sample_weight has shape \(60, 2.*\(60,\) or \(60, 1\) is expected"
    with pytest.raises(DataError, match=message):
        th.Ridge().fit(th.from_dask(parts(X, X), parts(Y, Y), parts(abs(Y), abs(wide))))


def test_a_column_of_weights_is_taken():
    rows = th.from_dask(parts(X, X), parts(Y, Y), parts(abs(Y), abs(Y)[:, None]))
    expected = th.Ridge().fit(np.vstack([X, X]), np.r_[Y, Y], abs(np.r_[Y, Y]))
    np.testing.assert_allclose(th.Ridge().fit(rows).coef_, expected.coef_)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (Y, TWO, r"shape \(60, 2\), but \(60,\) or \(60, 1\) is expected"),
        (TWO, Y, r"shape \(60,\), but \(60, 2\) is expected"),
        (TWO, np.column_stack([TWO, Y]), r"shape \(60, 3\), but \(60, 2\) is expected"),
        (TEXT, np.column_stack([TEXT, TEXT]), r"shape \(60, 2\), but \(60,\)"),
        (TEXT, pd.DataFrame({"a": TEXT, "b": TEXT}), r"shape \(60, 2\), but \(60,\)"),
    ],
)
def test_all_targets_have_the_same_width(first, second, message):
    model = th.Ridge() if first.dtype.kind == "f" else th.LogisticRegression()
    with pytest.raises(DataError, match=f"partition 1 of y has {message}"):
        model.fit(th.from_dask(parts(X, X), parts(first, second)))


def test_partitions_with_and_without_names_are_refused():
    named = pd.DataFrame(X, columns=["a", "b"])
    for given, message in (
        ((X, named), r"2 columns \('a', 'b'\), but 2 columns without names are expected"),
        ((named, X), r"2 columns without names, but 2 columns \('a', 'b'\) are expected"),
        ((X, X[:, :1]), r"has 1 columns, but 2 columns are expected"),
    ):
        with pytest.raises(DataError, match=message):
            th.Ridge().fit(th.from_dask(parts(*given), parts(Y, Y)))


def test_missing_values_are_not_counted_over_all_partitions():
    holes = np.where(np.arange(120).reshape(60, 2) % 7 == 0, np.nan, X)
    rows, y = da.from_array(holes, chunks=(20, 2)), da.from_array(Y, chunks=20)
    with pytest.raises(DataError, match=r"NaN: column . of the Dask.* at row \d+; other rows may"):
        th.Ridge().fit(rows, y)
    with pytest.raises(DataError, match=r"th.from_dask does not accept them.*model.fit\(X, y\)"):
        th.from_dask(rows, y)
    th.HistGradientBoostingRegressor(max_iter=1).fit(rows, y)


def test_one_weight_counts_for_every_row():
    rows, y = da.from_array(X, chunks=(20, 2)), da.from_array(Y, chunks=20)
    expected = th.Ridge().fit(X, Y, 2.0).coef_
    np.testing.assert_allclose(th.Ridge().fit(rows, y, 2.0).coef_, expected)
    with pytest.raises(DataError, match=r"Ridge: y is of type float \(2.0\)"):
        th.Ridge().fit(rows, 2.0)


def test_text_among_numbers_is_named_with_its_partition():
    with pytest.raises(DataError, match=r"partition 1: y holds the text '.*' at row 0"):
        th.Ridge().fit(th.from_dask(parts(X, X), parts(Y, TEXT)))
