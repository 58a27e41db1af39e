"""Loss, gradient and Hessian sums over rows, in a single compiled pass.

There is one pass for losses of one output, and one for the softmax loss of several classes. A pass
does the work of `predictor.raw`, `loss.value_and_gradient` and `predictor.pullback`, reads X once,
and releases the interpreter's lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.source import Block, kernel_weights
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.compiled import compiled, is_softmax
from thetahat.objective.predictor import LinearPredictor, Predictor

FEW = 40
"""Entries of θ up to which one compiled pass is faster than weighted rows and BLAS."""
MANY = 10_000
"""Entries of θ of several classes from which BLAS is faster than one compiled pass."""
MOSTLY_ZEROS = 0.1
"""Share of entries other than 0 up to which many passes over sparse rows take less time."""
WORTH_SHARING = 2e5
"""Entries of X times classes from which a second thread saves time in a pass over class scores."""
ALL = np.empty(0, dtype=np.int64)
"""Stands for all entries of θ."""


def loss_and_slope(
    block: Block, predictor: Predictor, loss: Loss, theta: Array
) -> tuple[float, Array] | None:
    """Σ wℓ and Σ w∇ℓ; None if the kernel does not support the parts."""
    if _is_class_pass(block.X, predictor, loss):
        return _class_loss_and_slope(block, predictor, theta)
    dense = in_rows(block.X)
    known = _known(predictor, loss) if dense or in_sparse_rows(block.X) else None
    if known is None:
        return None
    slope = np.empty(predictor.n_parameters)
    X, *targets = rows_of(block)
    sums: Any = _native.loss_sums if dense else _native.sparse_loss_sums
    rows = (X,) if dense else kernel_rows(X)
    return sums(*rows, *targets, _double(theta), *known, slope), slope


def _is_class_pass(X: Matrix, predictor: Predictor, loss: Loss) -> bool:
    """Whether the pass for the softmax loss supports these parts."""
    if not is_softmax(loss) or type(predictor) is not LinearPredictor:
        return False
    if in_sparse_rows(X):
        return True
    return in_rows(X) and predictor.n_parameters <= MANY


def _class_loss_and_slope(block: Block, predictor: Predictor, theta: Array) -> tuple[float, Array]:
    """Σ wℓ and Σ w∇ℓ of the softmax loss."""
    rows, y, weight = rows_of(block)
    X: Any = rows
    dense, k = isinstance(X, np.ndarray), predictor.n_outputs
    entries = X.size if dense else X.nnz
    threads = n_threads() if entries * k >= WORTH_SHARING else 1
    slope = np.empty(predictor.n_parameters)
    sums: Any = _native.class_loss_sums
    places = (X,) if dense else kernel_rows(X)
    return sums(*places, y, weight, _double(theta), k, slope, threads), slope


def curved_gram(
    block: Block, predictor: Predictor, loss: Loss, theta: Array, entries: Array = ALL
) -> Array | None:
    """Σ w∇²ℓ for all entries of θ or for some; None if there are many, or parts not supported."""
    known = _known(predictor, loss) if in_rows(block.X) else None
    size = len(entries) or predictor.n_parameters
    if known is None or size > FEW:
        return None
    gram = np.empty((size, size))
    _native.curved_gram(*rows_of(block), _double(theta), *known, entries, gram)
    return gram


def in_rows(X: Matrix) -> bool:
    """Whether X has the layout that the kernels read: dense and C-ordered."""
    if type(X) is not np.ndarray or X.dtype.char not in "df":
        return False
    return X.shape[1] <= 1 or X.strides[1] == X.itemsize


def in_sparse_rows(X: Any) -> bool:
    """Whether X is sparse in the layout that the kernels read: compressed rows."""
    return (
        getattr(X, "format", None) == "csr"
        and X.dtype.char in "df"
        and X.indices.dtype == X.indptr.dtype
    )


def kernel_rows(X: Matrix) -> tuple[Any, ...]:
    """The arguments for kernels that visit dense or sparse rows in any order."""
    if isinstance(X, np.ndarray):
        return (np.ascontiguousarray(X),)
    return X.data, X.indices, X.indptr, X.shape[1]


def compact_rows(X: Matrix) -> tuple[Any, ...]:
    """`kernel_rows` for many passes; dense rows that are mostly zeros become sparse."""
    if isinstance(X, np.ndarray) and np.count_nonzero(X) <= MOSTLY_ZEROS * X.size:
        import scipy.sparse as sp

        X = sp.csr_array(X)
    return kernel_rows(X)


def rows_of(block: Block) -> tuple[Array, Array, Array]:
    """X, y and the weights (empty if there are none) in the layout that the kernels read."""
    weight = kernel_weights(block.weight)
    return block.X, _double(block.targets), weight


def _known(predictor: Predictor, loss: Loss) -> tuple[float, int, float] | None:
    """The value of the constant column, the number of the loss, and its δ, ε or power."""
    if not isinstance(predictor, LinearPredictor) or predictor.n_outputs:
        return None
    found = compiled(loss)
    return None if found is None else (predictor.constant, *found)


def _double(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=np.float64)
