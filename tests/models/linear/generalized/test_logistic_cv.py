"""C and l1_ratio chosen over folds: scikit-learn's attributes, scores and choices."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, LeaveOneGroupOut

import thetahat as th

RANDOM = np.random.default_rng(1)
N = 150
X = RANDOM.standard_normal((N, 3))
TWO = np.where(X @ [1.0, -1.0, 0.0] + RANDOM.logistic(size=N) > 0, "yes", "no")
THREE = np.argmax(X @ RANDOM.standard_normal((3, 3)) + RANDOM.gumbel(size=(N, 3)), axis=1)
LABELS = {"two": TWO, "three": THREE}
WEIGHT = RANDOM.random(N)
CS = [0.01, 0.1, 1.0]


def peer(y, weight=None, **parameters):
    model = sklearn.linear_model.LogisticRegressionCV(
        **({"tol": 1e-8, "max_iter": 5000} | parameters)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return model.fit(X, y, weight)


def fit(y, weight=None, **parameters):
    return th.LogisticRegressionCV(**({"tol": 1e-8, "max_iter": 5000} | parameters)).fit(
        X, y, weight
    )


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("legacy", ["warn", True, False])
@pytest.mark.parametrize("l1_ratios", ["warn", [0.0, 0.5]], ids=str)
def test_attributes_of_scikit_learn(labels, legacy, l1_ratios):
    parameters = {
        # Where all coefficients are 0, saga stops before the intercept is fitted.
        "Cs": [0.2, 0.7, 2.0],
        "cv": 3,
        "scoring": "neg_log_loss",
        "use_legacy_attributes": legacy,
        "l1_ratios": l1_ratios,
    }
    solver = "lbfgs" if isinstance(l1_ratios, str) else "saga"
    theirs = peer(LABELS[labels], **parameters, solver=solver)
    ours = fit(LABELS[labels], **parameters, solver=solver)
    np.testing.assert_array_equal(ours.Cs_, theirs.Cs_)
    for name in ("C_", "l1_ratio_", "coef_", "intercept_"):
        expected = getattr(theirs, name)
        if expected is None or np.asarray(expected).dtype == object:  # no l1_ratio: 0 here
            assert not np.any(getattr(ours, name))
            continue
        np.testing.assert_allclose(getattr(ours, name), expected, atol=1e-4, err_msg=name)
        assert np.shape(getattr(ours, name)) == np.shape(expected)
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    for name in ("scores_", "coefs_paths_"):
        got, expected = getattr(ours, name), getattr(theirs, name)
        if legacy is False:
            np.testing.assert_allclose(got, expected, atol=1e-4)
            continue
        assert list(got) == list(expected)
        for label in expected:
            np.testing.assert_allclose(got[label], expected[label], atol=1e-4)


def test_scores_are_those_of_fits_without_the_fold():
    folds = KFold(3)
    model = fit(TWO, Cs=CS, cv=folds, use_legacy_attributes=False)
    for i, (train, test) in enumerate(folds.split(X)):
        for j, C in enumerate(CS):
            alone = th.LogisticRegression(C=C, tol=1e-8).fit(X[train], TWO[train])
            assert model.scores_[i, 0, j] == alone.score(X[test], TWO[test])
            np.testing.assert_allclose(
                model.coefs_paths_[i, 0, j, 0, :-1], alone.coef_[0], atol=1e-6
            )
    best = CS[int(model.scores_.mean(axis=0)[0].argmax())]
    assert model.C_ == best
    final = th.LogisticRegression(C=best, tol=1e-8).fit(X, TWO)
    np.testing.assert_allclose(model.coef_, final.coef_, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), final.predict(X))


def test_weights_and_class_weights():
    parameters = {
        "Cs": CS,
        "cv": 3,
        "scoring": "neg_log_loss",
        "class_weight": "balanced",
        "use_legacy_attributes": False,
    }
    ours, theirs = (solve(THREE, WEIGHT, **parameters) for solve in (fit, peer))
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_weight_two_is_a_row_twice_when_folds_follow_the_rows():
    random = np.random.default_rng(101)
    weight, groups = random.integers(0, 3, N), np.arange(N) % 3
    rows = np.repeat(np.arange(N), weight)

    def chosen(rows, weight):
        folds = list(LeaveOneGroupOut().split(X[rows], groups=groups[rows]))
        model = th.LogisticRegressionCV(Cs=CS, cv=folds, tol=1e-9, use_legacy_attributes=False)
        return model.fit(X[rows], TWO[rows], weight)

    weighted, repeated = chosen(np.arange(N), weight), chosen(rows, None)
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=1e-12)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)


@pytest.mark.parametrize("labels", LABELS)
def test_without_refit_the_best_of_each_fold_are_averaged(labels):
    parameters = {"Cs": CS, "cv": 3, "refit": False, "scoring": "neg_log_loss"}
    ours, theirs = (solve(LABELS[labels], **parameters) for solve in (fit, peer))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.C_, theirs.C_)


def test_a_number_of_values_is_a_grid():
    model = th.LogisticRegressionCV(Cs=4, cv=2, fit_intercept=False).fit(X, TWO)
    np.testing.assert_allclose(model.Cs_, np.logspace(-4, 4, 4))
    assert model.coefs_paths_["yes"].shape == (2, 4, 3)
    assert model.intercept_.tolist() == [0.0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": [1.0, 0.0]}, "Cs=.* must be a whole number ≥ 1, or an array of numbers > 0"),
        ({"Cs": []}, "Cs="),
        ({"l1_ratios": [2.0]}, "l1_ratios=.* between 0 and 1"),
        ({"penalty": None}, "penalty=None"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.LogisticRegressionCV(**parameters).fit(X, TWO)


def test_stopping_early_is_said():
    with (
        pytest.warns(ConvergenceWarning, match="1 iteration,"),
        pytest.warns(
            ConvergenceWarning, match="of 4 fits during the cross-validation ran out of iterations"
        ),
    ):
        th.LogisticRegressionCV(Cs=[1.0, 10.0], cv=2, max_iter=1).fit(X, THREE)


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
def test_a_class_that_a_fold_does_not_hold(scoring):
    y = np.random.default_rng(5).integers(0, 2, N)
    y[:4] = 2
    parameters = {
        "Cs": CS,
        "scoring": scoring,
        "l1_ratios": [0.0],
        "use_legacy_attributes": False,
        "tol": 1e-9,
    }
    np.testing.assert_allclose(
        fit(y, **parameters).scores_, peer(y, **parameters).scores_, rtol=1e-4
    )


@pytest.mark.filterwarnings("ignore:.*best parameters so far:sklearn.exceptions.ConvergenceWarning")
def test_the_time_limit_holds_for_all_folds_together():
    model = th.LogisticRegressionCV(Cs=5, cv=4, use_legacy_attributes=False)
    with (
        th.config(max_time=1e-9),
        pytest.warns(
            ConvergenceWarning, match="20 of 20 fits during the cross-validation ran out of time"
        ),
    ):
        model.fit(X, THREE)  # the last fit may be done in the millisecond that it is given
    np.testing.assert_array_equal(model.n_iter_, 1)
    assert set(model.predict(X)) <= {0, 1, 2}


def test_interrupted_folds_leave_no_model():
    def interrupt(model, X, y):
        raise KeyboardInterrupt

    model = th.LogisticRegressionCV(Cs=2, scoring=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, TWO)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_score_uses_scoring():
    X, y = make_classification(random_state=0)
    model = th.LogisticRegressionCV(Cs=3, scoring="neg_log_loss", cv=3).fit(X, y)
    weight = np.linspace(0.5, 2.0, len(y))
    probabilities = model.predict_proba(X)
    assert model.score(X, y) == pytest.approx(-log_loss(y, probabilities))
    weighted = -log_loss(y, probabilities, sample_weight=weight)
    assert model.score(X, y, sample_weight=weight) == pytest.approx(weighted)
    assert th.LogisticRegressionCV(Cs=3, cv=3).fit(X, y).score(X, y) == np.mean(
        model.set_params(scoring=None).fit(X, y).predict(X) == y
    )
