"""Forests at the edge: bad input, interruptions, extreme data."""

import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import thetahat as th

FORESTS = (
    "RandomForestClassifier",
    "ExtraTreesClassifier",
    "RandomForestRegressor",
    "ExtraTreesRegressor",
)
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((80, 4))
Y = (X[:, 0] > 0).astype(int)


def forest(name, **parameters):
    return getattr(th, name)(**{"n_estimators": 5, "random_state": 0, **parameters})


@pytest.fixture(params=FORESTS)
def name(request):
    return request.param


def test_constant_columns_give_one_leaf(name):
    model = forest(name).fit(np.ones((20, 3)), np.arange(20) % 2)
    assert {tree.tree_.node_count for tree in model.estimators_} == {1}
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(3))
    assert model._forest.packed.values.shape[1] in (1, 2)


def test_one_row_and_one_class(name):
    assert forest(name).fit([[1.0, 2.0]], [3]).predict([[5.0, 5.0]]).tolist() == [3]
    assert set(forest(name).fit(X, np.full(80, 7)).predict(X)) == {7}


def test_many_classes_and_few_categories_take_no_longer_than_numbers():
    """Orders of the categories by each class once allocated memory for all rows, in every node."""
    random = np.random.default_rng(0)
    y = random.integers(0, 50, 1200)
    rows = np.column_stack([2 * random.normal(size=(50, 3))[y], random.integers(0, 5, 1200)])
    rows[:, :3] += random.normal(size=(1200, 3))

    def seconds(categorical):
        model = forest("RandomForestClassifier", categorical_features=categorical)
        begun = time.process_time()
        model.fit(rows, y)
        return time.process_time() - begun

    plain, split = (min(seconds(each) for _ in range(3)) for each in (None, [3]))
    assert split < 10 * plain + 0.05


def test_all_missing_columns_and_rows(name):
    rows = X.copy()
    rows[:, 1] = np.nan
    rows[::3, 0] = np.nan
    for splits in ("exact", "histogram"):
        model = forest(name, splits=splits).fit(rows, Y)
        assert model.score(rows, Y) > 0.5
        assert model.feature_importances_[1] == 0.0
        model.predict(np.full((2, 4), np.nan))
        only = forest(name, splits=splits).fit(np.full((10, 2), np.nan), np.arange(10) % 2)
        assert only.estimators_[0].tree_.node_count == 1


def test_infinite_values_are_extreme_values(name):
    rows = X.copy()
    rows[:20, 0], rows[20:40, 0] = np.inf, -np.inf
    y = (rows[:, 0] > 1).astype(int)
    for splits in ("exact", "histogram"):
        model = forest(name, splits=splits, max_features=None, bootstrap=False).fit(rows, y)
        np.testing.assert_array_equal(model.predict(rows), y)


def test_huge_and_tiny_numbers(name):
    rows = np.array([[-1.7e308], [-1e-308], [0.0], [5e-324], [1.7e308]])
    for splits in ("exact", "histogram"):
        model = forest(name, bootstrap=False, splits=splits).fit(rows, [0, 1, 0, 1, 0])
        np.testing.assert_array_equal(model.predict(rows), [0, 1, 0, 1, 0])


def test_deep_chains(name):
    """Row by row is parted from the rest, for each weighs as much as all that follow it."""
    n = 2000
    rows, y = np.arange(float(n))[:, None], np.arange(n) % 2
    weight = 2.0 ** -np.minimum(np.arange(n), 40)
    model = forest(name, n_estimators=1, bootstrap=False).fit(rows, y, sample_weight=weight)
    assert model.estimators_[0].get_depth() > (30 if name.startswith("Random") else 10)
    np.testing.assert_array_equal(model.predict(rows), y)


def test_zero_weights_are_absent_rows(name):
    weight = np.ones(80)
    weight[::2] = 0.0
    rows = X.copy()
    rows[::2] = 1e6
    model = forest(name, bootstrap=False)
    expected = model.fit(X[1::2], Y[1::2]).predict(X)
    np.testing.assert_array_equal(model.fit(rows, Y, sample_weight=weight).predict(X), expected)
    drawn = forest(name, bootstrap=True).fit(rows, Y, sample_weight=weight)
    assert all((rows % 2 == 1).all() for rows in drawn.estimators_samples_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0 must be a whole number from 1 to"),
        ({"criterion": "ginny"}, "criterion='ginny'"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"max_features": 0}, "max_features=0"),
        ({"max_features": 1.5}, "max_features=1.5"),
        ({"max_features": "square"}, "Did you mean 'sqrt'"),
        ({"max_features_per_tree": 0.0}, "max_features_per_tree"),
        ({"max_candidates": 0}, "max_candidates=0"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0"),
        ({"min_weight_fraction_leaf": 0.6}, "from 0 to 0.5"),
        ({"max_leaf_nodes": 0}, "max_leaf_nodes=0"),
        ({"ccp_alpha": -1.0}, "ccp_alpha=-1.0"),
        ({"splits": "fast"}, "splits='fast'"),
        ({"max_samples": 0}, "max_samples=0"),
        ({"bootstrap": False, "oob_score": True}, "only available if bootstrap=True"),
        ({"bootstrap": False, "max_samples": 5}, "cannot be set if bootstrap=False"),
        ({"monotonic_cst": [1, 0]}, "has shape"),
        ({"monotonic_cst": [2, 0, 0, 0]}, "of -1, 0 or 1"),
        (
            {"monotonic_cst": [1, 0, 0, 0], "categorical_features": [0]},
            "Categorical features cannot",
        ),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(name, parameters, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        forest(name, **parameters).fit(np.abs(X), Y)


def test_constraints_need_one_output(name):
    model = forest(name, monotonic_cst=[1, 0, 0, 0])
    with pytest.raises(th.errors.ParameterError, match="one output"):
        model.fit(X, np.column_stack([Y, Y]))


def test_targets_that_are_no_targets():
    bad = Y.astype(float)
    bad[3] = np.nan
    for name in FORESTS:
        with pytest.raises(th.errors.DataError, match=r"NaN.*row 3"):
            forest(name).fit(X, bad)
    with pytest.raises(th.errors.DataError, match="negative"):
        forest("RandomForestRegressor", criterion="poisson").fit(X, Y - 1.0)
    with pytest.raises(th.errors.ParameterError, match="not a class of y"):
        forest("RandomForestClassifier", class_weight={9: 1.0}).fit(X, Y)
    with pytest.raises(th.errors.DataError, match="all sample weights are zero"):
        forest("RandomForestRegressor").fit(X, Y, sample_weight=np.zeros(80))


def test_intervals_need_rows_left_out():
    model = forest("RandomForestRegressor").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="oob_score=True"):
        model.predict_interval(X)
    with pytest.raises(th.errors.ParameterError, match="between 0 and 1"):
        model.predict_interval(X, 1.0)


def test_absolute_errors_take_every_threshold():
    with pytest.raises(th.errors.ParameterError, match="max_candidates"):
        forest("RandomForestRegressor", criterion="absolute_error", max_candidates=3).fit(X, Y)


def test_warm_start_with_other_columns_is_refused(name):
    model = forest(name, warm_start=True).fit(X, Y)
    model.set_params(n_estimators=8)
    with pytest.raises(th.errors.DataError, match="set warm_start=False"):
        model.fit(X[:, :2], Y)


def test_not_fitted(name):
    with pytest.raises(NotFittedError):
        forest(name).predict(X)
    with pytest.raises(NotFittedError):
        _ = forest(name).feature_importances_
    assert not hasattr(forest(name), "estimators_")


def test_the_time_limit_keeps_the_trees_so_far(name):
    random = np.random.default_rng(1)
    rows = random.standard_normal((3000, 10))
    y = (random.standard_normal(3000) > 0).astype(int)
    with th.config(max_time=1e-6), pytest.warns(ConvergenceWarning, match="of 500 trees"):
        model = forest(name, n_estimators=500).fit(rows, y)
    assert 1 <= len(model.estimators_) < 500
    assert model.solution_.outcome is th.results.Outcome.OUT_OF_TIME
    whole = forest(name, n_estimators=len(model.estimators_)).fit(rows, y)
    np.testing.assert_array_equal(model.predict(rows), whole.predict(rows))


@pytest.mark.processes
def test_ctrl_c_keeps_the_trees_so_far():
    """In a process of its own: the signal goes to whoever runs the tests otherwise."""
    code = (
        "import os, signal, threading, numpy as np, thetahat as th\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in the background
        "random = np.random.default_rng(0)\n"
        "X, y = random.standard_normal((2000, 10)), random.standard_normal(2000)\n"
        "model = th.RandomForestRegressor(n_estimators=100_000, random_state=0)\n"
        "threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    model.fit(X, y)\n"
        "except KeyboardInterrupt:\n"
        "    print(len(model.estimators_), model.solution_.outcome.name, model.score(X, y) > 0.5)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    n_trees, outcome, learned = run.stdout.split()
    assert 1 <= int(n_trees) < 100_000
    assert (outcome, learned) == ("INTERRUPTED", "True")


class Steps:
    """A callback that counts trees, and may ask to stop."""

    def __init__(self, stop_after=None):
        self.seen, self.stop_after = 0, stop_after

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        self.seen += context.task_name == "step"
        return self.stop_after is not None and self.seen >= self.stop_after


def test_callbacks_see_every_tree(name):
    steps = Steps()
    forest(name, n_estimators=7).set_callbacks(steps).fit(X, Y)
    assert steps.seen == 7
    steps = Steps(stop_after=3)
    model = forest(name, n_estimators=50)
    model.set_callbacks(steps).fit(X, Y)
    assert 3 <= len(model.estimators_) < 50
