"""The format of a model file: a safetensors file with a manifest and a digest as metadata.

Any reader of safetensors can list the arrays; `read` checks everything else. The digest covers the
manifest and the arrays, so a damaged file is detected before a model is built. It protects against
accidents, not against forgery: safety comes from the limits on what a file may contain.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from thetahat.foundation.atomic_file import atomic_file, usable_path
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.persistence.memory import Budget, header_cost

FORMAT = "thetahat"
VERSION = 2
"""Version of the manifest. Increased when older versions of the library could misread a file."""


def write(path: str | os.PathLike[str], manifest: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Write `manifest` and `arrays` to `path`, completely or not at all."""
    content = framed(manifest, arrays)
    with atomic_file(path) as file:
        file.write(content)


def framed(manifest: dict[str, Any], arrays: Sequence[Array]) -> bytes:
    """The content of a model file."""
    from safetensors.numpy import save

    text = json.dumps(manifest, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    tensors = {f"{place}": _tensor(array) for place, array in enumerate(arrays)}
    metadata = {
        "format": FORMAT,
        "version": str(VERSION),
        "manifest": text,
        "digest": digest(text, [tensors[str(place)] for place in range(len(tensors))]),
    }
    return _with_header_order(save(tensors, metadata), metadata)


def _with_header_order(content: bytes, metadata: dict[str, str]) -> bytes:
    """The same file with its metadata in the given order, so that equal models give equal bytes.

    safetensors writes the metadata in an order that differs from call to call.
    """
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"] = metadata
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # arrays begin at a multiple of 8
    return b"".join([struct.pack("<Q", len(text)), text, memoryview(content)[8 + length :]])


@dataclass
class Reader(AbstractContextManager["Reader"]):
    """An open model file: its manifest, and its arrays one by one."""

    path: Path
    manifest: dict[str, Any]
    n_arrays: int
    budget: Budget
    _file: Any
    _digest: str
    _text: str

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.__exit__(kind, failure, trace)

    def array(self, place: int) -> Array:
        """One array of the file."""
        if place >= self.n_arrays:
            raise DataError(
                f"{self.path} refers to array {place}, but it holds {self.n_arrays} arrays."
            )
        from safetensors import SafetensorError

        try:
            found: Array = self._file.get_tensor(str(place))
        except (SafetensorError, AttributeError, TypeError, ValueError) as failure:
            raise DataError(
                f"{self.path} is damaged: its array {place} cannot be read ({failure})."
            ) from failure
        return found

    def check_digest(self) -> None:
        """Raise an error if the content does not match its digest; one array is read at a time."""
        if digest(self._text, map(self.array, range(self.n_arrays))) != self._digest:
            raise DataError(
                f"{self.path} is damaged: its content does not match its digest. Copy it again, or "
                "save the model again."
            )

    def shapes(self) -> list[tuple[tuple[int, ...], str]]:
        """Shape and dtype of each array, from the header alone."""
        slices = (self._file.get_slice(str(place)) for place in range(self.n_arrays))
        return [(tuple(part.get_shape()), part.get_dtype()) for part in slices]


def read(path: str | os.PathLike[str], max_memory: int | None = None) -> Reader:
    """Open a model file and check its header and manifest; arrays are read on demand."""
    from safetensors import SafetensorError, safe_open

    place = usable_path(path)
    if not place.is_file():
        raise DataError(f"There is no file {place}. Write one with th.save(model, path).")
    budget = Budget(place.stat().st_size, max_memory)
    budget.spend(header_cost(_header(place)))
    try:
        opened: Any = safe_open(os.fspath(place), framework="numpy")
        file = opened.__enter__()
    except (SafetensorError, OSError) as failure:
        raise DataError(f"{place} is not a model file: {failure}.") from failure
    try:
        return _checked(place, file, budget)
    except BaseException:
        file.__exit__(None, None, None)
        raise


def _header(place: Path) -> bytes:
    """The JSON text at the beginning of a safetensors file, after its length in 8 bytes."""
    with place.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8).rjust(8, b"\0"))
        return file.read(length) if length <= place.stat().st_size else b""


def _checked(place: Path, file: Any, budget: Budget) -> Reader:
    metadata = file.metadata() or {}
    if metadata.get("format") != FORMAT or "manifest" not in metadata:
        raise DataError(f"{place} is a safetensors file, but it holds no model of thetahat.")
    version = metadata.get("version", "")
    if not version.isascii() or not version.isdigit() or len(version) > 6:
        raise DataError(f"{place} is damaged: its format version is {version[:20]!r}.")
    if int(version) > VERSION:
        raise DataError(
            f"{place} has format version {version}, but this version of thetahat reads up to "
            f"{VERSION}. Upgrade with pip install --upgrade thetahat."
        )
    try:
        manifest = json.loads(metadata["manifest"])
    except (ValueError, RecursionError) as failure:
        raise DataError(f"{place} is damaged: its manifest is not JSON ({failure}).") from failure
    if not isinstance(manifest, dict) or "model" not in manifest:
        raise DataError(f"{place} is damaged: its manifest does not describe a model.")
    names = set(file.keys())
    if names != {str(number) for number in range(len(names))}:
        raise DataError(f"{place} is damaged: its arrays are not numbered from 0.")
    return Reader(
        path=place,
        manifest=manifest,
        n_arrays=len(names),
        budget=budget,
        _file=file,
        _digest=metadata.get("digest", ""),
        _text=metadata["manifest"],
    )


def digest(text: str, arrays: Iterable[Array]) -> str:
    """BLAKE2b over the manifest and, in order, type, shape and bytes of every array."""
    total = hashlib.blake2b(text.encode(), digest_size=16)
    for array in arrays:
        total.update(f"{array.dtype.str}{array.shape}".encode())
        total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def _tensor(array: Array) -> Array:
    """The array as stored: in C order, little-endian, records as bytes."""
    array = np.ascontiguousarray(array).reshape(array.shape)  # keep a 0-D array 0-D
    if array.dtype.names:
        return array.reshape(-1).view(np.uint8)
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
