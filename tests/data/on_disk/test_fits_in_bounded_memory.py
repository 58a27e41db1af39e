"""Fits to Parquet files that are larger than the memory they may use."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak is read from /proc"
)

N_COLUMNS = 40
NAMES = (
    "LinearRegression",
    "LogisticRegression",
    "PCA",
    "KMeans",
    "GaussianNB",
    "HistGradientBoostingClassifier",
)

OF_EVERY_KIND = ("LinearRegression", "KMeans", "HistGradientBoostingClassifier")
"""The others read their blocks as linear regression does; the longer tests have them too."""

# A first round on a few rows loads what is imported late. The high-water mark is restarted before
# each fit, so that each has a peak of its own. Pages of the libraries' files are not counted: the
# system can drop them, and how many it maps differs by 50 MB between machines.
MEASURE = """
    import json, sys, warnings
    import thetahat as th
    from benchmarks.memory import peak_of, status

    warnings.simplefilter("ignore")  # few iterations do not converge
    MODELS = {
        "LinearRegression": ("y", lambda: th.LinearRegression()),
        "LogisticRegression": ("label", lambda: th.LogisticRegression(max_iter=1)),
        "PCA": ("y", lambda: th.PCA(5)),
        "KMeans": ("y", lambda: th.KMeans(4, n_init=1, max_iter=1, random_state=0)),
        "GaussianNB": ("label", lambda: th.GaussianNB()),
        "HistGradientBoostingClassifier": (
            "label",
            lambda: th.HistGradientBoostingClassifier(max_iter=1, early_stopping=False),
        ),
    }

    def fit(files, name):
        target, make = MODELS[name]
        features = [f"x{j}" for j in range(40)]
        return make().fit(th.scan(files, target=target, features=features))

    first, files, memory, *names = sys.argv[1:]
    with th.config(memory=int(memory), threads=2):
        for name in names:
            fit(first, name)
        for name in names:
            libraries = status("RssFile")
            _, added = peak_of(lambda: fit(files, name))
            print(json.dumps([name, added, status("VmHWM") - libraries]))
"""


def write_files(folder, n_files, groups, rows):
    """Uncompressed Parquet files of several row groups; a small one for the first round."""
    random = np.random.default_rng(0)

    def table(n_rows):
        X = random.standard_normal((n_rows, N_COLUMNS))
        y = X[:, 0] - X[:, 1] + random.standard_normal(n_rows)
        columns = {f"x{j}": X[:, j] for j in range(N_COLUMNS)}
        return pa.table({**columns, "y": y, "label": (y > 0).astype(np.int8)})

    def write(path, sizes):
        with pa.parquet.ParquetWriter(
            path, table(1).schema, compression="none", use_dictionary=False
        ) as writer:
            for size in sizes:
                writer.write_table(table(size))

    write(folder / "first.parquet", [2000])
    for number in range(n_files):
        write(folder / f"part-{number}.parquet", [rows] * groups)
    return sum(path.stat().st_size for path in folder.glob("part-*"))


def peaks(folder, memory, names):
    """Bytes that each fit added to the memory of the process at its peak, and all that it held."""
    files = [str(folder / "first.parquet"), str(folder / "part-*.parquet")]
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEASURE), *files, str(memory), *names],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "OMP_NUM_THREADS": "2"},
    )
    assert run.returncode == 0, run.stderr[-2000:]
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert [name for name, *_ in found] == list(names)
    return {name: (added, peak) for name, added, peak in found}


@pytest.mark.parametrize("names", [OF_EVERY_KIND, pytest.param(NAMES, marks=pytest.mark.slow)])
@pytest.mark.processes
def test_fits_to_96_megabytes_take_64(tmp_path, names):
    """The pools of Arrow and of the threads are part of it: about 40 MB for any number of rows."""
    assert write_files(tmp_path, 4, 6, 12_000) > 95e6
    found = peaks(tmp_path, 20_000_000, names)
    assert {name: added for name, (added, _) in found.items() if added > 64e6} == {}


@pytest.mark.slow
def test_processes_that_fit_300_megabytes_take_400(tmp_path):
    """What the interpreter and the libraries hold counts too."""
    assert write_files(tmp_path, 6, 10, 16_000) > 300e6
    found = [peaks(tmp_path, 100_000_000, (name,)) for name in NAMES]
    assert [each for each in found for _, peak in each.values() if peak > 400e6] == []
