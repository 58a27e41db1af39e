"""Gradient boosting of learners other than the engine's trees: relations, losses, services."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import thetahat as th

X, Y = make_friedman1(400, noise=1.0, random_state=0)
SIGN = Y > np.median(Y)
SMALL_TREE = th.DecisionTreeRegressor(max_depth=2)
LINE = th.LinearRegression()


class NearestMean(RegressorMixin, BaseEstimator):
    """Takes no weights: the mean target on either side of a column's middle."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.middle_ = np.median(X[:, self.column])
        above = X[:, self.column] > self.middle_
        self.means_ = np.array([y[~above].mean(), y[above].mean()])
        return self

    def predict(self, X):
        return self.means_[(X[:, self.column] > self.middle_).astype(int)]


class Broken(NearestMean):
    """Predicts what cannot be added up."""

    def predict(self, X):
        return np.full(len(X), np.nan)


@parametrize_with_checks(
    [
        kind(estimator=th.Ridge(), n_estimators=2, learning_rate=0.9, random_state=0)
        for kind in (th.GradientBoostingClassifier, th.GradientBoostingRegressor)
    ]
)
@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# Relations


def test_lines_converge_to_least_squares():
    expected = LINE.fit(X, Y).predict(X)
    options = {"estimator": th.LinearRegression(), "n_estimators": 1, "learning_rate": 1.0}
    once = th.GradientBoostingRegressor(**options).fit(X, Y)
    np.testing.assert_allclose(once.predict(X), expected, rtol=1e-9)
    slow = th.GradientBoostingRegressor(estimator=th.LinearRegression(), n_estimators=250)
    slow.fit(X, Y)
    np.testing.assert_allclose(slow.predict(X), expected, rtol=1e-8)
    # Each round leaves the part 1 − η of the way.
    left = [np.linalg.norm(stage - expected) for stage in slow.staged_predict(X)]
    np.testing.assert_allclose(np.divide(left[1:20], left[:19]), 0.9, rtol=1e-6)


def test_a_tree_given_by_name_descends_like_the_engines_own():
    """On columns of few values the engine's bins hold every split that the exact tree looks at."""
    rows = np.round(50 * X)
    own = th.GradientBoostingRegressor(max_depth=3, n_estimators=60).fit(rows, Y)
    given = th.GradientBoostingRegressor(
        estimator=th.DecisionTreeRegressor(max_depth=3), n_estimators=60
    ).fit(rows, Y)
    np.testing.assert_allclose(given.train_score_, own.train_score_, rtol=1e-9)
    np.testing.assert_allclose(given.predict(rows), own.predict(rows), rtol=1e-9)
    np.testing.assert_allclose(given.estimator_weights_, 0.1)


def test_logistic_boosting_of_lines_ends_at_logistic_regression():
    model = th.GradientBoostingClassifier(
        estimator=th.LinearRegression(), n_estimators=300, learning_rate=1.0
    ).fit(X, SIGN)
    expected = th.LogisticRegression(C=np.inf, tol=1e-10).fit(X, SIGN)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-3)


def test_stages_end_at_the_model_and_descend():
    model = th.GradientBoostingRegressor(estimator=SMALL_TREE, n_estimators=30).fit(X, Y)
    stages = list(model.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    errors = [np.mean((stage - Y) ** 2) for stage in stages]
    np.testing.assert_allclose(errors, model.train_score_, rtol=1e-12)
    assert np.all(np.diff(errors) < 0)


def test_warm_start_goes_on_bit_for_bit():
    options = {"estimator": SMALL_TREE, "subsample": 0.7, "random_state": 3}
    whole = th.GradientBoostingClassifier(n_estimators=12, **options).fit(X, SIGN)
    parts = th.GradientBoostingClassifier(n_estimators=5, warm_start=True, **options).fit(X, SIGN)
    parts.set_params(n_estimators=12).fit(X, SIGN)
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    with pytest.raises(th.errors.ParameterError, match="start from the beginning"):
        parts.set_params(estimator=None, n_estimators=20).fit(X, SIGN)


def test_weight_two_is_a_row_twice_and_weight_zero_no_row():
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    twice = np.repeat(np.arange(len(X)), weight)
    for kind, y in ((th.GradientBoostingRegressor, Y), (th.GradientBoostingClassifier, SIGN)):
        model = kind(estimator=SMALL_TREE, n_estimators=10)
        a = clone(model).fit(X, y, sample_weight=weight)._raw(X)
        b = clone(model).fit(X[twice], y[twice])._raw(X)
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_the_order_of_classes_does_not_matter():
    x, y = load_wine(return_X_y=True)
    model = th.GradientBoostingClassifier(estimator=th.Ridge(), n_estimators=10)
    a = clone(model).fit(x, y).predict_proba(x)
    b = clone(model).fit(x, 2 - y).predict_proba(x)
    np.testing.assert_allclose(a, b[:, ::-1], rtol=1e-9, atol=1e-12)


# The size of a step


@pytest.mark.parametrize(
    "loss",
    ["squared_error", "absolute_error", "quantile", "poisson", th.losses.Cauchy()],
    ids=str,
)
def test_coefficients_are_best_for_their_loss(loss):
    """With η = 1, no other multiple of the last learner lowers the loss."""
    y = np.abs(Y)
    model = th.GradientBoostingRegressor(
        loss=loss,
        estimator=SMALL_TREE,
        n_estimators=3,
        learning_rate=1.0,
        leaf_update="line_search",
    ).fit(X, y)
    raw, step = model._raw(X)[:, 0], model.estimator_weights_[-1, 0]
    answers = model.estimators_[-1, 0].predict(X)
    at = model.loss_.value(y, raw).mean()
    assert step > 0
    for change in (-1e-3, 1e-3):
        assert model.loss_.value(y, raw + change * step * answers).mean() >= at - 1e-12


@pytest.mark.parametrize("loss", ["log_loss", "exponential", "squared_hinge"])
def test_newton_steps_never_climb(loss):
    model = th.GradientBoostingClassifier(
        loss=loss, estimator=SMALL_TREE, n_estimators=40, learning_rate=1.0
    ).fit(X, SIGN)
    assert np.all(np.diff(model.train_score_) < 1e-12)
    assert model.score(X, SIGN) > 0.85


def test_a_newton_step_that_climbs_is_cut_short():
    """From f = 0 the curvature e⁰ of the Poisson loss promises far too long a step."""
    model = th.GradientBoostingRegressor(
        loss="poisson", init="zero", estimator=SMALL_TREE, n_estimators=10, learning_rate=1.0
    ).fit(X, np.abs(Y))
    assert model.train_score_[0] < 1.0  # e⁰ − y·0
    assert np.all(np.diff(model.train_score_) < 0)


@pytest.mark.parametrize(
    "loss",
    [
        "huber",
        th.losses.Tukey(scale=8.0),
        th.losses.EpsilonInsensitive(epsilon=0.5),
        th.loss(lambda y, z: np.abs(z - y), name="own absolute"),
        th.loss(lambda y, z: 1 - np.exp(-((z - y) ** 2) / 50), name="negative curvature"),
    ],
    ids=lambda loss: getattr(loss, "name", loss),
)
@pytest.mark.parametrize("leaf_update", ["auto", "newton"])
def test_losses_without_positive_curvature(loss, leaf_update):
    model = th.GradientBoostingRegressor(
        loss=loss, estimator=SMALL_TREE, n_estimators=25, leaf_update=leaf_update
    ).fit(X, Y)
    assert np.mean((model.predict(X) - Y) ** 2) < 0.5 * np.var(Y)


@pytest.mark.parametrize("loss", ["log_loss", "multiclass_hinge"])
def test_many_classes(loss):
    x, y = load_wine(return_X_y=True)
    labels = np.array(["a", "b", "c"])[y]
    model = th.GradientBoostingClassifier(loss=loss, estimator=SMALL_TREE, n_estimators=30)
    model.fit(x, labels)
    assert model.estimators_.shape == model.estimator_weights_.shape == (30, 3)
    assert model.score(x, labels) > 0.98
    assert model.train_score_[-1] < 0.3 * model.train_score_[0]


def test_all_coefficients_reoptimised_are_optimal():
    options = {"estimator": SMALL_TREE, "n_estimators": 8}
    for kind, y in ((th.GradientBoostingRegressor, Y), (th.GradientBoostingClassifier, SIGN)):
        last = kind(**options).fit(X, y)
        every = kind(**options, reoptimise="all").fit(X, y)
        y = np.asarray(y, dtype=float)
        value = [m.loss_.value(y, m._raw(X)[:, 0]).mean() for m in (last, every)]
        assert value[1] < value[0]
        slope = every.loss_.gradient(y, every._raw(X)[:, 0])
        outputs = np.column_stack([each.predict(X) for each in every.estimators_[:, 0]])
        pull = outputs.T @ slope / len(X) / np.sqrt(np.mean(outputs**2, axis=0))
        assert np.abs(pull).max() < 1e-3
        assert abs(slope.mean()) < 1e-3


class Remembering(th.DecisionTreeRegressor):
    """A tree that keeps the target it was fitted to."""

    def fit(self, X, y, sample_weight=None):
        self.target_ = np.array(y)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    ("kind", "y"), [(th.GradientBoostingRegressor, Y), (th.GradientBoostingClassifier, SIGN)]
)
def test_all_coefficients_are_reoptimised_before_the_next_residuals(kind, y):
    """The gradients of round m are orthogonal to the predictions of all earlier learners."""
    model = kind(
        estimator=Remembering(max_depth=2, random_state=0), n_estimators=6, reoptimise="all"
    ).fit(X, y)
    learners = model.estimators_[:, 0]
    for number, learner in enumerate(learners):
        target = learner.target_ / np.linalg.norm(learner.target_)
        assert abs(target.sum()) / np.sqrt(len(X)) < 1e-3
        for earlier in learners[:number]:
            output = earlier.predict(X)
            assert abs(target @ output) < 1e-3 * np.linalg.norm(output)


@pytest.mark.parametrize("estimator", [None, SMALL_TREE])
def test_scores_of_every_round_are_those_of_reoptimised_models(estimator):
    def fitted(n_estimators):
        return th.GradientBoostingClassifier(
            estimator=estimator, n_estimators=n_estimators, reoptimise="all"
        ).fit(X, SIGN)

    scores = fitted(5).train_score_
    for number in range(1, 6):
        model = fitted(number)
        loss = model.loss_.value(np.asarray(SIGN, dtype=float), model._raw(X)[:, 0]).mean()
        assert scores[number - 1] == pytest.approx(model.loss_.deviance_factor * loss, rel=1e-12)


# Services


def test_stops_early_on_rows_that_nothing_was_learned_from():
    model = th.GradientBoostingRegressor(
        estimator=th.DecisionTreeRegressor(max_depth=6),
        n_estimators=300,
        n_iter_no_change=5,
        learning_rate=0.5,
        random_state=0,
    ).fit(X, Y)
    assert 3 <= model.n_estimators_ < 300


def test_drawn_rows_report_what_they_left_out():
    model = th.GradientBoostingRegressor(
        estimator=SMALL_TREE, subsample=0.5, n_estimators=20, random_state=0
    ).fit(X, Y)
    assert model.oob_improvement_.shape == (20,)
    assert model.oob_improvement_[:10].min() > 0


def test_random_learners_are_seeded_by_the_round():
    learner = th.ExtraTreeRegressor(max_depth=3)
    model = th.GradientBoostingRegressor(estimator=learner, n_estimators=5, random_state=1)
    a, b = (clone(model).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    seeds = {each.random_state for each in a.estimators_[:, 0]}
    assert len(seeds) == 5
    assert learner.random_state is None


def test_time_is_kept_and_the_rounds_so_far_stay():
    model = th.GradientBoostingRegressor(estimator=SMALL_TREE)
    with th.config(max_time=1e-6), pytest.warns(ConvergenceWarning, match="of 100 iterations"):
        model.fit(X, Y)
    assert model.n_estimators_ == 1
    whole = th.GradientBoostingRegressor(estimator=SMALL_TREE).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), next(whole.staged_predict(X)))


def test_an_interrupted_fit_keeps_its_rounds():
    class Stubborn(NearestMean):
        def fit(self, X, y):
            fits.append(1)
            if len(fits) == 6:
                raise KeyboardInterrupt
            return super().fit(X, y)

    fits = []
    model = th.GradientBoostingRegressor(estimator=Stubborn(column=3))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.n_estimators_ == 5
    assert np.isfinite(model.predict(X)).all()


def test_saved_is_loaded(tmp_path):
    x, y = load_wine(return_X_y=True)
    for learner in (make_pipeline(StandardScaler(), th.Ridge()), SMALL_TREE):
        model = th.GradientBoostingClassifier(estimator=learner, n_estimators=6).fit(x, y)
        th.save(model, tmp_path / "model.theta")
        loaded = th.load(tmp_path / "model.theta")
        np.testing.assert_array_equal(loaded.predict_proba(x), model.predict_proba(x))
        assert repr(loaded) == repr(model)


def test_parameters_of_the_learner_are_searched():
    model = th.GradientBoostingRegressor(estimator=th.DecisionTreeRegressor(), n_estimators=10)
    search = GridSearchCV(model, {"estimator__max_depth": [1, 3]}, cv=2).fit(X, Y)
    assert search.best_params_ == {"estimator__max_depth": 3}
    assert model.estimator.max_depth is None


def test_learners_see_tables_and_sparse_rows_as_they_are():
    colour = np.array(["red", "green", "blue"])[np.arange(len(X)) % 3]
    frame = pd.DataFrame({"colour": colour, "x": X[:, 3]})
    learner = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough"),
        th.Ridge(alpha=1e-6),
    )
    y = Y + 5 * (colour == "red")
    model = th.GradientBoostingRegressor(estimator=learner, n_estimators=60).fit(frame, y)
    np.testing.assert_allclose(model.predict(frame), learner.fit(frame, y).predict(frame), atol=0.1)
    assert list(model.feature_names_in_) == ["colour", "x"]
    rows = np.where(X < 0.5, 0.0, X)
    model = th.GradientBoostingRegressor(estimator=th.Ridge(), n_estimators=5, subsample=0.5)
    model.set_params(random_state=0, n_iter_no_change=3)
    dense, sparse = clone(model).fit(rows, Y), clone(model).fit(sp.csr_array(rows), Y)
    np.testing.assert_allclose(sparse.predict(sp.csr_array(rows)), dense.predict(rows), rtol=1e-8)


def test_a_model_may_come_first():
    model = th.GradientBoostingRegressor(init=th.Ridge(), estimator=SMALL_TREE, n_estimators=20)
    model.fit(X, Y)
    assert model.score(X, Y) > model.init_.score(X, Y) + 0.05


def test_importances_are_those_that_learners_tell():
    model = th.GradientBoostingRegressor(estimator=SMALL_TREE).fit(X, Y)
    assert set(np.argsort(model.feature_importances_)[-5:]) == {0, 1, 2, 3, 4}
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    lines = th.GradientBoostingRegressor(estimator=th.Ridge(), n_estimators=2).fit(X, Y)
    assert not hasattr(lines, "feature_importances_")


# Bad input


def test_refusals_name_a_way_out(tmp_path):
    booster = th.GradientBoostingRegressor
    with pytest.raises(th.errors.ParameterError, match="a regressor with fit and predict"):
        booster(estimator=th.LogisticRegression()).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="a regressor with fit and predict"):
        booster(estimator="tree").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="Leave one of them out"):
        booster(estimator=th.Ridge(), checkpoint=tmp_path / "fit.npz").fit(X, Y)
    with pytest.raises(th.errors.CapabilityError, match="does not support sample weights"):
        booster(estimator=NearestMean()).fit(X, Y, sample_weight=np.arange(len(X)))
    with pytest.raises(th.errors.DataError, match=r"predicts nan .first at row 0."):
        booster(estimator=Broken()).fit(X, Y)
    with pytest.raises(TypeError, match="sparse"):
        booster(estimator=NearestMean()).fit(sp.csr_array(X), Y)
    with pytest.raises(th.errors.CapabilityError, match="no leaves"):
        booster(estimator=th.Ridge(), n_estimators=1).fit(X, Y).apply(X)


def test_a_learner_without_weights_takes_rows_that_count_alike():
    weight = np.where(np.arange(len(X)) % 4, 2.0, 0.0)
    model = th.GradientBoostingRegressor(estimator=NearestMean(column=3), n_estimators=5)
    a = clone(model).fit(X, Y, sample_weight=weight).predict(X)
    b = clone(model).fit(X[weight > 0], Y[weight > 0]).predict(X)
    np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_learner_with_nothing_to_say_changes_nothing():
    model = th.GradientBoostingRegressor(estimator=th.Ridge(), n_estimators=3)
    model.fit(np.ones((20, 1)), np.arange(20.0))
    np.testing.assert_allclose(model.predict([[1.0]]), 9.5)
