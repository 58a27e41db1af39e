"""Description length: bits(T) plus the bits needed to list the rows that T misclassifies.

Sender and receiver both know the rows x, the columns and the number of classes C; the labels are
transmitted. The tree is sent in preorder: one bit per node states whether it is a leaf. An inner
node specifies its column, log₂ d bits, and its split: one of the q_j gaps between the distinct
values of the column, log₂ q_j bits, or one of the 2^(K−1) − 1 ways to divide K categories; and for
columns with missing values one bit for their side. A leaf specifies its class, log₂ C bits. The
receiver then knows the number of rows n of each leaf and receives how many of them have another
class, log₂(n + 1) bits, which ones, log₂ C(n, e) bits, and which class, e·log₂(C − 1) bits.

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
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.models.tree.growth.columns import dense_rows
from thetahat.models.tree.structure import Tree


@dataclass(frozen=True)
class DescriptionLength:
    """Description length of labels: bits of a tree, and of the labels given the tree.

    total = tree_bits + exception_bits. Cost: O(1).

    Attributes
    ----------
    tree_bits : float
        Number of bits that describe the tree.
    exception_bits : float
        Number of bits that describe the misclassified rows.
    label_bits : float
        Number of bits for the labels without a tree, that is, with a single leaf.

    Examples
    --------
    >>> import thetahat as th
    >>> print(th.results.DescriptionLength(tree_bits=12.0, exception_bits=30.5, label_bits=100.0))
    42.5 bits: 12.0 for the tree, 30.5 for its exceptions (100.0 without a tree)
    """

    tree_bits: float
    exception_bits: float
    label_bits: float
    """Bits of the labels with a single leaf; a useful tree needs fewer in total."""

    @property
    def total(self) -> float:
        """Total number of bits."""
        return self.tree_bits + self.exception_bits

    def __str__(self) -> str:
        return (
            f"{self.total:.1f} bits: {self.tree_bits:.1f} for the tree, {self.exception_bits:.1f} "
            f"for its exceptions ({self.label_bits:.1f} without a tree)"
        )


@dataclass(frozen=True)
class NodeBits:
    """Contribution of each node to the description length, as an inner node or as a leaf."""

    inner: Array
    """Bits as an inner node; 0 for leaves."""
    leaf: Array
    """Bits as a leaf."""
    exceptions: Array
    """Bits of the misclassified rows if the node were a leaf."""


@needs_memory
def description_length(model: Any, X: Any, y: Any, sample_weight: Any = None) -> DescriptionLength:
    """Compute the number of bits needed to describe labels with a classification tree.

    A shorter description means that less of the tree is noise; use it to compare pruned trees.

    Formula: bits(T) + Σ_leaves [log₂(n + 1) + log₂ C(n, e) + e·log₂(C − 1)], with n rows and e
    misclassified rows in a leaf, and bits(T) = nodes + leaves·log₂ C + Σ_inner (log₂ d + log₂ cuts
    of a column). Cost: O(n·(depth + d·log n)).

    Parameters
    ----------
    model : fitted classification tree
        Any fitted estimator with a ``tree_`` for one output.
    X : table of shape (n, d)
        Rows whose labels are described.
    y : array-like of shape (n,)
        Class label of each row.
    sample_weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

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
    """Description length of the labels y of the rows X under a fitted tree, per node."""
    classes = getattr(model, "classes_", None)
    if classes is None or model.tree_.n_outputs != 1:
        raise CapabilityError(
            f"{type(model).__name__}: the description length counts misclassified labels of one "
            "output. Use a classification tree, or prune with method='weakest_link'."
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
    categories = np.zeros(tree.n_features, dtype=np.int64)  # oblique directions have no categories
    categories[: model.n_features_in_] = model._columns.n_categories
    cuts = _bits_of_cuts(dense_rows(rows, type(model).__name__), categories)
    inner = np.where(
        is_inner, 1.0 + _log2(tree.n_features) + cuts[np.maximum(tree.feature, 0)], 0.0
    )
    leaf = np.full(tree.node_count, 1.0 + _log2(n_classes))
    return NodeBits(inner=inner, leaf=leaf, exceptions=exceptions)


def class_counts(tree: Tree, rows: Array, codes: Array, sample_weight: Any = None) -> Array:
    """Number of rows of each class that reach each node, (n_nodes, C)."""
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
    """Bits for the threshold of a column and for the side of its missing values."""
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
    """log₂, and 0 where there is only one choice."""
    return float(np.log2(count)) if count > 1 else 0.0
