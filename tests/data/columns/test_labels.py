"""Label encodings are lossless, and what they cannot encode they name."""

from typing import get_args

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.preprocessing import LabelEncoder, OneHotEncoder

from thetahat.data.columns.labels import Form, LabelEncoding
from thetahat.foundation.errors import DataError, ParameterError

FORMS = get_args(Form)
TWO = ["spam", "ham", "spam", "spam"]
LABELS = {
    "text": ["b", "c", "a", "b", "a"],
    "integers": [30, 10, 20, 10, 30],
    "floats": [0.5, -1.0, 2.5, 0.5, 2.5],
    "Booleans": [True, False, False, True, True],
    "signs": [-1, 1, 1, -1, 1],
    "objects": np.array(["b", "a", "b"], dtype=object),
}


def usable_forms(encoding):
    return [form for form in FORMS if encoding.n_classes == 2 or form not in ("binary", "signs")]


@pytest.mark.parametrize("kind", LABELS)
def test_round_trips_lose_nothing(kind):
    labels = np.asarray(LABELS[kind])
    encoding = LabelEncoding.of(LABELS[kind])
    np.testing.assert_array_equal(encoding.classes, np.unique(labels))
    for form in usable_forms(encoding):
        values = encoding.encode(labels, form)
        decoded = encoding.decode(values, form)
        assert decoded.dtype == labels.dtype
        np.testing.assert_array_equal(decoded, labels)
        for other in usable_forms(encoding):
            np.testing.assert_array_equal(
                encoding.convert(values, form, other), encoding.encode(labels, other)
            )


def test_formulas():
    """one-hot(c)_k = 1[k = c]; y± = 2·y01 − 1."""
    encoding = LabelEncoding.of(TWO)
    binary = encoding.encode(TWO, "binary")
    assert binary.tolist() == [1, 0, 1, 1]
    np.testing.assert_array_equal(encoding.encode(TWO, "signs"), 2 * binary - 1)
    assert encoding.encode(TWO, "indices").tolist() == [2, 1, 2, 2]
    assert encoding.encode(TWO, "codes").tolist() == [1, 0, 1, 1]
    assert encoding.encode(TWO, "one_hot").tolist() == [[0, 1], [1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize("kind", LABELS)
def test_codes_and_one_hot_are_the_peers(kind):
    labels = np.asarray(LABELS[kind])
    encoding = LabelEncoding.of(labels)
    np.testing.assert_array_equal(encoding.encode(labels), LabelEncoder().fit_transform(labels))
    one_hot = OneHotEncoder(sparse_output=False).fit_transform(labels[:, np.newaxis])
    np.testing.assert_array_equal(encoding.encode(labels, "one_hot"), one_hot)


def test_a_given_order_is_kept():
    encoding = LabelEncoding(np.array(["low", "middle", "high"]))
    assert encoding.encode(["high", "low", "middle"], "indices").tolist() == [3, 1, 2]
    assert encoding.decode([1, 2, 3], "indices").tolist() == ["low", "middle", "high"]


@pytest.mark.parametrize(
    "wrap", [pd.Series, pl.Series, pa.array, list, tuple, np.array], ids=lambda w: w.__name__
)
def test_labels_of_any_container(wrap):
    encoding = LabelEncoding.of(wrap(TWO))
    assert encoding.encode(wrap(TWO), "binary").tolist() == [1, 0, 1, 1]


def test_classes_and_labels_of_different_types():
    assert LabelEncoding.of([0, 1]).encode([1.0, 0.0]).tolist() == [1, 0]
    assert LabelEncoding.of([0, 1]).encode([True, False]).tolist() == [1, 0]
    assert LabelEncoding.of(TWO).encode(np.array(TWO, dtype=object)).tolist() == [1, 0, 1, 1]
    with pytest.raises(DataError, match="'1'"):
        LabelEncoding.of([0, 1]).encode(["1", "0"])


def test_booleans_read_as_binary():
    encoding = LabelEncoding.of(TWO)
    assert encoding.decode([True, False], "binary").tolist() == ["spam", "ham"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda e: e.encode(["spam", "eggs", "eggs"]), "2 of 3 .*: 'eggs' .first at row 1.*'ham'"),
        (lambda e: e.encode([["spam"]]), r"\(1, 1\)"),
        (lambda e: e.encode(["spam", None]), "missing .first at row 1: None"),
        (
            lambda e: e.decode([0, 2], "binary"),
            "2 at row 1 is not valid for form='binary'.*0.0, 1.0",
        ),
        (lambda e: e.decode([0], "indices"), "0 at row 0.*1, 2"),
        (lambda e: e.decode([0.0], "signs"), "0.0 at row 0.*-1.0, 1.0"),
        (lambda e: e.decode([0.5]), "0.5 at row 0"),
        (lambda e: e.decode([np.nan]), "nan at row 0"),
        (lambda e: e.decode(["spam"]), "type <U4"),
        (lambda e: e.decode([[0.0, 1.0], [0.5, 0.5]], "one_hot"), "Row 1.*argmax"),
        (lambda e: e.decode([[1.0, 1.0]], "one_hot"), "Row 0"),
        (lambda e: e.decode([[1.0, 0.0, 0.0]], "one_hot"), r"\(1, 3\)"),
        (lambda _: LabelEncoding.of([1, "a"]), "mix int and str"),
        (lambda _: LabelEncoding.of([1.0, np.nan]), "1 of 2 labels are missing.*row 1"),
        (lambda _: LabelEncoding.of(pd.array([1, None], dtype="Int64")), "missing"),
        (lambda _: LabelEncoding.of([]), "no classes"),
        (lambda _: LabelEncoding(["a", "a"]), "not distinct"),
        (lambda _: LabelEncoding.of("abc").encode(["a"], "signs"), "shape"),
        (lambda _: LabelEncoding.of(list("abc")).encode(["a"], "signs"), "two classes.*3.*one_hot"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DataError, match=words):
        call(LabelEncoding.of(TWO))


def test_unknown_form():
    with pytest.raises(ParameterError, match=r"form='ordinal'.*one_hot"):
        LabelEncoding.of(TWO).encode(TWO, "ordinal")


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ([3, 1, 2, 1], np.int64),
        ([-5, 7, 7], np.int8),
        ([250, 255, 3], np.uint8),
        ([2**63 + 5, 2**63 + 7], np.uint64),
        ([-(2**63), -(2**63) + 1], np.int64),
        ([-(2**63), 2**63 - 1], np.int64),
        ([1, 10**9, 5], np.int64),
    ],
)
def test_whole_numbers_of_any_size_are_distinguished(labels, dtype):
    values = np.array(labels, dtype=dtype)
    encoding = LabelEncoding.of(values)
    classes, codes = np.unique(values, return_inverse=True)
    np.testing.assert_array_equal(encoding.classes, classes)
    assert encoding.classes.dtype == dtype
    np.testing.assert_array_equal(encoding.encode(values), codes)


@pytest.mark.parametrize("unknown", [0, 2, 4, 10**9])
def test_a_whole_number_between_or_beyond_the_classes_is_refused(unknown):
    with pytest.raises(DataError, match=f"belong to no class: {unknown}"):
        LabelEncoding.of(np.array([1, 3])).encode(np.array([1, unknown]))
