"""A real cluster of processes: lost workers, lost schedulers, workers without memory."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import thetahat as th
from thetahat.data.distributed import dask_source, row_state
from thetahat.errors import ClusterError, MemoryBudgetError
from thetahat.models.ensemble.forest import on_workers
from thetahat.models.ensemble.gradient_boosting.distributed import boosting

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")

SETTINGS = {
    "distributed.comm.timeouts.connect": "60s",
    "distributed.worker.multiprocessing-method": "forkserver",
}
"""Patience on a busy machine, and workers that start without importing everything again."""


@pytest.fixture(scope="module")
def cluster():
    """Two single-threaded processes for all tests; none of them is left at the end."""
    with (
        dask.config.set(SETTINGS),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit="1GiB",
            silence_logs=50,
        ) as cluster,
    ):
        yield cluster
        workers = [nanny.process.pid for nanny in cluster.workers.values()]
    assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []


@pytest.fixture
def client(cluster):
    """A client of the cluster, when the worker that an earlier test has killed is replaced."""
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=120)
        yield client


def data(seed):
    random = np.random.default_rng(seed)
    X = random.standard_normal((600, 3)) + 3.0 * random.integers(0, 2, size=(600, 1))
    y = (X[:, 0] + random.standard_normal(600) > 1).astype(int)
    return X, y


def as_dask(X, y):
    return da.from_array(X, chunks=(200, 3)), da.from_array(y, chunks=200)


MODELS = {
    "logistic": (lambda: th.LogisticRegression(), "coef_"),
    "k-means": (lambda: th.KMeans(2, random_state=0, n_init=1), "cluster_centers_"),
    "boosting": (
        lambda: th.HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=5),
        "feature_importances_",
    ),
    "quantiles": (
        lambda: th.HistGradientBoostingRegressor("absolute_error", max_iter=2, max_leaf_nodes=5),
        "feature_importances_",
    ),
    "forest": (
        lambda: th.RandomForestClassifier(6, random_state=0),
        "feature_importances_",
    ),
}


class Killer:
    """Kills a worker of the cluster during the n-th computation of a fit."""

    def __init__(self, client, number):
        self.left, self.killed = number, False
        self.victim = next(iter(client.run(os.getpid).values()))

    def after(self, computed):
        def run(tasks):
            self.left -= 1
            if self.left == 0:
                self.killed = True
                threading.Timer(0.005, os.kill, (self.victim, signal.SIGKILL)).start()
            return computed(tasks)

        return run


def kill_in_mid_fit(client, monkeypatch, name, number):
    make, attribute = MODELS[name]
    X, y = data(3)
    expected = make().fit(*as_dask(X, y))
    with monkeypatch.context() as patch:
        killer = Killer(client, number)
        for module in (dask_source, row_state, boosting, on_workers):
            patch.setattr(module, "computed", killer.after(module.computed))
        found = make().fit(*as_dask(X, y))
    assert killer.killed
    np.testing.assert_array_equal(getattr(found, attribute), getattr(expected, attribute))


def test_a_cluster_gives_the_bits_of_one_process(client):
    X, y = data(4)
    model = th.LogisticRegression().fit(*as_dask(X, y))
    with dask.config.set(scheduler="synchronous"):
        here = th.LogisticRegression().fit(*as_dask(X, y))
    np.testing.assert_array_equal(model.coef_, here.coef_)
    lazy = model.predict_proba(as_dask(X, y)[0])
    np.testing.assert_allclose(lazy.compute(), here.predict_proba(X), rtol=1e-12)


def test_the_rows_do_not_come_to_the_client(client, monkeypatch):
    random = np.random.default_rng(5)
    X = random.standard_normal((6000, 3))
    y = (X[:, 0] + random.standard_normal(6000) > 0).astype(int)
    source = th.from_dask(da.from_array(X, chunks=(2000, 3)), da.from_array(y, chunks=2000))
    largest = []
    compute = dask_source.computed

    def measured(tasks):
        found = compute(tasks)
        largest.append(max(len(dask_source.packed(len, (each,))) for each in found))
        return found

    monkeypatch.setattr(dask_source, "computed", measured)
    monkeypatch.setattr(type(source), "blocks", lambda self: pytest.fail("rows on the client"))
    th.LogisticRegression().fit(source)
    assert max(largest) < X.nbytes / 4  # the first 1,024 rows at most


def test_a_partition_larger_than_the_memory_of_a_worker(client):
    X = da.zeros((10**9, 2), chunks=(5 * 10**8, 2))
    with pytest.raises(MemoryBudgetError, match=r"partition 0 takes 7.45 GiB.*worker"):
        th.PCA(1).fit(X)


def test_a_worker_that_runs_out_of_memory_is_explained():
    killed = distributed.scheduler.KilledWorker("task", None, 3)
    with pytest.raises(MemoryBudgetError, match=r"smaller partitions.*ended the process"):
        with dask_source_failures():
            raise killed


def test_data_that_cannot_be_computed_again_are_explained():
    from concurrent.futures import CancelledError

    with pytest.raises(ClusterError, match="scatter"):
        with dask_source_failures():
            raise CancelledError("lost dependencies")


def dask_source_failures():
    from thetahat.data.distributed.cluster import failures_explained

    return failures_explained()


def test_evaluations_run_on_the_workers(client):
    import joblib

    X, y = data(6)
    model = th.LogisticRegression()
    here = th.evaluate(model, X, y)
    with joblib.parallel_config(backend="dask"):
        there = th.evaluate(model, X, y)
        pids = set(_pids())
    np.testing.assert_array_equal(there.scores["accuracy"], here.scores["accuracy"])
    assert pids
    assert os.getpid() not in pids


def _pids():
    from thetahat.foundation.many_fits import parallel_map

    return parallel_map(lambda _: os.getpid(), range(4))


LOST = """
import os, signal, subprocess, sys
import dask, dask.array as da, numpy as np
from distributed import Client
import thetahat as th

file = sys.argv[1]
options = ["--scheduler-file", file, "--no-dashboard"]
run = [sys.executable, "-m"]
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
scheduler = subprocess.Popen(
    [*run, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *options],
    **quiet,
)
worker = subprocess.Popen(
    [*run, "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", *options], **quiet
)
client = Client(scheduler_file=file, timeout=60)
X = da.from_array(np.random.default_rng(0).standard_normal((300, 2)), chunks=(100, 2))
y = (X[:, 0] > 0).astype(int)
model = th.LogisticRegression().fit(X, y)
before = model.coef_
rows = th.from_dask(X, y)
scheduler.kill()
for _ in range(2):
    try:
        model.fit(rows)
    except th.errors.ClusterError as failure:
        assert "scheduler" in str(failure), failure
        assert model.coef_ is before
        print("explained")
worker.kill()
worker.wait()
os._exit(0)
"""


@pytest.mark.slow
def test_a_lost_scheduler_is_a_clear_error(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LOST, str(tmp_path / "scheduler.json")],
        capture_output=True,
        text=True,
        timeout=180,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )
    assert done.stdout.split() == ["explained", "explained"], done.stderr[-2000:]


def test_a_closed_client_is_a_clear_error(client):
    X, y = data(7)
    rows = th.from_dask(*as_dask(X, y))
    with distributed.Client(client.scheduler.address) as other:
        other.close()
        with other.as_current(), pytest.raises(ClusterError, match="new Client"):
            th.LogisticRegression().fit(rows)


def test_a_client_that_is_closed_in_mid_fit_loses_its_connection(client):
    cancelled = distributed.client.FutureCancelledError("merged-1", None)
    with distributed.Client(client.scheduler.address) as other:
        other.close()
        message = r"connection to the scheduler.*lost or closed.*new Client"
        with other.as_current(), pytest.raises(ClusterError, match=message):
            with dask_source_failures():
                raise cancelled


def test_a_cancelled_future_is_no_lost_connection(client):
    waiting = client.submit(time.sleep, 1)
    waiting.cancel()
    with pytest.raises(ClusterError, match=r"lost on the Dask cluster.*futures were cancelled"):
        with dask_source_failures():
            waiting.result()


@pytest.mark.parametrize("name", ["boosting"])  # the slow test has the others
def test_a_killed_worker_does_not_change_a_bit(client, monkeypatch, name):
    kill_in_mid_fit(client, monkeypatch, name, 3)


KILLS = [(name, number) for name in MODELS for number in range(2, 5 if name == "forest" else 12)]
"""Forests make few computations."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number"), KILLS)
def test_a_worker_killed_at_any_step_does_not_change_a_bit(client, monkeypatch, name, number):
    kill_in_mid_fit(client, monkeypatch, name, number)
