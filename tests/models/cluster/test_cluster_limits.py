"""Clusters: interrupts, time limits, callbacks, weights of 0, and rows beyond all numbers."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th

INTERRUPTED = th.results.Outcome.INTERRUPTED


def rows(n=400, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


class Callback:
    """Counts the steps, and ends the fit at one of them."""

    def __init__(self, last, error=None):
        self.last, self.error, self.steps = last, error, 0

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        if context.task_name != "step":
            return False
        self.steps += 1
        if self.error is not None and self.steps == self.last:
            raise self.error
        return self.steps == self.last


def test_small_batches_report_their_steps_and_can_be_stopped():
    callback = Callback(5)
    model = th.MiniBatchKMeans(4, batch_size=50, max_no_improvement=None, random_state=0)
    model.set_callbacks(callback).fit(rows())
    assert callback.steps == model.n_steps_ == model.solution_.steps == 5
    assert model.solution_.outcome is INTERRUPTED


def test_small_batches_keep_their_centres_after_an_interrupt():
    model = th.MiniBatchKMeans(4, batch_size=50, max_no_improvement=None, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Callback(5, KeyboardInterrupt())).fit(rows())
    assert model.solution_.outcome is INTERRUPTED
    assert model.predict(rows()).max() < 4


def test_small_batches_end_at_the_time_limit():
    model = th.MiniBatchKMeans(4, batch_size=10, max_no_improvement=None, max_iter=10**6)
    with th.config(max_time=0.01):
        model.fit(rows())
    assert model.solution_.outcome is th.results.Outcome.OUT_OF_TIME


def test_an_interrupt_keeps_the_best_of_all_starts():
    X, model = rows(), th.KMeans(8, init="random", n_init=10, random_state=0)
    steps = th.KMeans(8, init="random", n_init=10, random_state=0)
    counted = Callback(None)
    steps.set_callbacks(counted).fit(X)
    with pytest.raises(KeyboardInterrupt):  # in the first step of a later start
        model.set_callbacks(Callback(counted.steps // 2, KeyboardInterrupt())).fit(X)
    finished = steps.restarts_[:3]
    assert model.solution_.outcome is INTERRUPTED
    assert -model.score(X) <= finished.min() * (1 + 1e-12)


def test_starts_of_small_batches_with_few_rows_of_positive_weight():
    X, weight = rows(8000), np.zeros(8000)
    weight[:50] = 1.0
    model = th.MiniBatchKMeans(3, random_state=0).fit(X, sample_weight=weight)
    few = th.KMeans(3, n_init=10, random_state=0).fit(X[:50])
    assert model.inertia_ < 1.5 * few.inertia_


@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
@pytest.mark.parametrize("n", [1, 3000])
def test_rows_whose_distances_overflow_have_no_cluster(kind, n):
    far = np.repeat([[0.0, 1e200, 0.0]], n, axis=0)
    for model in (th.KMeans(3, random_state=0), th.SoftKMeans(3, random_state=0)):
        model.fit(rows())
        asks = [model.predict, model.transform, model.score]
        for ask in [*asks, getattr(model, "soft_assignment", model.predict)]:
            with pytest.raises(th.errors.DataError, match="overflow"):
                ask(kind(far))


def test_an_infinite_temperature_is_an_error():
    with pytest.raises(th.errors.ParameterError, match="temperature=inf"):
        th.SoftKMeans(3, temperature=np.inf).fit(rows())


def test_later_batches_keep_the_number_of_clusters():
    model = th.MiniBatchKMeans(3, random_state=0).partial_fit(rows())
    with pytest.raises(th.errors.ParameterError, match="n_clusters=5"):
        model.set_params(n_clusters=5).partial_fit(rows())


def test_one_row_is_singular_in_the_message():
    with pytest.raises(th.errors.DataError, match=r"there is 1 row\. Use"):
        th.KMeans(3).fit(rows(1))


FAMILY = [th.KMeans, th.MiniBatchKMeans, th.BisectingKMeans, th.SoftKMeans]


@pytest.mark.filterwarnings("ignore:.*distinct clusters")
@pytest.mark.parametrize("family", FAMILY)
def test_sparse_rows_without_an_entry_are_rows_of_zeros(family):
    model = family(3, random_state=0).fit(sp.csr_array((30, 4)))
    assert (model.cluster_centers_ == 0).all()
    assert (model.labels_ == 0).all()


@pytest.mark.parametrize("family", [th.KMeans, th.MiniBatchKMeans, th.SoftKMeans])
def test_centres_beyond_all_rows_are_refused(family):
    X = rows(30)
    with pytest.raises(th.errors.DataError, match=r"centre 1, with entries up to 1e\+200"):
        family(2, init=[[0.0, 0, 0], [0.0, 1e200, 0]], n_init=1).fit(X)
    model = family(2, init=X[:2] * 1e149, n_init=1, random_state=0).fit(X * 1e149)
    assert np.isfinite(model.cluster_centers_).all()


@pytest.mark.parametrize("family", FAMILY)
def test_weights_are_the_third_argument(family):
    X, weight = rows(40), np.arange(40.0)
    model = family(3, random_state=0).fit(X, None, weight)
    labels, transformed = model.labels_, model.transform(X)
    np.testing.assert_array_equal(model.fit_predict(X, None, weight), labels)
    np.testing.assert_array_equal(model.fit_transform(X, None, weight), transformed)
    np.testing.assert_array_equal(model.fit_transform(X, sample_weight=weight), transformed)
