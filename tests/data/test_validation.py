"""Validation of data: what each input becomes, and what is refused with which message."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.validation import as_source, as_weight

X = np.arange(12.0).reshape(6, 2)
Y = np.arange(6.0)


def refused(match, *args, error=th.errors.DataError, **options):
    with pytest.raises(error, match=match) as caught:
        as_source(*args, who="Model", **options)
    return str(caught.value)


def test_arrays_are_read_in_place():
    for x in (X, X.astype(np.float32), np.asfortranarray(X), X[::2]):
        assert as_source(x, Y[: len(x)]).X is x


def test_memory_map_stays_on_disk(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert np.shares_memory(as_source(mapped, Y).X, mapped)


@pytest.mark.parametrize("dtype", [int, bool, np.int8, np.uint64, np.float16, object, "U5"])
def test_numbers_of_any_type_become_float64(dtype):
    x = (X > 3) if dtype is bool else X.astype(int).astype(dtype)
    got = as_source(x, Y)
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got.X, np.asarray(x, dtype=float))


def test_lists_and_sparse():
    assert as_source(X.tolist(), Y.tolist()).n_features == 2
    formats = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
    kinds = [getattr(sp, f"{each}_{old}") for each in formats for old in ("array", "matrix")]
    long = sp.csr_array(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for rows in (*(kind(X) for kind in kinds), long, long.tocsc(), long.tocoo()):
        got = as_source(rows, Y)
        assert got.is_sparse
        assert got.sparse_X.format == "csr"
        np.testing.assert_array_equal(got.sparse_X.toarray(), X)
    repeated = sp.coo_array((np.ones(2), ([0, 0], [1, 1])), shape=(3, 2))
    assert as_source(repeated.tocsr(), Y[:3]).X.toarray()[0, 1] == 2.0


def test_not_a_number_names_column_row_and_remedy():
    bad = X.copy()
    bad[4, 1] = np.nan
    words = refused(r"NaN: column 1 holds 1 such value \(first at row 4\)", bad, Y)
    assert "impute" in words
    bad[4, 1] = -np.inf
    refused("infinity.*column 1.*row 4", bad, Y)
    refused("column 1", sp.csr_array(bad), Y)


def test_columns_are_named_by_their_names():
    import pandas

    frame = pandas.DataFrame(X.copy(), columns=["age", "income"])
    frame.loc[3, "income"] = np.nan
    refused("column 'income'.*row 3", frame, Y)


def test_bad_targets():
    refused(r"y has 5", X, Y[:5])
    refused("Input y contains NaN.*row 2", X, np.where(Y == 2, np.nan, Y))
    refused("Input y contains infinity", X, np.where(Y == 2, np.inf, Y))
    refused("1d array", X, np.ones((6, 1, 1)))
    refused("one output", X, np.ones((6, 2)), multi_output=False)
    refused("'up' at row 1", X, ["1", "up", "2", "3", "4", "5"])


def test_bad_weights():
    refused("negative.*row 1: -2", X, Y, [1, -2, 1, 1, 1, 1])
    refused("all sample weights are zero", X, Y, np.zeros(6))
    refused(r"shape \(5,\)", X, Y, np.ones(5))
    refused("sample_weight contains NaN", X, Y, [1, np.nan, 1, 1, 1, 1])
    np.testing.assert_array_equal(as_weight(2.0, 3, "Model"), [2, 2, 2])


def test_bad_shapes_and_types():
    refused("Expected 2D array, got 1D", X[:, 0], Y)
    refused("Expected 2D array, got 3D", X[None], Y)
    refused("Expected 2D array, got scalar", 3.0, Y)
    refused("0 sample", np.empty((0, 2)), Y[:0])
    refused("0 feature", np.empty((6, 0)), Y)
    refused("Complex data not supported", X + 1j, Y)
    refused("'red' at row 0, column 0", [["red", 1.0]] * 6, Y)
    refused("row 0", np.array([[{}, 1.0]] * 6, dtype=object), Y, error=TypeError)
    refused("dtype datetime64", X.astype("datetime64[s]"), Y)
    refused("sparse", sp.csr_array(X), Y, accept_sparse=False, error=TypeError)


def test_a_source_brings_its_own_targets():
    source = as_source(X, Y)
    assert as_source(source) is source
    refused("a source holds its own", source, Y)


def test_sums_that_overflow_are_not_infinite_values():
    huge = np.full((6, 2), 1e308)
    refused(r"X is so large that sums over rows overflow: column 0 holds 1e\+308 at row 0", huge)
    refused(r"largest target is 1e\+308.*\(row 0\)", huge / 1e10, np.full(6, 1e308))
    assert as_source(huge / 1e10, np.full(6, 1e300)).n_rows == 6


def test_remedies_suit_the_offender():
    x = np.ones((3, 1))
    infinite = np.array([[1.0], [np.inf], [2.0]])
    with pytest.raises(th.errors.DataError, match="replace them, or drop those rows"):
        th.HuberRegressor().fit(infinite, np.arange(3.0))
    with pytest.raises(th.errors.DataError, match="SimpleImputer"):
        th.HuberRegressor().fit(np.where(np.isinf(infinite), np.nan, infinite), np.arange(3.0))
    with pytest.raises(
        th.errors.DataError, match=r"y holds the text 'a' .* use a classifier for labels"
    ):
        th.HuberRegressor().fit(x, ["a", "b", "c"])
    with pytest.raises(
        th.errors.DataError, match=r"sample_weight holds the text 'a' .* one number ≥ 0"
    ):
        th.HuberRegressor().fit(x, np.arange(3.0), sample_weight=["a", "b", "c"])
    with pytest.raises(th.errors.DataError, match=r"X holds the text 'a' .*OneHotEncoder"):
        th.HuberRegressor().fit([["a"], ["b"], ["c"]], np.arange(3.0))


@pytest.mark.parametrize(
    "model",
    [
        th.GaussianProcessRegressor(),
        th.KernelRidge(),
        th.LocallyWeightedRegression(),
        th.LinearRegression(),
        th.DecisionTreeRegressor(),
        th.RandomForestClassifier(),
        th.SVC(),
        th.SelfTrainingClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("y", [np.zeros((4, 0)), pd.DataFrame(index=range(4))], ids=["array", "df"])
def test_targets_without_columns_are_refused(model, y):
    with pytest.raises(th.errors.DataError, match=r"y has no columns \(shape=\(4, 0\)\)"):
        model.fit(np.arange(8.0).reshape(4, 2), y)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[1, 2], [3]], "row 0 has 2 entries and row 1 has 1 entry"),
        ([[1, 2], 3], "row 0 has 2 entries and row 1 is one value"),
        ([[1, 2], [3, [4, 5]]], "lists of different lengths"),
    ],
)
def test_rows_of_different_lengths_are_named(X, words):
    for model in (th.Ridge(), th.GaussianNB(), th.KNeighborsClassifier(1), th.PCA()):
        with pytest.raises(th.errors.DataError, match=f"{type(model).__name__}.*{words}"):
            model.fit(X, [0, 1])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ((row for row in [[1.0], [2.0]]), r"X is a generator.*list\(X\)"),
        ({"a": [1.0, 2.0]}, r"X is a dict.*DataFrame\(X\)"),
        ({1.0, 2.0}, r"X is a set.*list\(X\)"),
    ],
)
def test_containers_that_are_no_arrays_are_named(X, words):
    with pytest.raises(TypeError, match=words):
        th.Ridge().fit(X, [0, 1])


@pytest.mark.parametrize("role", ["X", "y", "sample_weight"])
@pytest.mark.parametrize(
    "name", ["Ridge", "LogisticRegression", "DecisionTreeClassifier", "GaussianNB"]
)
def test_masked_values_are_refused(name, role):
    random = np.random.default_rng(0)
    X = random.standard_normal((30, 3))
    given = {"X": X, "y": (X[:, 0] > 0).astype(int), "sample_weight": np.ones(30)}
    plain = getattr(th, name)().fit(**given)
    given[role] = np.ma.MaskedArray(given[role])
    same = getattr(th, name)().fit(**given)  # a mask that hides nothing
    np.testing.assert_array_equal(plain.predict(X), same.predict(X))
    given[role][2] = np.ma.masked
    with pytest.raises(th.errors.DataError, match=rf"{role} is masked at .* Drop the masked rows"):
        getattr(th, name)().fit(**given)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_entries_are_looked_at_once_for_those_stored_twice(kind, monkeypatch):
    """Of one matrix, in all calls: SciPy keeps the answer with it."""
    from scipy.sparse import _compressed

    looked, look = [], _compressed.csr_has_canonical_format

    def counted(*arguments):
        looked.append(arguments)
        return look(*arguments)

    monkeypatch.setattr(_compressed, "csr_has_canonical_format", counted)
    once = kind(np.array([[1.0, 2.0], [0.0, 4.0]]))
    for _ in range(3):
        np.testing.assert_array_equal(as_source(once, Y[:2]).X.toarray(), once.toarray())
    assert len(looked) == 1
    twice = kind((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 2, 3])))
    for _ in range(2):
        assert as_source(twice, Y[:2]).X.toarray().tolist() == [[3.0, 0.0], [0.0, 4.0]]
        assert twice.data.tolist() == [1.0, 2.0, 4.0]
