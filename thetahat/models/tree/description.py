"""The length of a description: bits(T) + bits to name the examples that T gets wrong.

Sender and receiver know the rows x, the number of classes C and the columns; the labels are to be
sent. The tree is sent in preorder: one bit per node says whether it is a leaf. An inner node names
its column, log₂ d bits, and where it divides: one of the q_j gaps between the distinct values of
the column, log₂ q_j bits, or one of the 2^(K−1) − 1 ways to part K categories; and where the column
has missing values one bit for their side. A leaf names its class, log₂ C bits. The receiver then
knows how many rows n each leaf holds, and is told how many of them have another class, log₂(n + 1)
bits, which ones, log₂ C(n, e) bits, and which class, e·log₂(C − 1) bits.

Both parts are sums over nodes, so bottom-up pruning finds the shortest description exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn.utils.validation import check_is_fitted

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.validation import as_weight
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.models.tree.structure import Tree


@dataclass(frozen=True)
class DescriptionLength:
    """Bits of a tree, and of the labels once the tree is known.

    total = tree_bits + exception_bits. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> print(th.results.DescriptionLength(tree_bits=12.0, exception_bits=30.5, label_bits=100.0))
    42.5 bits: 12.0 for the tree, 30.5 for its exceptions (100.0 without a tree)
    """

    tree_bits: float
    exception_bits: float
    label_bits: float
    """Bits of the labels as exceptions to a single leaf: what the tree must beat."""

    @property
    def total(self) -> float:
        """Bits in all."""
        return self.tree_bits + self.exception_bits

    def __str__(self) -> str:
        return (
            f"{self.total:.1f} bits: {self.tree_bits:.1f} for the tree, {self.exception_bits:.1f} "
            f"for its exceptions ({self.label_bits:.1f} without a tree)"
        )


@dataclass(frozen=True)
class NodeBits:
    """The description length by node: what each adds to the whole as what it is or might be."""

    inner: Array
    """As an inner node; 0 for those that are leaves."""
    leaf: Array
    """As a leaf."""
    exceptions: Array
    """Of the rows that reach it, were it a leaf."""


def description_length(model: Any, X: Any, y: Any, sample_weight: Any = None) -> DescriptionLength:
    """Measure a classification tree by the bits it takes to send the labels y of the rows X.

    bits(T) + Σ_leaves [log₂(n + 1) + log₂ C(n, e) + e·log₂(C − 1)], with n rows and e misclassified
    ones in a leaf, and bits(T) = nodes + leaves·log₂ C + Σ_inner (log₂ d + log₂ cuts of a column).
    The shorter the description, the less of the tree is noise. Cost: O(n·(depth + d·log n)).

    Parameters
    ----------
    model : fitted classification tree
        Any with a ``tree_`` of one output.
    X : table of shape (n, d)
    y : labels of shape (n,)
    sample_weight : array of shape (n,), optional
        How many rows each row stands for.

    Returns
    -------
    DescriptionLength
        With ``tree_bits``, ``exception_bits`` and ``total``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(8.0)[:, None]
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> tree = th.DecisionTreeClassifier().fit(X, y)
    >>> print(th.description_length(tree, X, y))
    12.5 bits: 7.8 for the tree, 4.6 for its exceptions (11.3 without a tree)
    """
    check_is_fitted(model, "tree_")
    bits = node_bits(model, X, y, sample_weight)
    leaves = model.tree_.feature < 0
    return DescriptionLength(
        tree_bits=float(bits.inner[~leaves].sum() + bits.leaf[leaves].sum()),
        exception_bits=float(bits.exceptions[leaves].sum()),
        label_bits=float(bits.leaf[0] + bits.exceptions[0]),
    )


def node_bits(model: Any, X: Any, y: Any, sample_weight: Any = None) -> NodeBits:
    """The description length of the labels y of the rows X under a fitted tree, node by node."""
    classes = getattr(model, "classes_", None)
    if classes is None or model.tree_.n_outputs != 1:
        raise CapabilityError(
            f"{type(model).__name__}: a description length counts misclassified labels of one "
            "output. Give a classification tree, or prune by method='weakest_link'."
        )
    tree, rows = model.tree_, model._rows(X)
    codes = LabelEncoding(classes).encode(np.asarray(y))
    counts = class_counts(tree, rows, codes, sample_weight)
    total = counts.sum(axis=1)
    wrong = total - counts.max(axis=1)
    n_classes = counts.shape[1]
    subsets = gammaln(total + 1) - gammaln(wrong + 1) - gammaln(total - wrong + 1)
    exceptions = np.log2(total + 1) + subsets / np.log(2.0) + wrong * _log2(n_classes - 1)
    is_inner = tree.feature >= 0
    categories = np.zeros(tree.n_features, dtype=np.int64)  # oblique directions have none
    categories[: model.n_features_in_] = model._columns.n_categories
    cuts = _bits_of_cuts(rows, categories)
    inner = np.where(is_inner, 1.0 + _log2(tree.n_features) + cuts[tree.feature], 0.0)
    leaf = np.full(tree.node_count, 1.0 + _log2(n_classes))
    return NodeBits(inner=inner, leaf=leaf, exceptions=exceptions)


def class_counts(tree: Tree, rows: Array, codes: Array, sample_weight: Any = None) -> Array:
    """How many rows of each class reach each node, (n_nodes, C)."""
    weight = None
    if sample_weight is not None:
        weight = as_weight(sample_weight, rows.shape[0], "description_length")
    n_classes = tree.max_n_classes
    cell = tree.apply(rows) * n_classes + codes
    counts = np.bincount(cell, weight, minlength=tree.node_count * n_classes).astype(float)
    counts = counts.reshape(tree.node_count, n_classes)
    for node in np.flatnonzero(tree.feature >= 0)[::-1]:  # children come after parents
        counts[node] = counts[tree.left[node]] + counts[tree.left[node] + 1]
    return counts


def _bits_of_cuts(rows: Array, n_categories: Array) -> Array:
    """Bits that say where a column is divided, and on which side its missing values go."""
    bits = np.zeros(rows.shape[1])
    for j, n_sets in enumerate(n_categories):
        column = rows[:, j]
        missing = np.isnan(column)
        if n_sets:
            ways = n_sets - 1 + np.log2(-np.expm1(-np.log(2.0) * (n_sets - 1))) if n_sets > 1 else 0
        else:
            ways = _log2(np.unique(column[~missing]).size - 1)
        bits[j] = ways + bool(missing.any())
    return bits


def _log2(count: float) -> float:
    """log₂, and 0 where there is nothing to choose from."""
    return float(np.log2(count)) if count > 1 else 0.0
