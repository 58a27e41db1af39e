"""Files that are written whole or not at all."""

from __future__ import annotations

import os

import pytest

import thetahat as th
from thetahat.foundation.atomic_file import atomic_file
from thetahat.foundation.errors import DataError


def test_what_is_not_a_regular_file_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(DataError, match="not a regular file"), atomic_file(pipe) as file:
        file.write(b"data")
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    "use", [th.load, th.scan, th.describe_file, lambda path: th.save(th.Ridge(), path)]
)
@pytest.mark.parametrize(
    ("name", "message"), [("a\0b.csv", "zero character"), ("x" * 5000 + ".csv", "too long")]
)
def test_paths_that_no_file_can_have_are_refused(use, name, message, tmp_path):
    with pytest.raises(th.errors.DataError, match=message):
        use(str(tmp_path / name))


def test_a_link_is_kept_and_its_file_is_written(tmp_path):
    link, real = tmp_path / "link", tmp_path / "real"
    link.symlink_to(real)
    with atomic_file(link) as file:
        file.write(b"data")
    assert link.is_symlink()
    assert real.read_bytes() == b"data"


def test_models_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    th.save(th.Ridge().fit([[1.0], [2.0]], [1.0, 3.0]), "~/model.th")
    assert (tmp_path / "model.th").is_file()
    assert th.load("~/model.th").n_features_in_ == 1
