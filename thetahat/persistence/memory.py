"""How much memory reading a model file may take.

A small file can describe large objects: text padded to the longest entry, lists of empty lists, a
value repeated many times. Reading keeps an account, so that a file can never take more than a small
multiple of its own size.
"""

from __future__ import annotations

from thetahat.foundation.errors import DataError

PER_BYTE = 3
ALWAYS = 64 * 2**20
"""By default a file may take 3 times its size and 64 MB."""

OVERHEAD = 12 * 2**20
"""Memory of reading itself: buffers and modules."""


class Budget:
    """The memory that is left for the objects of one file."""

    def __init__(self, n_bytes: int, limit: int | None) -> None:
        self._limit = PER_BYTE * n_bytes + ALWAYS if limit is None else limit
        # The arrays are in memory twice while they are read: the file, and the model.
        self._left: float = self._limit - 2 * n_bytes - OVERHEAD

    def spend(self, n_bytes: float) -> None:
        """Take from what is left; too little raises an error."""
        self._left -= n_bytes
        if self._left < 0:
            raise DataError(
                f"Reading this file would take more than {self._limit / 2**20:.0f} MB, which is "
                "more than its size suggests. If you trust it, allow more memory: "
                "th.load(path, max_memory=bytes)."
            )


def header_cost(header: bytes) -> float:
    """A bound on the memory of the objects that the JSON text of a header describes.

    It counts the text in its copies (the bytes, the parsed header, the text, its values) and the
    brackets, commas and quotation marks, each with the size of the objects they stand for.
    """
    width = 1 if header.isascii() and b"\\u" not in header else 4
    # Every array has an entry in the header that is parsed outside Python.
    n_arrays = header.count(b'"data_offsets"')
    objects = header.count(b"{") - n_arrays
    lists = header.count(b"[") - 2 * n_arrays
    commas = header.count(b",") - 4 * n_arrays
    texts = header.count(b'"') / 2 - 4 * n_arrays
    sizes = 400 * objects + 170 * lists + 48 * commas + 56 * texts + 300 * n_arrays
    return (2 + 2 * width) * len(header) + sizes
