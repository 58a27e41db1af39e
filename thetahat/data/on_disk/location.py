"""Where a file is: a path of this machine, or a URL that fsspec opens (``s3://bucket/rows.parquet``).

Parquet files are read in place, so that only the columns and row groups that are needed are
transferred. Files of other formats are copied once to a temporary folder.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

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

    def version(self) -> Version:
        """Size and version of the file, as the server reports them now. Cost: one request."""
        system, path = _fsspec().core.url_to_fs(self.url)
        system.invalidate_cache()
        facts = system.info(path)
        known = [name for name in _MARKS if facts.get(name) is not None]
        if not known and facts.get("created") is not None:  # which a new owner may change, too
            known = ["created"]
        return Version(facts.get("size"), tuple(f"{name}={facts[name]}" for name in known))

    def copied(self) -> Path:
        """A copy of this version of the file in a temporary folder. Cost: the size of the file."""
        system, path = _fsspec().core.url_to_fs(self.url)
        version = self.version()
        folder = Path(_copies().name) / sha256(repr((self.url, version)).encode()).hexdigest()[:32]
        copy = folder / self.name
        # Without a mark, a changed file may have the same size.
        if not version.marks or not copy.exists():
            folder.mkdir(exist_ok=True)
            part = folder / f"{uuid4().hex}.part"
            system.get_file(path, str(part))
            part.replace(copy)
        return copy


@dataclass(frozen=True)
class Version:
    """What a server reports of a file that differs after a change."""

    n_bytes: int | None
    marks: tuple[str, ...]
    """Times of changes, checksums and numbers of versions."""


Location = Path | RemoteFile
_MARKS = (
    *("ETag", "etag", "VersionId", "version_id", "generation", "md5Hash", "content_md5"),
    *("crc32c", "Content-MD5", "Digest", "Last-Modified", "LastModified", "last_modified"),
    *("updated", "modified", "mtime"),
)
"""Names under which the file systems of fsspec report the version of a file."""


@cache
def _copies() -> TemporaryDirectory[str]:
    """The folder for copies, which is removed when this process ends."""
    return TemporaryDirectory(prefix="thetahat-")


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
