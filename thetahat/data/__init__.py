"""Rows in memory, in files and on devices, their columns, and passes over them."""

from thetahat._lazy import lazy as _lazy

_NAMES = {
    "Kind": "thetahat.data.columns.schema",
    "LabelEncoding": "thetahat.data.columns.labels",
    "MissingMask": "thetahat.data.columns.missing",
    "infer_schema": "thetahat.data.columns.tables",
    "missing_mask": "thetahat.data.columns.missing",
}
__all__ = sorted(_NAMES)
__getattr__, __dir__ = _lazy(__name__, _NAMES)
