"""Columns of later rows and of batches of ``partial_fit``: those of the fit, in its order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.utils.validation import validate_data

from thetahat.data.source import Source
from thetahat.foundation.errors import DataError

OF_COLUMNS = ("n_features_in_", "feature_names_in_")
"""What a model knows about its columns."""


@contextmanager
def batch_after(model: Any, X: Any, *, first: bool = False) -> Iterator[None]:
    """Open a batch inside: the model keeps its columns, and the batch is refused if it has others.

    Opening rows for a fit stores their columns. Without this, a batch whose columns are in another
    order would be added to the sums of other columns.
    """
    if first:
        yield
        return
    kept = {name: vars(model)[name] for name in OF_COLUMNS if name in vars(model)}
    try:
        yield
    finally:
        width = model.n_features_in_
        for name in OF_COLUMNS:
            vars(model).pop(name, None)
        vars(model).update(kept)
    if width != model.n_features_in_:
        raise DataError(
            f"X has {width} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input. Every batch must have the columns of the "
            "first one."
        )
    if isinstance(X, Source):
        model._require_same_columns(X)
    else:
        require_known_columns(model, X)


def require_known_columns(model: Any, X: Any) -> None:
    """Refuse rows whose number or names of columns differ from those of the fit."""
    try:
        validate_data(model, X, skip_check_array=True, reset=False)
    except ValueError as failure:
        text = str(failure).rstrip()
        between = "\n" if "\n" in text else " "  # after a list of names
        raise DataError(f"{text}{between}Use the same columns as in fit.") from None
