"""Boosting that fits the coefficients of all trees again after each one."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

import thetahat as th
from tests.models.ensemble.gradient_boosting.boosting_data import SIGN, X, Y, mean_square


def test_all_coefficients_reoptimised_fit_better_and_are_optimal():
    options = {"n_estimators": 15, "max_depth": 2}
    for kind, y, value in (
        (th.GradientBoostingRegressor, Y, lambda m: mean_square(m, X, Y)),
        (th.GradientBoostingClassifier, SIGN, lambda m: log_loss(SIGN, m.predict_proba(X))),
    ):
        last = kind(**options).fit(X, y)
        every = kind(**options, reoptimise="all").fit(X, y)
        assert value(every) < value(last)
        outputs = np.column_stack([t.tree_.predict(X)[:, 0] for t in every.estimators_[:, 0]])
        raw = every._raw(X)[:, 0]
        slope = every.loss_.gradient(np.asarray(y, dtype=float), raw)
        pull = outputs.T @ slope / len(X) / np.sqrt(np.mean(outputs**2, axis=0))
        assert np.abs(pull).max() < 1e-3
        assert abs(slope.mean()) < 1e-3


def test_scores_of_reoptimised_iterations_are_those_of_their_own_coefficients():
    """Each is the last score of a shorter fit; staged predictions use the final coefficients."""
    whole = th.GradientBoostingRegressor(n_estimators=6, reoptimise="all").fit(X, Y)
    short = th.GradientBoostingRegressor(n_estimators=3, reoptimise="all").fit(X, Y)
    np.testing.assert_allclose(whole.train_score_[:3], short.train_score_)
    staged = [np.mean((Y - each) ** 2) for each in whole.staged_predict(X)]
    assert staged[-1] == pytest.approx(whole.train_score_[-1])
    assert staged[2] > whole.train_score_[2] * 1.001


def test_reoptimised_coefficients_keep_monotone_columns_monotone():
    cst = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    model = th.HistGradientBoostingRegressor(
        monotonic_cst=cst, min_samples_leaf=5, max_iter=40, reoptimise="all"
    ).fit(X, Y)
    grid = np.repeat(X[:60], 40, axis=0)
    grid[:, 3] = np.tile(np.linspace(-0.1, 1.1, 40), 60)
    assert np.all(np.diff(model.predict(grid).reshape(60, 40), axis=1) >= -1e-12)


def test_continued_fits_reoptimise_as_one_fit():
    options = {"early_stopping": True, "random_state": 0, "reoptimise": "all"}
    for y, kind in (
        (Y, th.HistGradientBoostingRegressor),
        (SIGN, th.HistGradientBoostingClassifier),
    ):
        whole = kind(max_iter=6, **options).fit(X, y)
        parts = kind(max_iter=3, warm_start=True, **options).fit(X, y)
        parts.set_params(max_iter=6).fit(X, y)
        np.testing.assert_array_equal(whole._raw(X), parts._raw(X))
        held = whole._held_out(whole._open_rows(X, y, None))[1]
        assert whole.validation_score_[-1] == pytest.approx(
            whole._scorer(held)(whole._raw(held.X)), rel=1e-12
        )
