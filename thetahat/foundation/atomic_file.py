"""Files that are written completely or not at all.

The bytes are written to a temporary file in the same directory, flushed to disk, and renamed in one
step: a process killed at any moment leaves the old file or the new one, never a part. The temporary
file of a killed process is removed when the same file is written again.
"""

from __future__ import annotations

import errno
import glob
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from thetahat.foundation.errors import DataError

SUFFIX = ".part"
YOUNG = 60.0
"""Age in seconds below which a temporary file is never removed."""


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write bytes to, which becomes `path` if the block ends without an error.

    If `path` is a symbolic link, the file that it names is written, and the link is kept.
    """
    target = require_place(path)
    if target.is_symlink():
        target = require_place(os.path.realpath(target))
    _remove_abandoned(target)
    try:
        handle, neighbour = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=SUFFIX
        )
        _lock(handle)
    except OSError as failure:
        raise DataError(f"{target} cannot be written: {failure.strerror}.") from failure
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # A temporary file is readable by its owner only; give it the usual permissions.
        os.chmod(neighbour, 0o666 & ~_umask())
        os.replace(neighbour, target)
    except OSError as failure:
        _remove(neighbour)
        raise DataError(
            f"{target} cannot be written: {failure.strerror or failure}. The path is unchanged."
        ) from failure
    except BaseException:
        _remove(neighbour)
        raise
    _force_names(target.parent)


def require_place(path: str | os.PathLike[str]) -> Path:
    """Raise an error if no file can be written to this path, before work that would be lost."""
    target = usable_path(path)
    if isinstance(path, str) and "://" in path:
        raise DataError(
            f"{path!r} is a URL, but files are only written to this machine. Write to a local "
            "path, and copy that file, for example with fsspec."
        )
    if target.is_dir():
        raise DataError(f"{target} is a directory. Name a file in it, such as {target / 'name'}.")
    if target.exists() and not target.is_file():
        raise DataError(
            f"{target} is not a regular file, and is not replaced by one. Name another file."
        )
    if not target.parent.is_dir():
        raise DataError(
            f"{target.parent} is not a directory, so {target.name} cannot be written there. Create "
            "the directory first."
        )
    return target


def require_other_file(path: str | os.PathLike[str], inputs: Mapping[str, str]) -> None:
    """Raise an error if writing to `path` would replace a file that is read.

    `inputs` has what each file is, such as "the table", by its path.
    """
    for each, what in inputs.items():
        if _is_same(path, each):
            raise DataError(
                f"{path} cannot be written: it is the same file as {each}, {what}, and would "
                "replace it. Name another file."
            )


def _is_same(path: str | os.PathLike[str], other: str) -> bool:
    try:
        return os.path.samefile(path, Path(other).expanduser())
    except (OSError, ValueError, RuntimeError):  # one of them does not exist
        return False


def usable_path(path: str | os.PathLike[str]) -> Path:
    """The path with "~" expanded, unless no file can have it.

    Errors are no text, a zero character, and too many characters.
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise DataError(
            f"A path must be text or a path object, but got {type(path).__name__}. Pass the name "
            "of a file."
        )
    if not os.fspath(path):
        raise DataError("The path is empty. Pass the name of a file.")
    place = Path(path)
    if "\0" in str(place):
        raise DataError(f"The path {str(place)[:80]!r} holds a zero character. Remove it.")
    try:
        place = place.expanduser()
        os.stat(place)
    except OSError as failure:
        if failure.errno == errno.ENAMETOOLONG:
            raise DataError(
                f"The path {str(place)[:40]!r}... has {len(str(place))} characters, or a name of "
                "more than 255, which is too long for a file. Use a shorter one."
            ) from failure
    except (ValueError, RuntimeError):  # for example, no home directory
        pass
    return place


def _lock(handle: int) -> bool:
    """Lock an open file until it is closed; False if another process holds it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_abandoned(target: Path) -> None:
    """Remove temporary files of processes that were killed while they wrote to `target`.

    A file that is being written is locked, except for the moment between its creation and its lock;
    files younger than a minute are therefore kept.
    """
    for part in target.parent.glob(f".{glob.escape(target.name)}.*{SUFFIX}"):
        with suppress(OSError):
            if time.time() - part.stat().st_mtime < YOUNG:
                continue
            handle = os.open(part, os.O_RDONLY)
            try:
                if _lock(handle):
                    part.unlink()
            finally:
                os.close(handle)


def _umask() -> int:
    """The umask of the process, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _force_names(directory: Path) -> None:
    """Flush the directory, so that the new name survives a power cut, where supported."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
