# Written by `python -m tests.public_stub`; do not edit.

from thetahat.data.columns.labels import LabelEncoding as LabelEncoding
from thetahat.data.columns.missing import MissingMask as MissingMask
from thetahat.data.columns.missing import missing_mask as missing_mask
from thetahat.data.columns.schema import Kind as Kind
from thetahat.data.columns.tables import infer_schema as infer_schema

__all__ = [
    "Kind",
    "LabelEncoding",
    "MissingMask",
    "infer_schema",
    "missing_mask",
]
