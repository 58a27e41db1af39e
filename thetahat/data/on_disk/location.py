"""Where a file is: a path of this machine, or a URL that fsspec opens (``s3://bucket/rows.parquet``).

Parquet files are read in place, so that only the columns and row groups that are needed are
transferred. Files of other formats are copied once to a temporary folder.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from thetahat.foundation.errors import DataError
from thetahat.foundation.optional import optional_import


@dataclass(frozen=True)
class RemoteFile:
    """A file that fsspec opens, with the part of the interface of `Path` that readers use."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        return PurePosixPath(self.url).name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.url).suffix

    @property
    def suffixes(self) -> list[str]:
        return PurePosixPath(self.url).suffixes

    def open(self) -> Any:
        """The file, opened for reading."""
        return _fsspec().open(self.url, "rb").open()

    def copied(self) -> Path:
        """A copy in a temporary folder, made once. Cost: the size of the file."""
        return Path(_fsspec().open_local(f"simplecache::{self.url}", simplecache=_SAME_NAMES))


Location = Path | RemoteFile
_SAME_NAMES = {"same_names": True}


def is_url(path: Any) -> bool:
    """Whether a path is a URL, such as ``s3://bucket/rows.parquet``."""
    return isinstance(path, str) and "://" in path


def remote_files(url: str) -> list[RemoteFile]:
    """The file of a URL, or all files that match a pattern, in order."""
    fsspec = _fsspec()
    try:
        system, path = fsspec.core.url_to_fs(url)
        if not glob.has_magic(path):
            if system.isdir(path):
                raise DataError(
                    f"{url} is a directory. Name several files with a pattern such as "
                    f"{url.rstrip('/') + '/*.parquet'!r}."
                )
            if not system.exists(path):
                raise FileNotFoundError(f"There is no file {url!r}.")
            return [RemoteFile(url)]
        found = sorted(each for each in system.glob(path) if not system.isdir(each))
    except (ValueError, ImportError) as failure:  # an unknown protocol, or its package is missing
        raise DataError(
            f"{url!r} cannot be opened ({failure}). Install the package that fsspec needs for "
            "this protocol, such as s3fs for s3://, or copy the files to this machine."
        ) from failure
    if not found:
        raise FileNotFoundError(f"No file matches the pattern {url!r}.")
    return [RemoteFile(str(system.unstrip_protocol(each))) for each in found]


@contextmanager
def readable(path: Location) -> Iterator[Any]:
    """What Arrow can read: a path, or an open file."""
    if isinstance(path, RemoteFile):
        with path.open() as file:
            yield file
    else:
        yield path


def _fsspec() -> Any:
    return optional_import("fsspec", extra="remote", purpose="Reading files by a URL")
