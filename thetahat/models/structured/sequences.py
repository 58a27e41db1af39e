"""Sequences of rows and of labels, checked and coded."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.validation import as_features
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.structures.chain import Chain


def as_sequences(X: Any, who: str, n_features: int | None = None) -> list[Array]:
    """The sequences as arrays of shape (length, d) in float64, all of the same width."""
    found: list[Array] = []
    for number, each in enumerate(X):
        rows = np.asarray(as_features(each, who=f"{who}: sequence {number}")[0], dtype=np.float64)
        if rows.shape[0] == 0 or not np.isfinite(rows).all():
            raise DataError(
                f"{who}: sequence {number} of X must have at least one row and finite entries "
                f"only, but has shape {rows.shape}"
                f"{'' if np.isfinite(rows).all() else ' and entries that are NaN or infinite'}. "
                "Drop or repair it."
            )
        width = found[0].shape[1] if found and n_features is None else n_features
        if width is not None and rows.shape[1] != width:
            raise DataError(
                f"{who}: sequence {number} of X has {rows.shape[1]} columns, but {width} are "
                "expected. All sequences must have the same columns."
            )
        found.append(rows)
    return found


def coded_labels(Y: Any, lengths: list[int], who: str) -> tuple[list[Array], Array]:
    """The labels of every sequence as codes, and the classes in sorted order."""
    sequences = [np.asarray(each).ravel() for each in Y]
    for number, (labels, length) in enumerate(zip(sequences, lengths, strict=True)):
        if len(labels) != length:
            raise DataError(
                f"{who}: sequence {number} has {length} rows in X and {len(labels)} labels in y. "
                "Pass one label per row."
            )
    encoding = LabelEncoding.of(np.concatenate(sequences))
    if encoding.n_classes < 2:
        raise DataError(
            f"{who}: y contains one label only, {encoding.classes.tolist()[0]!r}, but at least two "
            "are needed. Add sequences with another label."
        )
    codes = encoding.encode(np.concatenate(sequences)).astype(np.intp)
    return np.split(codes, np.cumsum(lengths)[:-1]), encoding.classes


def chain_of(n_states: int, n_features: int, who: str) -> Chain:
    """The structure for this many labels and columns."""
    if n_features < 1:
        raise DataError(f"{who}: the sequences of X have no columns. Pass at least one column.")
    return Chain(n_states, n_features)
