"""Known targets are matched with the classes of a model by what they say."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from thetahat.foundation.errors import DataError
from thetahat.interfaces.truth import known_targets


def classifier(*classes):
    return SimpleNamespace(classes_=np.array(classes))


@pytest.mark.parametrize(
    ("column", "classes", "expected"),
    [
        (pl.Series("y", ["1", "2", "1"]), ("1", "2", "x"), ["1", "2", "1"]),
        (pl.Series("y", ["1.0", None, "0"]), (0, 1), [1, 0]),
        (pl.Series("y", [1.0, 0.0]), (0, 1), [1, 0]),
        (pl.Series("y", [1, 2]), ("1", "2", "x"), ["1", "2"]),
        (pl.Series("y", [True, False]), (0, 1), [1, 0]),
        (pl.Series("y", ["True", "false"]), (0, 1), [1, 0]),
        (pl.Series("y", [True, False]), ("False", "True"), ["True", "False"]),
        (pl.Series("y", [" a", "b"], dtype=pl.Categorical), ("a", "b"), ["a", "b"]),
        (pl.Series("y", ["2", "0.5"]), ("0.5", "2.0"), ["2.0", "0.5"]),
    ],
)
def test_classes_are_matched_by_what_they_say(column, classes, expected):
    found = known_targets(column, classifier(*classes))
    assert found.task == "classification"
    assert found.y.tolist() == expected
    assert found.y.dtype == np.array(classes).dtype
    assert found.rows.tolist() == np.flatnonzero(column.is_not_null().to_numpy()).tolist()


def test_numbers_may_have_units_and_gaps():
    found = known_targets(pl.Series("y", ["$1,000.50", None, "$20.00"]), SimpleNamespace())
    assert (found.task, found.y.tolist(), found.rows.tolist()) == (
        "regression",
        [1000.5, 20],
        [0, 2],
    )


@pytest.mark.parametrize(
    ("column", "model", "message"),
    [
        (
            pl.Series("y", ["a", None, "c", "d"]),
            classifier("a", "b"),
            r"2 of 3 rows have a class of 'y' that the model does not know \(first 'c' in row 3\); "
            "its classes are a, b",
        ),
        (pl.Series("y", ["a", "a"]), classifier("a", "b"), "'a' in every row"),
        (pl.Series("y", ["5"]), SimpleNamespace(), "'5.0' in every row"),
        (pl.Series("y", ["a", "b"]), SimpleNamespace(), "predicts numbers, but 'y' holds 'a'"),
        (pl.Series("y", ["1", "inf"]), SimpleNamespace(), "infinite in row 2"),
        (pl.Series("y", [None, None]), classifier("a", "b"), "missing in all 2 rows"),
        (pl.Series("y", [[1], [2]]), classifier(1, 2), "has the type List"),
    ],
)
def test_targets_that_cannot_be_scored_are_refused(column, model, message):
    with pytest.raises(DataError, match=message):
        known_targets(column, model)
