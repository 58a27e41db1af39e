"""Optional dependencies, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from thetahat.foundation.errors import MissingExtraError


def optional_import(module: str, *, extra: str, purpose: str) -> Any:
    """Import `module`, or raise an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError as missing:
        raise MissingExtraError(
            f"{purpose} needs {module.split('.')[0]}, which is not installed. "
            f'Install it with: pip install "thetahat[{extra}]"'
        ) from missing
