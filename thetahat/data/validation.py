"""Validation of X, y and sample_weight: `as_source`.

Lists and data from NumPy, pandas, polars, Arrow, SciPy sparse, a memory map or a `Source` become a
`Source` of floating-point rows, read in place where possible, or raise an error with the rule, the
column or row, the value and a remedy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from thetahat.data.arrays import (
    as_array,
    is_device_array,
    like,
    require_plain_tensor,
    require_unmasked,
    require_values,
    to_host,
)
from thetahat.data.columns.schema import Schema
from thetahat.data.columns.sparse_indices import require_indices
from thetahat.data.columns.tables import is_table, table_to_numpy
from thetahat.data.finite import describe_non_finite
from thetahat.data.in_memory import InMemory
from thetahat.data.magnitudes import WEIGHTS, require_target_size, require_weight_size
from thetahat.data.source import Block, Source
from thetahat.foundation.checked_value import well_placed, well_placed_rows
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix, SparseMatrix

if TYPE_CHECKING:
    from thetahat.data.on_device import OnDevice


def as_source(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    who: str = "This model",
    accept_sparse: bool = True,
    multi_output: bool = True,
    accept_device: bool = False,
    check_finite: bool = True,
) -> Source:
    """The data as a source of rows; raises a `DataError` if they are invalid.

    With `check_finite=False`, NaN and infinity in X are left to a caller that detects them in its
    own summary (``Source.require_finite`` then names the value), which saves a pass.
    """
    if isinstance(X, Source):
        require_source_alone(y, sample_weight, who)
        if X.has_weight and not isinstance(X, InMemory):
            _require_weights_of_source(X, who)
        return X
    if is_device_array(X) and accept_device:
        return _on_device(X, y, sample_weight, who, multi_output)
    features, schema = as_features(X, who=who, accept_sparse=accept_sparse)
    n = features.shape[0]
    target = None if y is None else as_target(y, n, features.dtype, who, multi_output)
    weight = None if sample_weight is None else as_weight(sample_weight, n, who)
    source = InMemory(
        X=features,
        y=target,
        weight=weight,
        n_features=int(features.shape[1]),
        n_outputs=0 if target is None or target.ndim == 1 else int(target.shape[1]),
        dtype=features.dtype,
        schema=schema,
        has_target=target is not None,
        has_weight=weight is not None,
    )
    if check_finite:
        source.require_finite()
    return source


def require_source_alone(y: Any, sample_weight: Any, who: str) -> None:
    """Refuse targets and weights that are given beside a source."""
    if y is not None or sample_weight is not None:
        raise DataError(
            f"{who}: a source holds its own y and sample_weight. Name them when it is opened: "
            "th.scan(path, target=..., weight=...) or th.from_dask(X, y, sample_weight)."
        )


def _on_device(X: Any, y: Any, sample_weight: Any, who: str, multi_output: bool) -> OnDevice:
    """Rows of torch or CuPy, left on their device; targets and weights are checked on the host."""
    from thetahat.data.on_device import OnDevice

    X = as_device_features(X, who)
    n, dtype = int(X.shape[0]), np.dtype(str(X.dtype).rpartition(".")[2])
    target = None if y is None else as_target(to_host(y), n, dtype, who, multi_output)
    weight = None if sample_weight is None else as_weight(to_host(sample_weight), n, who)
    return OnDevice(
        X=X,
        y=None if target is None else like(target, X),
        weight=None if weight is None else like(weight, X),
        n_features=int(X.shape[1]),
        n_outputs=0 if target is None or target.ndim == 1 else int(target.shape[1]),
        dtype=dtype,
        has_target=target is not None,
        has_weight=weight is not None,
    )


def as_device_features(X: Any, who: str) -> Array:
    """X as a 2-D float32 or float64 array, on its device."""
    from array_api_compat import array_namespace

    require_plain_tensor(X, "X", who)
    xp = array_namespace(X)
    if X.ndim != 2:
        raise DataError(
            f"{who}: Expected 2D array, got {X.ndim}D array instead (shape={tuple(X.shape)}). "
            "Reshape your data: X.reshape(-1, 1) for one feature."
        )
    _require_rows_and_columns(tuple(X.shape), who)
    return X if X.dtype in (xp.float32, xp.float64) else xp.astype(X, xp.float64)


def as_features(X: Any, *, who: str, accept_sparse: bool = True) -> tuple[Matrix, Schema]:
    """X as a 2-D float32 or float64 array (or CSR), with the schema of its columns."""
    schema = Schema()
    if is_device_array(X):
        require_plain_tensor(X, "X", who, negated=False)
        if "cpu" not in str(X.device):
            raise DataError(
                f"{who} runs on the CPU, but X is on {X.device}. Copy it first: X.cpu().numpy()."
            )
        X = to_host(X)
    if is_sparse(X):
        if not accept_sparse:
            raise TypeError(
                f"{who} does not accept sparse input. Use X.toarray() if it fits in memory."
            )
        return _as_csr(X, who), schema
    if is_table(X):
        X, schema = table_to_numpy(X)
    X = as_numbers(X, "X", who)
    require_matrix(X.shape, who)
    return X, schema


def require_matrix(shape: tuple[int, ...], who: str) -> None:
    """Require a matrix with at least one row and one column."""
    if len(shape) != 2:
        found = {0: "scalar array", 1: "1D array"}.get(len(shape), f"{len(shape)}D array")
        raise DataError(
            f"{who}: Expected 2D array, got {found} instead (shape={shape}). "
            "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one row."
        )
    _require_rows_and_columns(shape, who)


def as_weight(sample_weight: Any, n: int, who: str) -> Array:
    """Weights as float64 of shape (n,): finite, ≥ 0, not all zero; a scalar is repeated."""
    weight = as_numbers(sample_weight, "sample_weight", who)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    weight = np.ascontiguousarray(weight, dtype=np.float64)  # compiled loops read it
    if weight.ndim != 1 or weight.shape[0] != n:
        raise DataError(
            f"{who}: sample_weight has shape {weight.shape}. Give one number per row, ({n},)."
        )
    _require_finite_vector(weight, "sample_weight", who)
    negative = np.flatnonzero(weight < 0)
    if negative.size:
        raise DataError(
            f"{who}: {negative.size} of {n} sample weights are negative (first at row "
            f"{negative[0]}: {weight[negative[0]]:g}); weights must be ≥ 0. "
            "Drop those rows instead."
        )
    require_positive_weight(weight, who)
    return weight


def require_positive_weight(weight: Array, who: str) -> None:
    """Raise an error if all weights are zero, or too small or too large to add up."""
    if not weight.any():
        raise DataError(
            f"{who}: all sample weights are zero. Give at least one row a positive weight."
        )
    require_weight_size(weight, who)


def _require_weights_of_source(source: Source, who: str) -> None:
    """Raise an error if all sample weights are zero or too small.

    Weights that are too large, negative or not finite are found when their rows are read. Cost:
    the rows are read up to the first weight that is large enough, usually in the first block.
    """
    targets = source.with_missing().with_categories().targets_only()
    if not any(weight >= WEIGHTS[0] for weight in targets.map_blocks(_largest_weight)):
        weights = list(targets.map_blocks(_weights))
        if weights:
            require_positive_weight(np.concatenate(weights), who)


def _largest_weight(block: Block) -> float:
    return float(_weights(block).max(initial=0.0))


def _weights(block: Block) -> Array:
    return np.asarray(to_host(block.row_weights), dtype=np.float64)


def as_target(y: Any, n: int, dtype: Any, who: str, multi_output: bool) -> Array:
    """Finite targets as floating point of shape (n,), or (n, k) for several outputs."""
    require_dense_target(y, who)
    if is_table(y):
        y, _ = table_to_numpy(y)
    y = as_numbers(y, "y", who)
    _require_target_columns(y.shape, who)
    if y.ndim == 0 or y.ndim > 2:
        raise DataError(
            f"{who}: y should be a 1d array (or 2-D, one column per output); got shape {y.shape}."
        )
    if y.ndim == 2 and not multi_output:
        if y.shape[1] != 1:
            raise DataError(
                f"{who}: y should be a 1d array, got an array of shape {y.shape} instead; this "
                "model has one output. Fit one model per column."
            )
        y = y[:, 0]
    if y.shape[0] != n:
        raise DataError(
            f"{who}: Found input variables with inconsistent numbers of samples: X has {n} rows, "
            f"y has {y.shape[0]}. Give one target per row."
        )
    _require_finite_vector(y, "y", who)
    require_target_size(y, dtype, who)
    return y.astype(dtype, copy=False)


def require_dense_target(y: Any, who: str) -> None:
    """Refuse a sparse y, of which NumPy would make one object, masked values, and no columns."""
    require_values(y, "y", who)
    require_unmasked(y, "y", who)
    if is_sparse(y):
        raise TypeError(
            f"{who}: y must be dense, but it is a sparse array of shape {y.shape}. Use y.toarray()."
        )
    _require_target_columns(getattr(y, "shape", ()), who)


def require_real_labels(y: Any, who: str) -> None:
    """Refuse complex numbers as labels, which have no order."""
    values = np.asarray(y)
    found = values.dtype.kind == "c"
    if values.dtype == object:
        kinds = set(map(type, values.ravel().tolist()))
        found = any(issubclass(kind, complex | np.complexfloating) for kind in kinds)
    if found:
        raise DataError(
            f"{who}: Complex data not supported: y holds complex numbers, which have no order. "
            "Give labels as text, whole numbers or Booleans."
        )


def _require_target_columns(shape: tuple[int, ...], who: str) -> None:
    if len(shape) == 2 and shape[1] == 0:
        raise DataError(
            f"{who}: y has no columns (shape={tuple(shape)}), but a target needs at least one. "
            "Pass one target per row, of shape (n,), or one column per output."
        )


def as_numbers(values: Any, role: str, who: str) -> Array:
    """A float32 or float64 array without a copy where it already is one."""
    if type(values) in (np.ndarray, np.memmap) and values.dtype in (np.float64, np.float32):
        return well_placed(values)
    array = as_array(values, role, who)
    if array.dtype.kind == "c":
        raise DataError(
            f"{who}: Complex data not supported: {role} is {array.dtype}. "
            "Give real and imaginary parts as two columns."
        )
    if array.dtype in (np.float64, np.float32):
        return well_placed(array)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind in "USOT":
        return _parse_numbers(array, role, who)
    raise DataError(f"{who}: {role} has dtype {array.dtype}, but it must hold numbers.")


def _parse_numbers(array: Array, role: str, who: str) -> Array:
    """Convert objects and strings to numbers; the error names the first that is not a number."""
    try:
        return array.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as failure:
        flat = array.reshape(array.shape[0], -1) if array.ndim else array.reshape(1, 1)
        for row, column in np.ndindex(flat.shape):
            entry = flat[row, column]
            entry = str(entry) if isinstance(entry, str) else entry
            try:
                float(entry)
            except (ValueError, TypeError, OverflowError) as cause:
                where = f"row {row}" + (f", column {column}" if array.ndim > 1 else "")
                if isinstance(cause, OverflowError):
                    raise DataError(
                        f"{who}: {role} holds a number at {where} that is too large for "
                        "dtype('float64'), whose largest is 1.8e308. Divide the numbers by the "
                        "same factor, or drop that row."
                    ) from None
                if isinstance(entry, str):
                    raise DataError(
                        f"{who}: {role} holds the text {entry[:40]!r} at {where}, which is not a "
                        f"number. {_number_remedy(role)}"
                    ) from None
                raise TypeError(  # scikit-learn's words for the same error
                    f"{who}: {role} holds {entry!r:.80} at {where}, which is not a number: the "
                    f"argument must be a string or a real number. {_number_remedy(role)}"
                ) from failure
        raise


def _number_remedy(role: str) -> str:
    if role == "y":
        return "Give numbers as targets, or use a classifier for labels."
    if role == "sample_weight":
        return "Give one number ≥ 0 for each row."
    return "Encode categories first, for example with sklearn.preprocessing.OneHotEncoder."


def is_sparse(X: Any) -> TypeGuard[SparseMatrix]:
    """Whether X is SciPy sparse, without importing SciPy."""
    return type(X).__module__.startswith("scipy.sparse")


def _as_csr(X: Any, who: str) -> Array:
    import scipy.sparse

    if X.ndim != 2:
        raise DataError(f"{who}: Expected 2D array, got a sparse array of shape {X.shape} instead.")
    _require_rows_and_columns(X.shape, who)
    if X.dtype.kind == "c":
        raise DataError(f"{who}: Complex data not supported: X is {X.dtype}.")
    require_indices(X, who)
    if X.dtype not in (np.float64, np.float32):
        X = X.astype(np.float64)
    csr = X if isinstance(X, scipy.sparse.csr_array) else scipy.sparse.csr_array(X)
    if csr.indices.dtype != csr.indptr.dtype or not csr.indices.dtype.isnative:
        # The constructor brings both to one native type, which compiled loops need.
        csr = scipy.sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
    csr = well_placed_rows(csr)
    if csr is not X and X.format == "csr" and np.may_share_memory(csr.indices, X.indices):
        # SciPy looks at the entries once, and keeps the answer with the user's matrix.
        csr.has_canonical_format = X.has_canonical_format
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _require_rows_and_columns(shape: tuple[int, ...], who: str) -> None:
    if shape[0] == 0:
        raise DataError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required "
            f"by {who}."
        )
    if shape[1] == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )


def _require_finite_vector(values: Array, role: str, who: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum(dtype=np.float64)
    if np.isfinite(total):
        return
    bad = np.flatnonzero(~np.isfinite(values).reshape(values.shape[0], -1).all(axis=1))
    if bad.size:
        entry = values.reshape(values.shape[0], -1)[bad[0]]
        entry = entry[~np.isfinite(entry)][0]
        raise DataError(
            f"Input {role} contains {describe_non_finite(entry, values.dtype)}: {bad.size} of "
            f"{values.shape[0]} rows given to {who} (first at row {bad[0]}). Drop those rows or "
            "replace their values."
        )
