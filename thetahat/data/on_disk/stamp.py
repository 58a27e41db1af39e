"""The size and the version of a file, which show whether it has changed."""

from __future__ import annotations

import os
from dataclasses import dataclass

from thetahat.data.on_disk.location import Location, RemoteFile
from thetahat.foundation.errors import DataError

_REMEDY = "open the rows again with th.scan"


@dataclass(frozen=True)
class Stamp:
    """A file as it was when it was opened."""

    n_bytes: int | None
    """None if a server does not report it."""
    version: int | tuple[str, ...]
    """Time of the last change, in nanoseconds, or what a server reports of a file at a URL."""

    @classmethod
    def of(cls, path: Location) -> Stamp:
        """The stamp of a file. Cost: O(1), for a URL one request."""
        if isinstance(path, RemoteFile):
            version = path.version()
            return cls(version.n_bytes, version.marks)
        facts = os.stat(path)
        return cls(facts.st_size, facts.st_mtime_ns)

    def require_same(self, path: Location) -> None:
        """Raise an error that names the file if it was changed or removed. Cost: O(1)."""
        try:
            now = Stamp.of(path)
        except FileNotFoundError as failure:
            raise DataError(
                f"{path} does not exist any more, but it did when the rows were opened. Restore "
                f"the file, or {_REMEDY}."
            ) from failure
        except OSError as failure:
            raise DataError(
                f"{path} cannot be read any more ({failure.strerror or failure}), but it could "
                f"when the rows were opened. Make it readable, or {_REMEDY}."
            ) from failure
        if now == self:
            return
        sizes = (
            "" if now.n_bytes == self.n_bytes else f" from {self.n_bytes} to {now.n_bytes} bytes"
        )
        raise DataError(
            f"{path} changed{sizes} after its rows were opened, and its rows may not be the same. "
            f"Restore the file, or {_REMEDY}, with targets and weights that belong to it."
        )
