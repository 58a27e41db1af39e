"""Files that are no snapshots are refused in plain words, without advice to load them unsafely."""

import zipfile

import numpy as np
import pytest

import thetahat as th
from thetahat.data.snapshot import digest_of, write_snapshot

X = np.random.default_rng(0).normal(size=(60, 3))


def array_file(path):
    with open(path, "wb") as file:
        np.save(file, X)


def archive_of_objects(path):
    with open(path, "wb") as file:
        np.savez(file, facts=np.array([{}], dtype=object))


def archive_of_text(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("facts", "{}")


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (array_file, "no .npz file"),
        (lambda path: path.write_bytes(b"no snapshot"), "no .npz file"),
        (lambda path: path.write_bytes(b""), "no .npz file"),
        (archive_of_objects, "'facts' is damaged or holds Python objects"),
        (archive_of_text, "'facts' is no array"),
    ],
)
def test_other_files_are_no_snapshots(tmp_path, write, reason):
    path = tmp_path / "fit.npz"
    write(path)
    with pytest.raises(th.errors.DataError, match=f"is not a snapshot of a fit .*{reason}") as one:
        th.HistGradientBoostingRegressor(checkpoint=path).fit(X, X[:, 0])
    assert "allow_pickle" not in str(one.value)
    with (
        pytest.raises(th.errors.DataError, match=f"is not a snapshot of a fit .*{reason}"),
        th.resumable(path),
    ):
        pass


@pytest.mark.parametrize("name", ["HistGradientBoostingRegressor", "MLPRegressor"])
def test_the_folder_of_a_checkpoint_must_exist(tmp_path, name):
    model = getattr(th, name)(max_iter=2, checkpoint=tmp_path / "missing" / "fit.npz")
    with pytest.raises(th.errors.DataError, match="missing is not a directory"):
        model.fit(X, X[:, 0])


def test_the_folder_of_a_resumable_fit_must_exist(tmp_path):
    with (
        pytest.raises(th.errors.DataError, match="missing is not a directory"),
        th.resumable(tmp_path / "missing" / "fit.npz"),
    ):
        pass


@pytest.mark.filterwarnings("error")
def test_parameters_of_single_precision_give_no_warning(tmp_path):
    path, theta = tmp_path / "fit.npz", np.ones(3, dtype=np.float32)
    progress = {"0": {"steps": 1, "trace": [], "digest": digest_of(theta)}}
    facts = {"version": 2, "fingerprint": "resumable", "runs": {}, "fits": [], "progress": progress}
    write_snapshot(path, facts, {"0": theta})
    with th.resumable(path):
        pass
    assert not path.exists()
