"""Optional dependencies, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from thetahat.foundation.errors import MissingExtraError


def optional_import(module: str, *, extra: str | None = None, purpose: str) -> Any:
    """Import `module`, or raise an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError as missing:
        package = module.split(".")[0]
        raise MissingExtraError(
            f"{purpose} needs {package}, which is not installed. Install it with: pip install "
            + (f'"thetahat[{extra}]"' if extra else package)
        ) from missing
