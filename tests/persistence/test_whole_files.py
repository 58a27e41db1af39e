"""Model files are written whole or not at all."""

import os
import subprocess
import sys

import pytest

import thetahat as th
from thetahat.foundation.atomic_file import atomic_file


class TestWholeOrNotAtAll:
    def test_bad_places_are_named(self, tmp_path):
        with pytest.raises(th.errors.DataError, match="is a directory"):
            th.save(th.Ridge(), tmp_path)
        with pytest.raises(th.errors.DataError, match="is not a directory"):
            th.save(th.Ridge(), tmp_path / "absent" / "model.theta")

    def test_parts_of_killed_processes_are_removed(self, tmp_path):
        code = (
            "import os, sys; from thetahat.foundation.atomic_file import atomic_file\n"
            "with atomic_file(sys.argv[1]) as file:\n"
            "    os.kill(os.getpid(), 9)"
        )
        path = tmp_path / "model.theta"
        subprocess.run([sys.executable, "-c", code, str(path)], check=False)
        (part,) = tmp_path.iterdir()
        th.save(th.Ridge(), path)
        assert part.exists()  # it could belong to a process that has just begun
        os.utime(part, (0, 0))
        with atomic_file(path) as file:
            os.utime(file.name, (0, 0))
            file.write(b"old")
            th.save(th.Ridge(), path)
            assert [each for each in tmp_path.iterdir() if each.suffix == ".part"]
        assert [each.name for each in tmp_path.iterdir()] == ["model.theta"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_a_folder_that_may_not_be_written(self, tmp_path):
        tmp_path.chmod(0o500)
        with pytest.raises(th.errors.DataError, match="cannot be written"):
            th.save(th.Ridge(), tmp_path / "model.theta")

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
    def test_a_full_disk_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "model.theta"
        th.save(th.Ridge(alpha=1.0), path)

        def full(handle, *mode):
            os.close(handle)
            return open("/dev/full", "wb", buffering=0)

        monkeypatch.setattr(os, "fdopen", full)
        with pytest.raises(th.errors.DataError, match="No space left"):
            th.save(th.Ridge(alpha=2.0), path)
        monkeypatch.undo()
        assert th.load(path).alpha == 1.0
        assert [each.name for each in tmp_path.iterdir()] == ["model.theta"]

    def test_rights_are_those_of_any_new_file(self, tmp_path):
        th.save(th.Ridge(), tmp_path / "model.theta")
        (tmp_path / "other").write_bytes(b"")
        assert (tmp_path / "model.theta").stat().st_mode == (tmp_path / "other").stat().st_mode

    @pytest.mark.processes
    def test_a_kill_at_any_moment_leaves_a_whole_file(self, tmp_path):
        """Saves two models in turn over one file and is killed; one of the two must be there."""
        path = tmp_path / "model.theta"
        code = (
            "import os, signal, sys, time, numpy as np, thetahat as th\n"
            "models = [th.Ridge(alpha=a) for a in (1.0, 2.0)]\n"
            "for model in models: model.big_ = np.full(200_000, model.alpha)\n"
            "th.save(models[0], sys.argv[1])\n"
            "for delay in np.random.default_rng(1).random(8) * 0.05:\n"
            "    child = os.fork()\n"
            "    while child == 0:\n"
            "        for model in models: th.save(model, sys.argv[1])\n"
            "    time.sleep(delay)\n"
            "    os.kill(child, signal.SIGKILL)\n"
            "    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL\n"
            "    model = th.load(sys.argv[1])\n"
            "    np.testing.assert_array_equal(model.big_, model.alpha)\n"
        )
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)
