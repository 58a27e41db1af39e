"""Several threads that fit one model: each fit succeeds, and one of their models is left."""

import sys
import threading

import numpy as np
import pytest

import thetahat as th

MODELS = [
    th.BaggingClassifier._example,
    th.BaggingRegressor._example,
    th.BayesianModelAveraging._example,
    th.BayesianModelAveragingClassifier._example,
    th.EmbeddingNetwork._example,
    th.StackedAutoencoder._example,
    th.StackingClassifier._example,
    th.StackingRegressor._example,
    th.VotingClassifier._example,
    th.VotingRegressor._example,
    th.PrototypeClassifier,
    lambda: th.IncrementalPCA(2, batch_size=10),
]


@pytest.fixture
def _frequent_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def fitted_by_threads(model, X, y):
    """The errors of eight fits of the same model at once."""
    errors = []

    def fit():
        try:
            model.fit(X, y)
        except Exception as failure:
            errors.append(failure)

    threads = [threading.Thread(target=fit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def outputs(model, X):
    method = model.predict if hasattr(model, "predict") else model.transform
    return method(X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("_frequent_switches")
@pytest.mark.parametrize("make", MODELS)
def test_threads_that_fit_one_model_leave_the_model_of_one_fit(make):
    X = np.random.default_rng(0).standard_normal((60, 4))
    alone, shared = make(), make()
    for model in (alone, shared):
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=0)
    y = (X[:, 0] > 0).astype(int) if hasattr(type(alone), "_labels") else X[:, 0]
    alone.fit(X, y)
    for _ in range(2):
        assert fitted_by_threads(shared, X, y) == []
        assert set(vars(shared)) == set(vars(alone))
        assert len(getattr(shared, "estimators_", [])) == len(getattr(alone, "estimators_", []))
        np.testing.assert_allclose(outputs(shared, X), outputs(alone, X), rtol=1e-6, atol=1e-8)
