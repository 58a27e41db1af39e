"""Text as a UTF-8 file that Arrow can read by itself.

Arrow reads ahead on threads of its own. If these called Python (for a stream, or for another
encoding), one of them could do so while the interpreter ends, which ends the process with a signal
or never. Such text is therefore decoded here first, in pieces, into a temporary file.
"""

from __future__ import annotations

import codecs
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_PIECE = 1 << 20


def is_utf8(encoding: str) -> bool:
    """Whether Arrow can read this encoding without Python."""
    return codecs.lookup(encoding).name == "utf-8"


@contextmanager
def utf8_file(stream: Any, encoding: str) -> Iterator[str]:
    """The path of a temporary file with the text of a binary stream. Cost: O(size) on the disk."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with tempfile.NamedTemporaryFile(prefix="thetahat", suffix=".txt") as file:
        more = True
        while more:
            piece = stream.read(_PIECE)
            more = bool(piece)
            file.write(decoder.decode(piece, final=not more).encode())
        file.flush()
        yield file.name
