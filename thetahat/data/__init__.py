"""Where the rows are, what their columns hold, and one way to run over them."""

from thetahat._lazy import lazy as _lazy

_NAMES = {
    "Kind": "thetahat.data.schema",
    "LabelEncoding": "thetahat.data.labels",
    "MissingMask": "thetahat.data.missing",
    "infer_schema": "thetahat.data.tables",
    "missing_mask": "thetahat.data.missing",
}
__all__ = sorted(_NAMES)
__getattr__, __dir__ = _lazy(__name__, _NAMES)
