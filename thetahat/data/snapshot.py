"""Files with the state of an interrupted fit: plain arrays and a JSON text, never code.

A snapshot carries a fingerprint of the rows and the parameters of its fit, and is written
completely or not at all.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, is_zipfile

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.source import Block, Source
from thetahat.foundation.atomic_file import atomic_file
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

UNREADABLE = (ValueError, KeyError, TypeError, RuntimeError, EOFError, BadZipFile, zlib.error)
"""Errors of a file that is damaged, or that something else wrote."""


def fingerprint(source: Source, facts: Any) -> str:
    """A digest of all rows, targets and weights, and of facts that JSON can hold."""
    digest = hashlib.blake2b(json.dumps(facts).encode(), digest_size=16)
    for block in source.blocks():
        for part in (block.X, block.y, block.weight):
            if part is not None:
                _add(digest, part)
    return digest.hexdigest()


def digests_of_rows(source: Source) -> dict[str, str]:
    """Digests of X, y and the weights. Cost: one pass, where the rows are."""
    whole: dict[str, Any] = {}
    for found in source.with_missing().with_categories().map_blocks(_digests_of_block):
        for role, digest in found.items():
            whole.setdefault(role, hashlib.blake2b(digest_size=16)).update(digest)
    return {role: digest.hexdigest() for role, digest in whole.items()}


def digest_of(values: Any) -> str:
    """A digest of an array."""
    digest = hashlib.blake2b(digest_size=16)
    _add(digest, values)
    return digest.hexdigest()


def _digests_of_block(block: Block) -> dict[str, bytes]:
    parts = {"X": block.X, "y": block.y, "sample_weight": block.weight}
    return {
        role: digest_of(to_host(part)).encode() for role, part in parts.items() if part is not None
    }


def _add(digest: Any, part: Any) -> None:
    digest.update(str((part.shape, part.dtype)).encode())
    sparse = hasattr(part, "indptr")
    for values in (part.data, part.indices, part.indptr) if sparse else (part,):
        digest.update(np.ascontiguousarray(values).tobytes())


def write_snapshot(path: Path, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write the facts, as JSON, and the arrays."""
    text = json.dumps(dict(facts), default=lambda values: values.tolist())
    held = {**arrays, "facts": np.frombuffer(text.encode(), dtype=np.uint8)}
    with atomic_file(path) as file:
        np.savez(file, **held)  # type: ignore[arg-type]


def read_snapshot(
    path: Path, *, version: int, mark: str, who: str, role: str = "checkpoint="
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The facts and arrays of a snapshot of this version whose "fingerprint" is `mark`.

    ``role`` stands before the path in errors.
    """
    try:
        facts, arrays = _contents(path)
        if facts["version"] != version:
            raise ValueError(f"its version is {facts['version']!r}, not {version}")
        found = facts["fingerprint"]
    except (OSError, *UNREADABLE) as failure:
        raise DataError(
            f"{who}: {role}{str(path)!r} is not a snapshot of a fit ({failure}). Delete the "
            "file, or use another path."
        ) from failure
    if found != mark:
        raise DataError(
            f"{who}: {role}{str(path)!r} is a snapshot of a fit on other rows or with other "
            "parameters. Delete the file to start again, or use another path."
        )
    return facts, arrays


def _contents(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    with open(path, "rb") as file:
        if not is_zipfile(file):
            raise ValueError("it is no .npz file, or only a part of one")
        file.seek(0)
        with np.load(file, allow_pickle=False) as held:
            arrays = {name: _array(held, name) for name in held.files}
    return json.loads(arrays.pop("facts").tobytes()), arrays


def _array(held: Any, name: str) -> Array:
    try:
        found = held[name]
    except ValueError as failure:  # NumPy suggests to allow pickles, which may run code
        raise ValueError(f"its part {name!r} is damaged or holds Python objects") from failure
    if not isinstance(found, np.ndarray):
        raise ValueError(f"its part {name!r} is no array")
    return found
