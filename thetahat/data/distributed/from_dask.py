"""`from_dask`: Dask collections as a source of rows that stay on the workers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.columns.schema import Schema
from thetahat.data.columns.tables import is_table, table_to_numpy
from thetahat.data.columns.variables import require_distinct_names, variables
from thetahat.data.distributed.cluster import (
    KEPT_SHARE,
    computed,
    kept,
    memory_of_all,
    require_fitting,
)
from thetahat.data.distributed.dask_source import DaskSource
from thetahat.data.distributed.partition import (
    ROLES,
    Facts,
    checked_partition,
    distinct_labels,
    lengths_and_bytes,
    template_of,
)
from thetahat.data.distributed.pieces import Pieces, Sizes, beside, dask, is_dask, pieces_of
from thetahat.data.on_disk.labels import KnownLabels
from thetahat.data.source import Source
from thetahat.data.validation import is_sparse
from thetahat.foundation.errors import DataError


def from_dask(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    target: str | None = None,
    weight: str | None = None,
    features: Iterable[str] | None = None,
) -> Source:
    """Open Dask arrays, dataframes or delayed partitions as the rows of a fit.

    The rows stay on the workers of the cluster. Each pass of a fit sends the parameters to the
    workers, every worker adds up its partitions, and the workers merge the sums in a tree, and the
    client receives the final sum. Estimators accept Dask arrays and dataframes directly, as in
    ``model.fit(X, y)``; this function is for columns by name, and for lists of delayed partitions.

    The sums are merged in a fixed order, so that two fits to the same partitions agree bit for
    bit, for any number of workers and even if a worker is lost during the fit. Fits to
    other partitions of the same rows, or to the rows in memory, agree up to rounding.

    Partitions are kept by the workers as floating-point numbers if they take at most half of the
    memory of all workers. Otherwise they are computed again in each pass. Partitions may
    differ in length, may be empty and need not contain all classes. If the lengths of the
    partitions are not known, as in a dataframe, they are counted first, which computes the
    collection once more.

    Formula: Σᵢ wᵢ ℓ(yᵢ, f(xᵢ)), added up partition by partition. Cost: O(n·d/workers) time per
    pass, and a message of the size of the parameters per partition. Needs ``pip install
    "thetahat[dask]"``.

    Parameters
    ----------
    X : Dask array or dataframe, or list of delayed partitions
        The features. Each delayed partition gives a 2-D array or a table.
    y : Dask array or series, array, or list of delayed partitions, optional
        The target, with one entry per row of X, in the same order. Labels may be text.
    sample_weight : Dask array or series, array, or list of delayed partitions, optional
        The row weights, with one entry per row of X, in the same order.
    target : str, optional
        The column of the dataframe X that is the target, instead of y.
    weight : str, optional
        The column of the dataframe X that holds the row weights, instead of sample_weight.
    features : list of str, optional
        The columns of the dataframe X to use, in order. By default all that are neither target nor
        weight.

    Returns
    -------
    Source
        Pass it to ``fit`` or ``score`` in place of X, y and sample_weight.

    Examples
    --------
    >>> import dask.array as da
    >>> import thetahat as th
    >>> X = da.from_array([[0.0], [1.0], [2.0], [4.0]], chunks=(2, 1))
    >>> rows = th.from_dask(X, 3 * X[:, 0] + 1)
    >>> th.LinearRegression().fit(rows).coef_.round(6).tolist()
    [3.0]
    """
    if target is not None or weight is not None or features is not None:
        X, y, sample_weight = _by_name(X, y, sample_weight, target, weight, features)
    return dask_rows(X, y, sample_weight, who="from_dask")


def dask_rows(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    who: str,
    missing: bool = False,
    infinite: bool = False,
) -> DaskSource:
    """As `from_dask`; ``missing`` accepts NaN in X, and ``infinite`` both NaN and infinity."""
    if not is_dask(X) and not (isinstance(X, Sequence) and len(X) and is_dask(X[0])):
        raise DataError(
            f"{who}: y or sample_weight is a Dask collection, but X is a {type(X).__name__}. Pass "
            "X as one too: dask.array.from_array(X, chunks=(rows, -1))."
            if is_dask(y) or is_dask(sample_weight)
            else f"{who}: X is a {type(X).__name__}, but a Dask array, dataframe or list of "
            "delayed partitions is needed."
        )
    joint = _Joint.of(X, y, sample_weight, who)
    if not joint.parts:
        raise DataError(
            f"Found array with 0 sample(s) while a minimum of 1 is required by {who}: all "
            f"partitions of the Dask collection are empty."
        )
    n_features, dtype, schema = _columns(joint.template, who)
    labels, n_outputs, target_dtype = _target(joint, who)
    sparse = is_sparse(joint.template)
    given = zip(ROLES, (X, y, sample_weight), strict=True)
    roles = tuple(role for role, values in given if values is not None)
    facts = Facts(
        who, n_features, n_outputs, dtype, schema, labels, missing, infinite, sparse, roles
    )
    n_bytes = joint.n_bytes or [
        size * n_features * np.dtype(dtype).itemsize for size in joint.sizes
    ]
    require_fitting(n_bytes, who)
    check = dask("delayed").delayed(checked_partition, pure=False)
    parts = tuple(
        check(*part, start, facts, number, size)
        for part, start, number, size in zip(
            joint.parts, joint.starts, joint.numbers, joint.sizes, strict=True
        )
    )
    if sum(n_bytes) <= KEPT_SHARE * memory_of_all():
        parts = kept(parts)
    return DaskSource(
        parts=parts,
        sizes=joint.sizes,
        n_features=n_features,
        n_outputs=n_outputs,
        dtype=dtype,
        schema=schema,
        has_target=y is not None,
        has_weight=sample_weight is not None,
        target_dtype=target_dtype,
        sparse_blocks=sparse,
        labels=None
        if labels is None
        else KnownLabels(labels, f"y holds labels such as {labels.classes.tolist()[0]!r}"),
    )


@dataclass(frozen=True)
class _Joint:
    """The partitions of X, y and the weights that have rows."""

    parts: tuple[tuple[Any, Any, Any], ...]
    sizes: Sizes
    numbers: tuple[int, ...]
    """The number of each partition in the collection, which may also have empty ones."""
    n_bytes: list[int]
    """The size of each partition where it had to be computed; else empty."""
    template: Any
    target: Any
    """An empty X and y, which have the types."""

    @property
    def starts(self) -> list[int]:
        return list(accumulate(self.sizes[:-1], initial=0))

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, who: str) -> _Joint:
        features = pieces_of(X, "X", who)
        given = {"y": y, "sample_weight": sample_weight}
        found: dict[str, Pieces] = {
            role: pieces
            for role, values in given.items()
            if is_dask(values)
            and (pieces := pieces_of(values, role, who)).sizes is None
            and len(pieces.parts) == len(features.parts)
        }
        n_bytes: list[int] = []
        sizes = features.sizes
        if sizes is None or found or is_sparse(features.template):
            sizes, n_bytes = _measured(features, found, who)
        for role, values in given.items():
            if values is not None and role not in found:
                found[role] = beside(values, sizes, role, who)
        columns = [features.parts, *(_parts(found.get(role), len(sizes)) for role in given)]
        filled = [place for place, size in enumerate(sizes) if size]
        return cls(
            tuple((columns[0][at], columns[1][at], columns[2][at]) for at in filled),
            tuple(sizes[at] for at in filled),
            tuple(filled),
            [n_bytes[at] for at in filled] if n_bytes else [],
            _template(features, "X", who),
            None if y is None else _template(found["y"], "y", who),
        )


def _parts(pieces: Pieces | None, count: int) -> tuple[Any, ...]:
    return (None,) * count if pieces is None else pieces.parts


def _measured(features: Pieces, others: dict[str, Pieces], who: str) -> tuple[Sizes, list[int]]:
    """Rows and bytes of partitions of unknown length. Cost: computes them once."""
    measure = dask("delayed").delayed(lengths_and_bytes, pure=False)
    columns = {"X": features.parts, **{role: pieces.parts for role, pieces in others.items()}}
    joint = [
        dict(zip(columns, parts, strict=True)) for parts in zip(*columns.values(), strict=True)
    ]
    tasks = [measure(parts, place, who) for place, parts in enumerate(joint)]
    try:
        found = computed(tasks)
    except (KeyError, ValueError) as failure:
        error = None if isinstance(failure, DataError) else _failed(tasks, features.template, who)
        if error is None:
            raise
        raise error from failure
    for place, (lengths, _) in enumerate(found):
        rows = lengths["X"]
        for role, length in lengths.items():
            if length != rows:
                raise DataError(
                    f"{who}: Found input variables with inconsistent numbers of samples: partition "
                    f"{place} of X has {rows} rows, that of {role} has {length}. Take both from "
                    "the same dataframe, or divide them alike."
                )
    return tuple(lengths["X"] for lengths, _ in found), [n_bytes for _, n_bytes in found]


def _failed(tasks: list[Any], template: Any, who: str) -> DataError | None:
    """An error that names the first partition of a dataframe that cannot be computed."""
    for place, task in enumerate(tasks if is_table(template) else ()):
        try:
            computed([task])
        except (KeyError, ValueError) as failure:
            named = ", ".join(map(repr, list(getattr(template, "columns", ()))[:8]))
            return DataError(
                f"{who}: partition {place} of the Dask dataframe cannot be computed "
                f"({type(failure).__name__}: {failure}). If its columns differ from those that "
                f"the dataframe declares in its meta ({named}), give all partitions the same "
                "columns in the same order."
            )
    return None


def _template(pieces: Pieces, role: str, who: str) -> Any:
    """An empty array or table with the columns of the partitions."""
    if pieces.template is not None:
        return pieces.template
    first = dask("delayed").delayed(template_of, pure=False)
    return computed([first(pieces.parts[0], role, who)])[0]


def _columns(template: Any, who: str) -> tuple[int, Any, Schema]:
    """Number, precision and names of the columns of X."""
    if len(template.shape) != 2:
        raise DataError(
            f"{who}: Expected 2D array, got {len(template.shape)}D array instead. Reshape your "
            "data: X.reshape(-1, 1) for one feature, X.to_frame() for a series."
        )
    if template.shape[1] == 0:
        raise DataError("Found array with 0 feature(s) while a minimum of 1 is required.")
    if is_table(template):
        for column in variables(template):
            if column.declared_kind is None or not column.declared_kind.is_number:
                raise DataError(
                    f"{who}: column {column.label!r} of the Dask dataframe has type "
                    f"{column.dtype}, but it must hold numbers. Leave it out with "
                    "th.from_dask(X, features=[...]), or encode it first."
                )
        numbers, schema = table_to_numpy(template)
        return int(template.shape[1]), numbers.dtype, schema
    if template.dtype.kind not in "fiub":
        raise DataError(f"{who}: X has dtype {template.dtype}, but it must hold numbers.")
    single = template.dtype == np.float32
    return int(template.shape[1]), np.dtype(np.float32 if single else np.float64), Schema()


def _target(joint: _Joint, who: str) -> tuple[LabelEncoding | None, int, Any]:
    """The labels of y if it has some, its number of columns (0 if 1-D), and its type if whole."""
    y = joint.target
    if y is None:
        return None, 0, None
    n_outputs = int(y.shape[1]) if len(y.shape) == 2 and y.shape[1] > 1 else 0
    types = list(y.dtypes) if is_table(y) and len(y.shape) == 2 else [y.dtype]
    kinds = {one.kind if isinstance(one, np.dtype) else _kind(one) for one in types}
    if kinds <= set("f"):
        return None, n_outputs, None
    if kinds <= set("iub"):
        plain = types[0] if isinstance(types[0], np.dtype) else np.dtype(np.int64)
        return None, n_outputs, None if n_outputs else plain
    if n_outputs:
        raise DataError(
            f"{who}: y has {n_outputs} columns, of which some hold no numbers. Give one column of "
            "labels, or columns of numbers."
        )
    distinct = dask("delayed").delayed(distinct_labels, pure=False)
    found = computed(
        [
            distinct(part[1], start, number, who)
            for part, start, number in zip(joint.parts, joint.starts, joint.numbers, strict=True)
        ]
    )
    classes: Any = list(dict.fromkeys(label for part in found for label in part))
    return LabelEncoding.of(classes), 0, None


def _kind(extension: Any) -> str:
    """The kind of a pandas extension type: of numbers with missing values, or of labels."""
    kind = getattr(extension, "kind", "O")
    return kind if kind in "fiub" else "O"


def _by_name(
    X: Any,
    y: Any,
    sample_weight: Any,
    target: str | None,
    weight: str | None,
    features: Iterable[str] | None,
) -> tuple[Any, Any, Any]:
    """Columns of a dataframe by their names."""
    if not hasattr(X, "columns"):
        raise DataError(
            f"from_dask: target, weight and features name columns of a Dask dataframe, but X is a "
            f"{type(X).__name__}. Pass y and sample_weight instead."
        )
    if (target is not None and y is not None) or (weight is not None and sample_weight is not None):
        raise DataError(
            "from_dask: the target is given as y and as target=..., or the weights as "
            "sample_weight and as weight=.... Give each once."
        )
    names = list(X.columns)
    require_distinct_names(X._meta)
    taken = [name for name in (target, weight) if name is not None]
    chosen = [name for name in names if name not in taken] if features is None else list(features)
    for name in [*taken, *chosen]:
        if name not in names:
            raise DataError(
                f"from_dask: the dataframe has no column {name!r}. Its columns: "
                f"{', '.join(map(repr, names[:20]))}."
            )
    if twice := [name for name in taken if name in chosen]:
        raise DataError(
            f"from_dask: column {twice[0]!r} is used for features and for target or weight. Use "
            "each column once."
        )
    if len(set(chosen)) < len(chosen):
        repeated = next(name for name in chosen if chosen.count(name) > 1)
        raise DataError(f"from_dask: features names column {repeated!r} twice. Name it once.")
    if not chosen:
        raise DataError("from_dask: no column is left for the features. Name at least one.")
    y = y if target is None else X[target]
    sample_weight = sample_weight if weight is None else X[weight]
    return X[chosen], y, sample_weight
