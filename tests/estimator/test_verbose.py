"""Estimators print their progress if they are asked to, and nothing otherwise."""

import inspect

import numpy as np
import pytest

import thetahat as th
from thetahat.catalog import estimators

QUIET_ON_LABELLED_ROWS = {"SelfTrainingClassifier"}
VERBOSE = sorted(
    name
    for name, kind in estimators().items()
    if "verbose" in inspect.signature(kind).parameters and name not in QUIET_ON_LABELLED_ROWS
)


def printed(name, verbose, capsys):
    random = np.random.default_rng(0)
    X = np.abs(random.standard_normal((60, 4))) + 0.1
    y = np.where(X[:, 0] > X[:, 1], 2.0, 1.0)
    model = estimators()[name]._example().set_params(verbose=verbose)
    few = {"max_iter": 20, "n_estimators": 5}
    if not hasattr(model, "kernel") and name != "TSNE":
        model.set_params(**{key: few[key] for key in few if key in model.get_params()})
    model.fit(X, y)
    return model, capsys.readouterr().out.splitlines()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", VERBOSE)
def test_verbose_prints(name, capsys):
    assert printed(name, 0, capsys)[1] == []
    model, lines = printed(name, 2, capsys)
    assert lines
    if not type(model)._prints_itself and hasattr(model, "solution_"):
        assert lines[-1] == f"[{name}] {model.solution_.summary}"


def test_progress_is_printed_once_per_second(capsys, monkeypatch):
    clock = iter(np.arange(0.0, 100.0, 0.4))
    monkeypatch.setattr("thetahat.estimator.watching.time.monotonic", lambda: next(clock))
    X = np.random.default_rng(0).random((40, 6))
    th.NMF(3, max_iter=12, tol=0, random_state=0, verbose=1).fit(X)
    *progress, _ = capsys.readouterr().out.splitlines()
    assert 0 < len(progress) < 12
    assert progress[0].startswith("[NMF] iteration ")
    assert ", objective " in progress[0]


def test_the_fit_is_the_same():
    X = np.random.default_rng(0).standard_normal((80, 3))
    y = X[:, 0] > 0
    silent, verbose = (th.RandomForestClassifier(9, random_state=0, verbose=v) for v in (0, 2))
    assert np.array_equal(silent.fit(X, y).predict_proba(X), verbose.fit(X, y).predict_proba(X))


@pytest.mark.parametrize("value", ["rubbish", np.ones(3), (1,), object()], ids=type)
@pytest.mark.parametrize("name", ["ARDRegression", "BaggingRegressor", "KMeans", "SVC"])
def test_what_is_no_level_is_refused(name, value):
    model = getattr(th, name)(verbose=value)
    x = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(th.errors.ParameterError, match=r"verbose=.* must be"):
        model.fit(x, (x[:, 0] > 0).astype(int))
