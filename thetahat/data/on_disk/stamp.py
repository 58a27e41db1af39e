"""The size and the time of the last change of a file, which show whether it has changed."""

from __future__ import annotations

import os
from dataclasses import dataclass

from thetahat.data.on_disk.location import Location, RemoteFile
from thetahat.foundation.errors import DataError

_REMEDY = "open the rows again with th.scan"


@dataclass(frozen=True)
class Stamp:
    """A file of this machine as it was when it was opened."""

    n_bytes: int
    changed_at: int
    """Time of the last change, in nanoseconds."""

    @classmethod
    def of(cls, path: Location) -> Stamp | None:
        """The stamp of a file; None for a URL, whose server is not asked. Cost: O(1)."""
        if isinstance(path, RemoteFile):
            return None
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
                f"{path} cannot be read any more ({failure.strerror}), but it could when the rows "
                f"were opened. Make it readable, or {_REMEDY}."
            ) from failure
        if now is None or now == self:
            return
        sizes = (
            "" if now.n_bytes == self.n_bytes else f" from {self.n_bytes} to {now.n_bytes} bytes"
        )
        raise DataError(
            f"{path} changed{sizes} after its rows were opened, and its rows may not be the same. "
            f"Restore the file, or {_REMEDY}, with targets and weights that belong to it."
        )
