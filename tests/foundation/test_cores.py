"""How many cores a process may use."""

import os

import joblib
import pytest

from thetahat.foundation.cores import granted, usable_cores


def test_as_many_as_joblib_counts():
    assert usable_cores() == joblib.cpu_count()
    assert 1 <= usable_cores() <= os.cpu_count()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "400000 100000\n"}, 4),
        ({"cpu.max": "max 100000"}, None),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({}, None),
        ({"cpu.max": "1 2 3"}, None),
        ({"cpu.max": "100000 0"}, None),
    ],
    ids=["v2 rounded up", "v2", "v2 no limit", "v1", "v1 no limit", "none", "odd", "no period"],
)
def test_what_a_container_grants(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert granted(tmp_path) == expected
