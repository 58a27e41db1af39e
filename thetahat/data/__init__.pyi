# Written by `python -m tests.public_stub`; do not edit.

from thetahat.data.labels import LabelEncoding as LabelEncoding
from thetahat.data.missing import MissingMask as MissingMask
from thetahat.data.missing import missing_mask as missing_mask
from thetahat.data.schema import Kind as Kind
from thetahat.data.tables import infer_schema as infer_schema

__all__ = [
    "Kind",
    "LabelEncoding",
    "MissingMask",
    "infer_schema",
    "missing_mask",
]
