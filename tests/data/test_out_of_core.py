"""The memory of fits to files, measured in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

CHILD = """
import json, resource, sys, warnings
warnings.simplefilter("ignore")
import thetahat as th
from benchmarks.memory import peak_of

folder, limit = sys.argv[1], int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
fits = {
    "LinearRegression": ("y", th.LinearRegression()),
    "LogisticRegression": ("label", th.LogisticRegression(max_iter=2)),
    "PCA": ("y", th.PCA(3)),
    "KMeans": ("y", th.KMeans(3, n_init=1, max_iter=2, random_state=0)),
    "GaussianNB": ("label", th.GaussianNB()),
    "boosting": ("label", th.HistGradientBoostingClassifier(max_iter=2, early_stopping=False)),
}
found = {}
with th.config(threads=1, memory=1 << 20 if limit == 0 else limit // 4):
    for name, (target, model) in fits.items():
        features = [f"x{j}" for j in range(50)]
        small, large = (
            th.scan(f"{folder}/{kind}-*.parquet", target=target, features=features)
            for kind in ("small", "large")
        )
        model.fit(small)  # loads libraries, starts threads
        found[name] = peak_of(lambda: model.fit(large))[1]
print(json.dumps(found))
"""


def write(folder, n_rows, parts=4):
    rng = np.random.default_rng(0)
    for number in range(parts):
        X = rng.standard_normal((n_rows // parts, 50))
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(50)])
        frame["y"], frame["label"] = X[:, 0] + X[:, 1], (X[:, 0] > 0).astype(int)
        frame.to_parquet(folder / f"large-{number}.parquet", row_group_size=5_000)
    frame[:9_000].to_parquet(folder / "small-0.parquet", row_group_size=5_000)


def peaks(folder, limit=0):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), str(limit)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs /proc")
def test_the_memory_of_a_fit_is_a_part_of_the_rows(tmp_path):
    """40 MB of rows; boosting holds 100 bytes per row and maps codes of one byte per value."""
    write(tmp_path, 100_000)
    for name, peak in peaks(tmp_path).items():
        assert peak is None or peak < (30e6 if name == "boosting" else 20e6), name


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs limits on memory")
def test_300_megabytes_under_a_limit_of_400(tmp_path):
    write(tmp_path, 750_000, parts=12)
    size = sum(file.stat().st_size for file in tmp_path.glob("large-*.parquet"))
    assert size > 280e6
    peaks(tmp_path, limit=400_000_000)
