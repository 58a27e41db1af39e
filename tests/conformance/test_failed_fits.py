"""A fit that fails leaves the model that was there before, and never parts of two models."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

import thetahat as th
from tests.conformance import estimator_cases as laws
from thetahat.estimator.base import Estimator

ROWS = 60
NARROW, WIDE = laws.X[:ROWS, :4], laws.X[ROWS : 2 * ROWS]

BY_MEMBERS = {"TableVectorizer"}
"""Estimators whose members read the rows, so that their own fit cannot be made to fail."""


class Late(Exception):
    """Raised when the columns of the new rows have been stored already."""


@pytest.fixture
def fails_late(monkeypatch):
    """Lets every fit fail after it has stored the columns of its rows."""
    remember = Estimator._remember

    def fail(kind):
        def remembered(self, source):
            remember(self, source)
            raise kind

        monkeypatch.setattr(Estimator, "_remember", remembered)

    yield fail
    monkeypatch.undo()


def small(name):
    model = clone(laws.ESTIMATORS[name])
    known = model.get_params()
    few = {"max_iter": 20, "n_estimators": 3, "n_components": 2}
    kept = [key for key in few if known.get(key) in (-1, 1, None)]
    return model.set_params(**{k: v for k, v in few.items() if k in known and k not in kept})


@pytest.mark.parametrize("kind", [Late, KeyboardInterrupt])
@pytest.mark.parametrize("name", [name for name in laws.ESTIMATORS if name not in BY_MEMBERS])
@pytest.mark.filterwarnings("ignore")
def test_a_failed_fit_leaves_the_model_before(name, kind, fails_late):
    model = small(name)
    y = laws.targets(model)
    model.fit(laws.suited(model, NARROW), y[:ROWS])
    before = dict(vars(model))
    fails_late(kind)
    with pytest.raises(kind):
        model.fit(laws.suited(model, WIDE), y[ROWS : 2 * ROWS])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[each] is value for each, value in before.items())


@pytest.mark.parametrize("name", laws.ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_a_failed_first_fit_leaves_no_model(name, fails_late):
    model = small(name)
    before = dict(vars(model))
    fails_late(Late)
    try:
        model.fit(laws.suited(model, WIDE), laws.targets(model)[ROWS : 2 * ROWS])
    except Late:
        assert vars(model).keys() == before.keys()
        if model.__sklearn_tags__().requires_fit:
            with pytest.raises(NotFittedError):
                check_is_fitted(model)


def test_failures_of_single_families():
    """Without a prepared failure: too small numbers, a single class, too many clusters."""
    X, wide = NARROW, WIDE
    outliers = th.LocalOutlierFactor(n_neighbors=5, novelty=True).fit(X)
    scores = outliers.decision_function(X)
    with pytest.raises(ValueError, match="too small"):
        outliers.fit(wide * 1e-320)
    np.testing.assert_array_equal(outliers.decision_function(X), scores)
    labels = np.arange(ROWS) % 2
    process = th.GaussianProcessClassifier(optimizer=None).fit(X, labels)
    with pytest.raises(ValueError, match="class"):
        process.fit(wide, np.full(ROWS, "only"))
    np.testing.assert_array_equal(process.classes_, [0, 1])
    assert process.predict(X).shape == (ROWS,)
    tree = th.AgglomerativeClustering(n_clusters=3).fit(X)
    with pytest.raises(ValueError, match="fewer clusters"):
        tree.set_params(n_clusters=100).fit(wide)
    assert tree.n_features_in_ == 4


class Interrupt(ProgressBar):
    """Ctrl-C in the third step."""

    def __init__(self):
        self.steps = 0

    def setup(self, *args, **params):
        pass

    def teardown(self, *args, **params):
        pass

    def on_fit_task_begin(self, *args, **params):
        pass

    def on_fit_task_end(self, *args, **params):
        self.steps += 1
        if self.steps == 3:
            raise KeyboardInterrupt


def test_an_interrupt_with_parameters_leaves_nothing_of_the_model_before():
    model = th.KMeans(8, init="random", n_init=1, tol=0, random_state=0)
    model.fit(NARROW)
    assert len(model.labels_) == ROWS
    rng = np.random.default_rng(0)
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Interrupt()).fit(rng.random((500, 3)))
    assert model.cluster_centers_.shape == (8, 3)
    assert model.n_features_in_ == 3
    assert not hasattr(model, "labels_") or len(model.labels_) == 500
    assert model.predict(rng.random((2, 3))).shape == (2,)


def test_a_warm_start_still_goes_on():
    X = NARROW
    model = th.GaussianMixture(2, max_iter=1, warm_start=True, random_state=0)
    bounds = []
    for _ in range(3):
        with pytest.warns(ConvergenceWarning):
            model.fit(X)
        bounds.append(model.lower_bound_)
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


class CtrlC:
    """Raises KeyboardInterrupt at a call of a Python function of the library."""

    def __init__(self, at=np.inf):
        self.calls, self.at = 0, at

    def __call__(self, frame, event, _):
        code = frame.f_code
        # Python ignores what is raised at the end of an object's life.
        if event == "call" and "thetahat" in code.co_filename and code.co_name != "__del__":
            self.calls += 1
            if self.calls == self.at:
                raise KeyboardInterrupt

    def during(self, fit):
        sys.setprofile(self)
        try:
            fit()
        finally:
            sys.setprofile(None)


@pytest.mark.parametrize("share", [0.6, 0.9])
@pytest.mark.parametrize(
    "name",
    [
        "KernelRidge",
        "PCA",
        "GaussianNB",
        "PLSRegression",
        "KernelPCA",
        "NMF",
        "Standardizer",
        "NadarayaWatson",
        "VotingClassifier",
        "BaggingRegressor",
        "LedoitWolf",
        "Whitening",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_an_interrupt_leaves_a_model_that_can_be_used(name, share):
    model = small(name)
    y, x = laws.targets(model)[:ROWS], laws.suited(model, WIDE)
    use = next(each for each in ("predict", "transform", "score") if hasattr(model, each))
    with th.config(threads=1):
        model.fit(x, y)
        whole = CtrlC()
        whole.during(lambda: model.fit(x, y))
        with pytest.raises(KeyboardInterrupt):
            CtrlC(max(1, int(share * whole.calls))).during(lambda: model.fit(x, y))
    getattr(model, use)(x)
