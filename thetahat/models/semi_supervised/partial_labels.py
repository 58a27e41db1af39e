"""Labels of which some are missing: −1 marks a row without a label."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.columns.labels import without_extension_type
from thetahat.data.columns.variables import is_missing
from thetahat.data.validation import require_dense_target
from thetahat.estimator.classifier import LabelledEstimator
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

UNLABELLED = -1


class PartlyLabelled(LabelledEstimator):
    """A classifier whose training rows need not all have labels."""

    def _partial_labels(self, y: Any, n_rows: int) -> tuple[Array, Array]:
        """Labels as given, and a mask of the labelled rows."""
        who = type(self).__name__
        if y is None:
            raise DataError(
                f"{who} requires y to be passed, but the target y is None. Pass one label per row, "
                "−1 for unlabelled rows."
            )
        require_dense_target(y, who)
        from sklearn.utils.validation import column_or_1d

        labels = column_or_1d(without_extension_type(y), warn=True)
        if labels.shape[0] != n_rows:
            raise DataError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
                f"y has {labels.shape[0]}. Pass one label per row, −1 for unlabelled rows."
            )
        self._refuse_text_of_unlabelled(labels)
        if labels.dtype.kind in "US":
            known = np.ones(n_rows, dtype=bool)
        elif labels.dtype.kind == "O":  # the comparison of a missing label has no truth value
            known = np.array([is_missing(each) or each != UNLABELLED for each in labels.tolist()])
        else:
            known = ~np.array(labels == UNLABELLED, dtype=bool)
        if not known.any():
            raise DataError(
                f"{who}: no row has a label (all are −1), so y has less than one class. Label a "
                "few rows of every class."
            )
        given = labels[known]
        if given.dtype == object and all(isinstance(label, str) for label in given):
            given = given.astype(str)
        checked = self._labels(given)
        if labels.dtype.kind == "O" and checked.dtype.kind in "ib":
            labels = labels.astype(checked.dtype)
        return labels, known

    def _refuse_text_of_unlabelled(self, labels: Array) -> None:
        """−1 among texts became a text when the array was made, and would be one more class."""
        if labels.dtype.kind not in "USO":
            return
        word = str(UNLABELLED)
        texts = (word, word.encode())
        # Some objects, such as missing values of pandas, cannot be compared with a text.
        rows = np.flatnonzero(
            [isinstance(each, str | bytes) and each in texts for each in labels.tolist()]
        )
        if rows.size:
            raise DataError(
                f"{type(self).__name__}: {rows.size} of {len(labels)} labels are the text '-1' "
                f"(first at row {rows[0]}), but rows without a label have the number −1. Give y as "
                "an array of objects: np.where(known, y.astype(object), -1)."
            )
