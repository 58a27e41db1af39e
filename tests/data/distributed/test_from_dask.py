"""Dask collections as sources: any division of the rows gives the same sums, bad ones an error."""

import pickle

import numpy as np
import pandas as pd
import pytest

import thetahat as th
from tests.dask_rows import synchronous  # noqa: F401
from thetahat.data.distributed.cluster import require_fitting
from thetahat.data.distributed.dask_source import DaskSource
from thetahat.data.distributed.from_dask import dask_rows
from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source
from thetahat.data.views import one_target, relabelled
from thetahat.errors import CapabilityError, DataError, MemoryBudgetError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

CHUNKS = {
    "one": (300,),
    "uneven": (1, 200, 7, 92),
    "empty": (0, 150, 0, 150, 0),
    "many": (20,) * 15,
}


def rows(seed=0, n=300, d=3):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) * [1.0, 100.0, 0.01][:d] + 5
    return X, X @ np.arange(1.0, d + 1) + random.standard_normal(n), random.random(n)


def as_dask(values, chunks):
    return da.from_array(values, chunks=(chunks, *values.shape[1:]))


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_moments_do_not_depend_on_the_partitions(chunks):
    X, y, weight = rows()
    expected = moments(as_source(X, y, weight))
    found = moments(th.from_dask(*(as_dask(values, chunks) for values in (X, y, weight))))
    assert found.n_rows == expected.n_rows
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.covariance(), expected.covariance(), rtol=1e-10)


def test_the_same_partitions_give_the_same_bits():
    X, y, _ = rows(1)
    pair = as_dask(X, CHUNKS["many"]), as_dask(y, CHUNKS["many"])
    first, second = moments(th.from_dask(*pair)), moments(th.from_dask(*pair))
    np.testing.assert_array_equal(first.scatter, second.scatter)
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(moments(th.from_dask(*pair)).scatter, first.scatter)


def test_blocks_have_the_numbers_of_the_rows_of_the_whole():
    X, y, _ = rows(2)
    source = th.from_dask(as_dask(X, CHUNKS["uneven"]), as_dask(y, CHUNKS["uneven"]))
    assert source.sizes == CHUNKS["uneven"]
    blocks = list(source.blocks())
    np.testing.assert_array_equal([block.start for block in blocks], source.starts)
    np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), X)
    np.testing.assert_array_equal(source.map_rows(lambda block: block.targets), y)


def test_the_first_rows_come_from_as_many_partitions_as_have_them():
    X, y, _ = rows(2)
    source = th.from_dask(as_dask(X, CHUNKS["uneven"]), as_dask(y, CHUNKS["uneven"]))
    for count, expected in ((1, 1), (5, 5), (250, 250), (None, 300)):
        head = source.head(count)
        np.testing.assert_array_equal(head.X, X[:expected])
        np.testing.assert_array_equal(head.y, y[:expected])


def test_chunks_of_unknown_length_are_counted():
    X, y, _ = rows(3)
    keep = X[:, 0] > 4.5
    dX, dy = as_dask(X, CHUNKS["uneven"]), as_dask(y, CHUNKS["uneven"])
    chosen = dX[:, 0] > 4.5
    source = th.from_dask(dX[chosen], dy[chosen])
    assert source.n_rows == keep.sum()
    expected = th.LinearRegression().fit(X[keep], y[keep])
    np.testing.assert_allclose(th.LinearRegression().fit(source).coef_, expected.coef_, rtol=1e-9)


def frame(seed=4):
    X, y, weight = rows(seed)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    return table.assign(y=y, w=weight, kind=np.where(y > np.median(y), "high", "low"))


def test_columns_of_a_dataframe_by_name():
    table = frame()
    lazy = dd.from_pandas(table, npartitions=4)
    source = th.from_dask(lazy, target="y", weight="w", features=["a", "b"])
    assert source.schema.names == ("a", "b")
    model = th.LinearRegression().fit(source)
    expected = th.LinearRegression().fit(table[["a", "b"]], table["y"], table["w"])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    assert list(model.feature_names_in_) == ["a", "b"]


def test_labels_of_text_that_some_partitions_lack():
    table = frame().sort_values("kind", ignore_index=True)  # partitions of one class
    lazy = dd.from_pandas(table, npartitions=5)
    source = th.from_dask(lazy, target="kind", features=["a", "b", "c"])
    assert list(source.labels.encoding.classes) == ["high", "low"]
    model = th.LogisticRegression().fit(source)
    expected = th.LogisticRegression().fit(table[["a", "b", "c"]], table["kind"])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
    assert model.score(source) == expected.score(table[["a", "b", "c"]], table["kind"])


def test_delayed_partitions():
    X, y, _ = rows(5)
    parts = [dask.delayed(X[low : low + 100]) for low in (0, 100, 200)]
    targets = [dask.delayed(y[low : low + 100]) for low in (0, 100, 200)]
    source = th.from_dask(parts, targets)
    assert source.sizes == (100, 100, 100)
    expected = th.Ridge().fit(X, y)
    np.testing.assert_allclose(th.Ridge().fit(source).coef_, expected.coef_, rtol=1e-9)


def test_targets_divided_otherwise_or_in_memory():
    X, y, _ = rows(6)
    dX, expected = as_dask(X, CHUNKS["many"]), th.Ridge().fit(X, y)
    for target in (as_dask(y, CHUNKS["uneven"]), y, pd.Series(y)):
        np.testing.assert_allclose(th.Ridge().fit(dX, target).coef_, expected.coef_, rtol=1e-9)


def test_several_targets_and_single_precision():
    X, y, _ = rows(7)
    both = np.column_stack([y, -y])
    source = th.from_dask(
        as_dask(X.astype(np.float32), CHUNKS["uneven"]), as_dask(both, CHUNKS["uneven"])
    )
    assert source.n_outputs == 2
    assert source.dtype == np.float32
    assert one_target(source, 1).reduce(lambda block: Total(block.targets.sum())).value < 0


class Total:
    def __init__(self, value):
        self.value = value

    def merge(self, other):
        return Total(self.value + other.value)


def test_views_run_on_the_workers():
    X, _, _ = rows(8)
    labels = (X[:, 0] > 5).astype(int) + 3
    source = th.from_dask(as_dask(X, CHUNKS["empty"]), as_dask(labels, CHUNKS["empty"]))
    view, encoding = relabelled(source)
    assert encoding.classes.tolist() == [3, 4]
    assert view.reduce(lambda block: Total(block.targets.sum())).value == (labels == 4).sum()


def test_row_state_stays_with_the_rows_and_draws_like_the_state_in_memory():
    X, y, weight = rows(9)
    whole = as_source(X, y, weight)
    parts = th.from_dask(*(as_dask(values, CHUNKS["uneven"]) for values in (X, y, weight)))

    def square(block, rows, power):
        rows["far"][:] = np.abs(block.targets) ** power
        return Total(rows["far"].sum())

    states = [source.row_state(far=0.0) for source in (whole, parts)]
    totals = [state.reduce(square, 2).value for state in states]
    assert totals[0] == pytest.approx(totals[1], rel=1e-12)
    np.testing.assert_array_equal(*(state.values("far") for state in states))
    chance = weight / weight.sum()
    for given in (None, chance):
        drawn = [state.draw("far", given, 20, np.random.default_rng(1)) for state in states]
        np.testing.assert_array_equal(*drawn)
    assert parts.row_state(far=0.0).draw("far", None, 2, np.random.default_rng(1)) is None


def test_a_copy_on_a_worker_knows_its_columns_but_has_no_rows():
    X, y, _ = rows(10)
    source = th.from_dask(as_dask(X, CHUNKS["many"]), as_dask(y, CHUNKS["many"]))
    copy = pickle.loads(pickle.dumps(source))
    assert isinstance(copy, DaskSource)
    assert copy.n_features == 3
    with pytest.raises(CapabilityError, match="by the client only"):
        copy.reduce(lambda block: Total(0))
    with pytest.raises(CapabilityError, match="array in memory is"):
        np.asarray(source)


def test_missing_values_where_the_model_has_a_rule():
    X, _, _ = rows(11)
    X[5, 1] = np.nan
    source = dask_rows(as_dask(X, CHUNKS["uneven"]), who="Model", missing=True)
    source.require_finite(missing=True)
    with pytest.raises(DataError, match="row 5"):
        source.require_finite()


def bad_inputs():
    X, y, weight = rows(12)
    far = X.copy()
    far[250, 1] = np.nan
    infinite = y.copy()
    infinite[210] = np.inf
    several = np.column_stack([y, np.where(np.arange(300) == 7, np.nan, y)])
    unweighted = np.where(np.arange(300) == 9, np.nan, weight)
    negative = weight.copy()
    negative[299] = -1.0
    chunks = CHUNKS["uneven"]
    dX, dy = as_dask(X, chunks), as_dask(y, chunks)
    lazy = dd.from_pandas(frame(), npartitions=3)
    three = [dask.delayed(X[:10]), dask.delayed(X[10:20]), dask.delayed(X[20:30, :2])]
    return {
        "NaN": (lambda: (as_dask(far, chunks), dy), "column 1.*row 250"),
        "infinite target": (lambda: (dX, as_dask(infinite, chunks)), "Input y.*row 210"),
        "missing target": (
            lambda: (dX, as_dask(several[:, 1], chunks)),
            "the target of the Dask collection holds such a value at row 7.*Drop those rows",
        ),
        "one of two targets": (lambda: (dX, as_dask(several, chunks)), "column 1 of the target of"),
        "missing weight": (
            lambda: (dX, dy, as_dask(unweighted, chunks)),
            "the weight of the Dask collection .*row 9",
        ),
        "negative weight": (lambda: (dX, dy, as_dask(negative, chunks)), "first at row 299: -1"),
        "too few targets": (lambda: (dX, as_dask(y[:-1], (299,))), "300 rows, y has 299"),
        "target in memory": (lambda: (dX, y[:-1]), "300 rows, y has 299"),
        "no rows": (lambda: (as_dask(X[:0], (0,)),), r"0 sample\(s\)"),
        "no columns": (lambda: (da.zeros((5, 0)),), r"0 feature\(s\)"),
        "one dimension": (lambda: (dy, dy), "Expected 2D array, got 1D"),
        "three dimensions": (lambda: (da.zeros((5, 2, 2)),), "3 dimensions"),
        "complex": (lambda: (dX.astype(complex), dy), "must hold numbers"),
        "text column": (lambda: (lazy[["a", "kind"]], lazy["y"]), "'kind'.*must hold numbers"),
        "target of other length": (
            lambda: (lazy[["a"]], lazy["y"].repartition(npartitions=2)),
            "3 partitions and y has 2",
        ),
        "other rows": (
            lambda: (lazy[["a"]], lazy[lazy["y"] > 20]["y"]),
            "partition 0 of X has 100 rows, that of y has",
        ),
        "other columns": (
            lambda: (three, np.arange(30.0)),
            r"row 20 on\) has 2 columns.*3 columns are",
        ),
        "X in memory": (lambda: (X, dy), "X is a ndarray. Pass"),
        "bag": (lambda: (pytest.importorskip("dask.bag").from_sequence([1, 2]),), "Bag of Dask"),
    }


@pytest.mark.parametrize(("data", "message"), bad_inputs().values(), ids=bad_inputs())
def test_invalid_collections(data, message):
    with pytest.raises(DataError, match=message):
        moments(th.from_dask(*data()))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"target": "z"}, "no column 'z'"),
        ({"target": "y", "features": ["y"]}, "'y' is used for features and"),
        ({"target": "y", "features": []}, "no column is left"),
    ],
    ids=["unknown", "twice", "none"],
)
def test_invalid_names(names, message):
    with pytest.raises(DataError, match=message):
        th.from_dask(dd.from_pandas(frame(), npartitions=2), **names)


def test_names_need_a_dataframe():
    with pytest.raises(DataError, match="columns of a Dask dataframe"):
        th.from_dask(da.zeros((4, 2)), target="y")


def test_a_partition_must_fit_into_a_worker(monkeypatch):
    monkeypatch.setattr("thetahat.data.distributed.cluster.worker_limits", lambda: [10**9, 10**6])
    require_fitting([10, 10**5], "Ridge")
    with pytest.raises(MemoryBudgetError, match=r"Ridge: partition 1 takes .*rechunk"):
        require_fitting([10, 10**7], "Ridge")
    with pytest.raises(MemoryBudgetError, match="partition 0"):
        th.Ridge().fit(da.zeros((10**6, 2)), da.zeros(10**6))
