"""Several label columns: their codes, and the outputs of members that predict all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.foundation.types import Array


def encoded_columns(columns: Sequence[Array]) -> tuple[list[Array], Array]:
    """The classes of each column, and the codes 0, …, C−1 of the labels, (n, k)."""
    encodings = [LabelEncoding.of(column) for column in columns]
    codes = [each.encode(column) for each, column in zip(encodings, columns, strict=True)]
    return [each.classes for each in encodings], np.column_stack(codes)


def decoded_columns(classes: Sequence[Array], codes: Array) -> Array:
    """The labels of codes, (n, k)."""
    columns = zip(classes, np.asarray(codes).astype(np.intp).T, strict=True)
    return np.column_stack([each.take(column) for each, column in columns])


def outputs_by_column(
    member: Any, method: str, found: Any, classes: Sequence[Array], *, labels: bool = False
) -> Array:
    """Output of a member as columns of numbers, (n, m).

    Probabilities are given as one array per label column, of which the first class adds nothing, or
    as one number per label column. A class that a member was not fitted to has probability 0.
    Members were fitted to codes, or with `labels` to the labels themselves.
    """
    if not isinstance(found, list):
        output = np.asarray(found)
        if labels and method == "predict" and hasattr(member, "classes_"):
            pairs = zip(classes, output.T, strict=True)
            return np.column_stack([LabelEncoding(each).encode(part) for each, part in pairs])
        return output.reshape(len(output), -1)
    wide = []
    for number, (shares, each) in enumerate(zip(found, classes, strict=True)):
        shares = np.asarray(shares)
        seen = np.asarray(member.classes_[number])
        codes = LabelEncoding(each).encode(seen) if labels else seen
        all_classes = np.zeros((len(shares), len(each)), dtype=shares.dtype)
        all_classes[:, codes.astype(np.intp)] = shares
        wide.append(all_classes[:, 1:])
    return np.hstack(wide)
