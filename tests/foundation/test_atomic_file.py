"""Files that are written whole or not at all."""

from __future__ import annotations

import os

import pytest

from thetahat.foundation.atomic_file import atomic_file
from thetahat.foundation.errors import DataError


def test_what_is_not_a_regular_file_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(DataError, match="not a regular file"), atomic_file(pipe) as file:
        file.write(b"data")
    assert pipe.is_fifo()
