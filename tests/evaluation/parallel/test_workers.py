"""Fits in worker processes: the same as on threads, whatever goes wrong on the way."""

import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import thetahat as th
from thetahat.evaluation.cross_fitting import _longest_first
from thetahat.evaluation.parallel import workers as module
from thetahat.evaluation.parallel.shared_work import SharedWork, read_work

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((400, 5))
Y = X @ RANDOM.standard_normal(5) + RANDOM.standard_normal(400)
LABELS = np.where(Y > 0, "yes", "no")


class Mean(RegressorMixin, BaseEstimator):
    """The mean of y; warns, fails, or holds what cannot be sent, if told to."""

    def __init__(self, warn=False, fail=False, extra=None):
        self.warn, self.fail, self.extra = warn, fail, extra

    def fit(self, X, y):
        if self.warn:
            warnings.warn("the mean is all I know", UserWarning, stacklevel=1)
        if self.fail:
            raise KeyError("no mean")
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Keeper:
    """A lock, which no process can send to another; copied as itself."""

    def __init__(self):
        self.lock = threading.Lock()

    def __deepcopy__(self, memo):
        return self


@pytest.fixture(scope="module")
def one_worker():
    """One process, started as `note_waits` starts it: after enough seconds of waiting."""
    found = module.workers()
    found.leave()
    found.note_waits(module.START_SECONDS / 2, threads=1)
    assert found.wait_until_ready() == 0
    found.note_waits(module.START_SECONDS / 2, threads=1)
    assert found.wait_until_ready() == 1
    yield found
    found.leave()


@pytest.fixture
def no_more(monkeypatch):
    """Two threads, and no further worker for the second."""
    monkeypatch.setattr(module, "START_SECONDS", np.inf)
    with th.config(threads=2):
        yield


def by_worker(result):
    return [fit.by_worker for fit in result.fits]


def test_workers_and_threads_give_the_same_bits(one_worker, no_more):
    models = {
        "newton": th.LogisticRegression(),
        "folds": th.LogisticRegressionCV(Cs=3, use_legacy_attributes=False),
        "margin": th.LinearSVC(loss="hinge", max_iter=10_000),
    }
    found = th.compare(models, X, LABELS)
    with th.config(threads=1):
        expected = th.compare(models, X, LABELS)
    assert not any(any(by_worker(each)) for each in expected.evaluations.values())
    assert any(any(by_worker(each)) for each in found.evaluations.values())
    assert "worker processes" in found.where
    assert "on threads" in expected.where
    for name, one in found.evaluations.items():
        other = expected.evaluations[name]
        np.testing.assert_array_equal(one.scores["accuracy"], other.scores["accuracy"])
        np.testing.assert_array_equal(one.certainties, other.certainties)


def test_settings_and_fitted_models_travel(one_worker, no_more):
    with th.config(max_time=1e-9), pytest.warns(match="[Oo]ut of time"):
        hurried = th.evaluate(th.LogisticRegression(), X, LABELS, cv=4, keep_models=True)
    assert any(by_worker(hurried))
    assert {fit.estimator.solution_.outcome.name for fit in hurried.fits} == {"OUT_OF_TIME"}


def test_warnings_and_errors_come_back(one_worker, no_more):
    with pytest.warns(UserWarning, match="all I know") as told:
        result = th.evaluate(Mean(warn=True), X, Y, cv=6)
    assert any(by_worker(result))
    assert len(told) == 6
    with pytest.raises(KeyError, match="no mean") as failure:
        th.evaluate(Mean(fail=True), X, Y)
    assert any("while fitting 'Mean' on fold 0" in note for note in failure.value.__notes__)


def test_what_cannot_be_sent_runs_on_threads(one_worker, no_more):
    result = th.evaluate(Mean(extra=Keeper()), X, Y)
    assert not any(by_worker(result))
    assert result.intervals["r2"].estimate < 0
    np.testing.assert_array_equal(result.scores["r2"], th.evaluate(Mean(), X, Y).scores["r2"])


def test_a_worker_that_dies_costs_nothing(one_worker, no_more):
    """The last test of this file: there is no worker after it."""
    expected = th.evaluate(th.Ridge(), X, Y)
    for worker in one_worker._all:
        worker._process.kill()
        worker._process.wait()
    found = th.evaluate(th.Ridge(), X, Y)
    assert not any(by_worker(found))
    assert one_worker._all == []
    np.testing.assert_array_equal(found.scores["r2"], expected.scores["r2"])


def test_no_workers_where_there_is_no_room_for_them():
    found = module.Workers()
    with th.config(memory=module.WORKER_BYTES - 1):
        found.note_waits(2 * module.START_SECONDS, threads=4)
    assert found.wait_until_ready() == 0


def test_where_processes_fail_it_is_not_tried_again(monkeypatch):
    tried = []

    def fail():
        tried.append(1)
        raise OSError("no processes here")

    monkeypatch.setattr(module, "Worker", fail)
    found = module.Workers()
    for _ in range(3):
        found.note_waits(2 * module.START_SECONDS, threads=1)
        assert found.wait_until_ready() == 0
    assert len(tried) == 1


def test_a_program_with_python_inside_is_not_started_again(monkeypatch):
    monkeypatch.setattr(module.sys, "frozen", True, raising=False)
    found = module.Workers()
    found.note_waits(2 * module.START_SECONDS, threads=1)
    assert found.wait_until_ready() == 0


def test_shared_work_maps_its_arrays_and_tidies_up():
    rows = np.arange(12.0).reshape(3, 4)
    shared = SharedWork(lambda k: rows[k].sum())
    path = shared.path()
    work = read_work(path)
    assert [work(k) for k in range(3)] == rows.sum(axis=1).tolist()
    assert not work.__closure__[0].cell_contents.flags.writeable
    shared.forget()
    assert shared.path() is None


def test_the_longest_fits_go_first():
    seconds = {}
    tasks = _longest_first(["a", "b", "c"], 3, seconds)
    assert [next(tasks) for _ in range(3)] == [("a", 0), ("b", 0), ("c", 0)]
    seconds.update(a=1.0, b=2.0)
    assert next(tasks) == ("c", 1)  # not done yet, so it seems to be long
    seconds["c"] = 0.5
    assert list(tasks) == [("b", 1), ("b", 2), ("a", 1), ("a", 2), ("c", 2)]


def test_workers_of_a_process_that_has_ended_leave_quietly():
    script = (
        "from thetahat.evaluation.parallel.workers import Worker; import os;"
        "Worker(); Worker(); os._exit(0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )  # returns when the last of them has closed its streams
    assert done.stderr == ""
