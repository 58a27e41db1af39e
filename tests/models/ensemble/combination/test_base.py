"""What all combinations share: threads, progress, time limits, interruption."""

import pickle
import threading
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import thetahat as th
from thetahat.foundation.many_fits import Failure, parallel_map
from thetahat.foundation.threads import n_threads
from thetahat.models.ensemble.adaboost.base import WeightBoosting
from thetahat.models.ensemble.averaging.model_averaging import ModelAveraging
from thetahat.models.ensemble.bagging.base import Bagging
from thetahat.models.ensemble.combination.base import Ensemble
from thetahat.models.ensemble.combination.stacking import Stacking
from thetahat.models.tree.single import SingleTree

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((120, 3))
Y = X @ [1.0, 2.0, -1.0] + RANDOM.standard_normal(120)


class Slow(RegressorMixin, BaseEstimator):
    """The mean of y, after a while; may be interrupted in one of its fits."""

    fits = 0

    def __init__(self, seconds=0.0, interrupt_at=None, random_state=None):
        self.seconds = seconds
        self.interrupt_at = interrupt_at
        self.random_state = random_state

    def fit(self, X, y):
        Slow.fits += 1
        if self.interrupt_at is not None and Slow.fits >= self.interrupt_at:
            raise KeyboardInterrupt
        time.sleep(self.seconds)
        self.mean_ = float(np.mean(y))
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.fixture(autouse=True)
def _one_after_another():
    Slow.fits = 0
    with th.config(threads=1):
        yield


def committees(member):
    pairs = [(f"m{place}", clone(member)) for place in range(6)]
    return {
        "bagging": th.BaggingRegressor(member, 6, random_state=0),
        "voting": th.VotingRegressor(pairs),
        "stacking": th.StackingRegressor(pairs, cv=2),
        "averaging": th.BayesianModelAveraging(pairs, cv=2),
    }


@pytest.mark.parametrize("kind", ["bagging", "voting"])
def test_ctrl_c_keeps_the_members_so_far(kind):
    model = committees(Slow(interrupt_at=4))[kind]
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert len(model.estimators_) == 3
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("kind", ["stacking", "averaging"])
def test_ctrl_c_leaves_no_half_made_model(kind):
    model = committees(Slow(interrupt_at=8))[kind]
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "estimators_")
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("kind", ["bagging", "voting", "stacking"])
def test_time_limits_keep_the_members_so_far(kind):
    model = committees(Slow(seconds=0.05))[kind]
    with th.config(max_time=0.2, threads=1), pytest.warns(ConvergenceWarning, match="out of time"):
        model.fit(X, Y)
    assert 1 <= len(model.estimators_) < 6
    assert model.predict(X).shape == (120,)
    if kind != "bagging":
        assert sum(member != "drop" for member in model.named_estimators_.values()) == len(
            model.estimators_
        )


def test_models_that_could_not_be_tried_are_not_compared():
    model = committees(Slow(seconds=0.05))["averaging"]
    with th.config(max_time=0.45, threads=1), pytest.warns(ConvergenceWarning):
        with pytest.raises(th.errors.CapabilityError, match="cannot be compared"):
            model.fit(X, Y)


def test_members_receive_the_time_that_is_left():
    limits = []

    class Told(Slow):
        def fit(self, X, y):
            from thetahat.foundation.config import settings

            limits.append(settings().max_time)
            return super().fit(X, y)

    with th.config(max_time=60.0, threads=1):
        th.BaggingRegressor(Told(seconds=0.01), 3).fit(X, Y)
    assert 60.0 > limits[0] > limits[1] > limits[2] > 59.0


@pytest.mark.parametrize("kind", ["bagging", "voting", "stacking", "averaging"])
def test_progress_is_reported(kind):
    from sklearn.callback import ScoringMonitor

    class Counter:
        ended = 0

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            Counter.ended += 1

    model = committees(th.Ridge())[kind].set_callbacks(Counter())
    model.fit(X, Y)
    fits = {"bagging": 6, "voting": 6, "stacking": 18, "averaging": 18}[kind]
    assert Counter.ended >= fits
    if kind == "bagging":
        monitor = ScoringMonitor(scoring="r2")
        clone(model).set_callbacks(monitor).fit(X, Y)


def test_a_callback_may_stop():
    class Stop:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            return len(estimator.estimators_) >= 4

    model = th.BaggingRegressor(th.Ridge(), 10).set_callbacks(Stop())
    with pytest.warns(ConvergenceWarning, match="stopped by a callback after 4 of 10"):
        model.fit(X, Y)
    assert len(model.estimators_) == 4


@pytest.mark.parametrize("kind", ["bagging", "voting", "stacking", "averaging"])
def test_same_bits_for_any_number_of_threads_and_jobs(kind):
    answers = []
    for threads, jobs in ((1, None), (2, 4), (5, -1)):
        with th.config(threads=threads):
            model = committees(th.Ridge())[kind]
            if kind != "averaging":
                model.set_params(n_jobs=jobs)
            answers.append(model.fit(X, Y).predict(X))
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_committees_of_committees_do_not_wait_for_one_another():
    inner = th.BaggingRegressor(th.Ridge(), 5, random_state=0)
    pairs = [
        ("one", inner),
        ("two", clone(inner)),
        ("three", th.StackingRegressor([("a", clone(inner)), ("b", th.Ridge())])),
    ]
    answers = []
    for threads in (1, 4, 7):
        with th.config(threads=threads):
            answers.append(th.VotingRegressor(pairs).fit(X, Y).predict(X))
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_threads_are_shared_out():
    """Few tasks get several threads each, many get one; the sum is never more than there are."""
    for threads, tasks, share in ((8, 3, 2), (8, 20, 1), (3, 1, 3), (1, 5, 1)):
        with th.config(threads=threads):
            found = list(parallel_map(lambda _: n_threads(), range(tasks)))
        assert found == [share] * tasks
    with th.config(threads=2):
        names = list(parallel_map(lambda _: threading.current_thread().name, range(4)))
        failed = list(parallel_map(lambda number: 1 / number, [1, 0]))
    assert all(name.startswith("thetahat") for name in names)
    assert isinstance(failed[1], Failure)
    assert failed[1].reason == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("kind", ["bagging", "voting", "stacking", "averaging"])
def test_saved_is_loaded(kind):
    model = committees(th.Ridge())[kind].fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize("kind", ["bagging", "voting", "stacking", "averaging"])
def test_a_source_that_streams_is_refused(kind, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n2,3\n3,5\n")
    with pytest.raises(th.errors.CapabilityError, match="needs its rows in memory"):
        committees(th.Ridge())[kind].fit(th.scan(path, target="b"))


@pytest.mark.parametrize(
    "kind", [Bagging, Ensemble, ModelAveraging, SingleTree, Stacking, WeightBoosting]
)
def test_what_is_left_to_the_kinds_is_abstract(kind):
    with pytest.raises(TypeError, match="abstract"):
        kind()
