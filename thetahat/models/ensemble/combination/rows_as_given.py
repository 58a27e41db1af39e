"""Rows that are passed to learners unchanged, because learners accept different kinds of input.

Tables stay tables, because a learner may select columns by name; other input becomes an array or a
CSR matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from thetahat.data.arrays import require_unmasked
from thetahat.data.columns.sparse_indices import require_indices
from thetahat.data.columns.tables import is_table
from thetahat.data.columns.variables import is_lone_column, require_distinct_names
from thetahat.data.in_memory import InMemory
from thetahat.data.on_disk.model_rows import table_of_block
from thetahat.data.source import Source
from thetahat.data.validation import as_target, as_weight, require_matrix
from thetahat.estimator.base import Estimator, needs_memory
from thetahat.estimator.parameters import check_ranges
from thetahat.foundation.arguments import shown
from thetahat.foundation.errors import DataError


def require_rows(X: Any, y: Any, who: str) -> tuple[Any, int]:
    """X and its number of rows; input that cannot be indexed by rows becomes an array."""
    refuse_source(X, who)
    if y is None:
        raise DataError(
            f"{who} requires y to be passed, but the target y is None. Pass one target per row."
        )
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        X = np.asarray(X)
    if not getattr(X, "shape", True):
        raise DataError(
            f"{who}: Expected 2D array, got scalar array instead: X is {shown(X)}. Pass one row "
            "per target."
        )
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise DataError(
            f"{who}: X is an array with named fields ({', '.join(X.dtype.names)}), which has no "
            "columns. Pass a table, such as pandas.DataFrame(X)."
        )
    if issparse(X):
        require_indices(X, who)  # before rows are selected, which follows the indices
        X = X if X.format in ("csr", "csc") else X.tocsr()
    else:
        require_distinct_names(X)
    return X, int(X.shape[0]) if hasattr(X, "shape") and X.shape else len(X)


def refuse_source(X: Any, who: str) -> None:
    """Refuse a source: members of an ensemble accept different kinds of input, all in memory."""
    if isinstance(X, Source):
        raise needs_memory(who, "use a model that reads blocks, such as LinearModel")


def block_as_given(model: Estimator, X: Any) -> Any:
    """The rows of one block of a source as members take them: a table if they know names."""
    if not isinstance(X, InMemory):
        return X
    if not (X.schema.names and hasattr(model, "feature_names_in_")):
        return X.X
    return table_of_block(X.X, X.schema.names)


def rows_as_given(model: Estimator, X: Any, learner: Any, *, reset: bool) -> Any:
    """Rows for copies of `learner`; `reset` stores their columns, otherwise compares them."""
    X = X if reset else block_as_given(model, X)
    refuse_source(X, type(model).__name__)
    require_unmasked(X, "X", type(model).__name__)
    if is_table(X):
        if is_lone_column(X):
            require_matrix((len(X),), type(model).__name__)
        require_distinct_names(X)
        validate_data(model, X, skip_check_array=True, reset=reset)
        return X
    X = validate_data(
        model,
        X,
        accept_sparse=["csr", "csc"],
        dtype=None,
        ensure_all_finite=False,
        reset=reset,
    )
    if issparse(X) and not get_tags(learner).input_tags.sparse:
        raise TypeError(
            f"{type(model).__name__}: {type(learner).__name__} does not take sparse input. "
            "Use X.toarray() if it fits in memory."
        )
    return X


def open_as_given(model: Estimator, X: Any, y: Any, sample_weight: Any, learner: Any) -> InMemory:
    """Validated parameters, targets and weights, with the rows unchanged for `learner`."""
    check_ranges(model)
    who = type(model).__name__
    X, n_rows = require_rows(X, y, who)
    X = rows_as_given(model, X, learner, reset=True)
    model._warn_column_vector(y)
    return InMemory(
        X=X,
        y=as_target(y, n_rows, np.float64, who, False),
        weight=None if sample_weight is None else as_weight(sample_weight, n_rows, who),
        n_features=model.n_features_in_,
        has_target=True,
    )
