"""Whether the indices of a sparse matrix point into it."""

from __future__ import annotations

from typing import Any

from thetahat.foundation.errors import DataError


def require_indices(X: Any, who: str, name: str = "X") -> None:
    """Refuse indices outside of a sparse matrix: compiled loops follow them. Cost: O(entries)."""
    if not _has_sound_indices(X):
        where = {"coo": "row or col", "lil": "rows"}.get(X.format, "indices or indptr")
        raise DataError(
            f"{who}: the sparse {name} of shape {X.shape} is damaged: its {where} are no "
            "indices into it. Build it again"
            + (f"; {name}.check_format() says what is wrong." if hasattr(X, "indptr") else ".")
        )


def _has_sound_indices(X: Any) -> bool:
    if X.format == "coo":
        return all(
            len(places) == len(X.data)
            and (len(places) == 0 or (places.min() >= 0 and places.max() < length))
            for places, length in zip((X.row, X.col), X.shape, strict=True)
        )
    if X.format == "lil":
        return len(X.rows) == len(X.data) == X.shape[0] and all(
            len(places) == len(values)
            and (len(places) == 0 or (min(places) >= 0 and max(places) < X.shape[1]))
            for places, values in zip(X.rows, X.data, strict=True)
        )
    if X.format not in ("csr", "csc", "bsr"):  # the others are checked by the conversion
        return True
    rows, columns = X.shape[::-1] if X.format == "csc" else X.shape
    if X.format == "bsr":
        rows, columns = rows // X.blocksize[0], columns // X.blocksize[1]
    bounds, places = X.indptr, X.indices
    return (
        bounds.dtype.kind in "iu"
        and places.dtype.kind in "iu"
        and bounds.ndim == places.ndim == 1
        and X.data.ndim == (3 if X.format == "bsr" else 1)
        and len(bounds) == rows + 1
        and bounds[0] == 0
        and bounds[-1] <= min(len(places), len(X.data))
        and bool((bounds[1:] >= bounds[:-1]).all())
        and (len(places) == 0 or (places.min() >= 0 and places.max() < columns))
    )
