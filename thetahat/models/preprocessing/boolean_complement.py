"""Complements of Boolean features as additional features.

A disjunction with negations becomes one without: x₂ ∨ x̄₄ = x₂ ∨ y₄ with y₄ = 1 − x₄.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.columns.schema import Schema
from thetahat.data.source import Block
from thetahat.data.validation import as_source
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


def boolean_complement(X: Any) -> Array:
    """Add the complement of every 0/1 feature, so that n features become 2n.

    Learners of monotone functions can then learn functions with negations. In a pipeline, use
    ``FunctionTransformer(th.boolean_complement)``.

    Formula: x → [x, 1 − x], so 0110 → 01101001.

    Cost: O(n d).

    Parameters
    ----------
    X : array-like, table or Source of shape (n, d)
        Rows of 0 and 1, or of Booleans.

    Returns
    -------
    array of shape (n, 2d)
        The columns of X, followed by their complements in the same order.

    Examples
    --------
    >>> import thetahat as th
    >>> th.boolean_complement([[0, 1, 1, 0]]).astype(int).tolist()
    [[0, 1, 1, 0, 1, 0, 0, 1]]
    """
    source = as_source(X, who="boolean_complement", accept_sparse=False)
    return source.map_rows(lambda block: _with_complement(block, source.schema))


def _with_complement(block: Block, schema: Schema) -> Array:
    other = (block.X != 0) & (block.X != 1)
    if other.any():
        row, column = np.argwhere(other)[0]
        raise DataError(
            f"boolean_complement: column {schema.label(column)} holds {block.X[row, column]:g} at "
            f"row {block.start + row}; only 0 and 1 have a complement. Encode the column first, "
            "for example with sklearn.preprocessing.Binarizer or OneHotEncoder."
        )
    return np.hstack([block.X, 1 - block.X])
