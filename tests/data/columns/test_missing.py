"""Which entries are missing, and hiding more of them."""

import numpy as np
import pytest

import thetahat as th

GAPS = np.array([[False, True], [False, False], [True, True], [False, False]])


def number_column():
    return [1.5, 2.5, None, 4.5]


def text_column():
    return [None, "b", None, "d"]


def test_numbers():
    X = np.array([[1.0, np.nan], [2.0, 3.0], [np.nan, np.nan], [np.inf, 0.0]])
    mask = th.data.missing_mask(X)
    np.testing.assert_array_equal(mask.missing, GAPS)
    np.testing.assert_array_equal(mask.observed, ~GAPS)
    assert (mask.n_missing, mask.share) == (3, 3 / 8)
    assert mask.per_column.tolist() == [1, 2]
    assert mask.per_row.tolist() == [1, 0, 2, 0]
    assert mask.names == ("x0", "x1")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_of_any_library(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    mask = th.data.missing_mask(make({"size": number_column(), "name": text_column()}))
    np.testing.assert_array_equal(mask.missing, GAPS)
    assert mask.patterns() == [((), 2), (("name",), 1), (("size", "name"), 1)]


def test_objects_and_dates():
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["2024-01-01", None, "2024-01-03"])
    assert th.data.missing_mask(pandas.DataFrame({"day": days})).missing[:, 0].tolist() == [0, 1, 0]
    objects = np.array([["a", None], [None, 2.0]], dtype=object)
    assert th.data.missing_mask(objects).missing.tolist() == [[False, True], [True, False]]


def test_hidden_entries_were_known_and_are_drawn_alike():
    X = np.random.default_rng(0).standard_normal((40, 6))
    X[::3, 2] = np.nan
    mask = th.data.missing_mask(X)
    harder = mask.hide(0.25, random_state=1)
    assert not (mask.missing & harder.observed).any()
    assert harder.n_missing - mask.n_missing == round(0.25 * mask.observed.sum())
    np.testing.assert_array_equal(harder.missing, mask.hide(0.25, random_state=1).missing)
    hidden = harder.apply(X)
    np.testing.assert_array_equal(np.isnan(hidden), harder.missing)
    np.testing.assert_array_equal(hidden[harder.observed], X[harder.observed])
    assert np.isnan(X).sum() == mask.n_missing  # the rows given are left as they were


def test_no_rows_have_no_gaps():
    mask = th.data.missing_mask(np.empty((0, 3)))
    assert (mask.n_missing, mask.share, mask.patterns()) == (0, 0.0, [])


def test_whole_numbers_become_floating_point():
    X = np.arange(6).reshape(3, 2)
    harder = th.data.missing_mask(X).hide(0.5, random_state=0)
    assert np.isnan(harder.apply(X)).sum() == 3
    assert harder.apply(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: th.data.missing_mask([1.0, 2.0]), th.errors.DataError, "reshape"),
        (lambda: th.data.missing_mask(np.empty((3, 0))), th.errors.DataError, "no columns"),
        (
            lambda: th.data.missing_mask(np.ones((2, 2))).hide(1.0),
            th.errors.ParameterError,
            "share=1.0",
        ),
        (
            lambda: th.data.missing_mask(np.full((2, 2), np.nan)).hide(0.5),
            th.errors.DataError,
            "none can be",
        ),
        (
            lambda: th.data.missing_mask(np.ones((2, 2))).apply(np.ones((3, 2))),
            th.errors.DataError,
            "shape",
        ),
    ],
)
def test_bad_input(use, error, message):
    with pytest.raises(error, match=message):
        use()


def test_sparse_arrays_do_not_say_what_is_missing():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(th.errors.DataError, match="omits zeros"):
        th.data.missing_mask(scipy_sparse.eye_array(3))
