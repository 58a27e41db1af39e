"""Held-out rows and monitors that are passed to `fit`."""

import numpy as np
import pandas as pd
import pytest

import thetahat as th

LABELS = np.array(["high", "low"])


def rows(n=300, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3))
    return X, X[:, 0] + random.standard_normal(n)


def stopping(kind=th.HistGradientBoostingRegressor, **others):
    return kind(max_iter=200, n_iter_no_change=5, random_state=0, **others)


@pytest.mark.parametrize("early_stopping", ["auto", True])
def test_given_rows_decide_when_to_stop(early_stopping):
    (X, y), (X_val, y_val) = rows(), rows(200, seed=1)
    model = stopping(early_stopping=early_stopping).fit(X, y, X_val=X_val, y_val=y_val)
    assert model.do_early_stopping_
    assert model.n_iter_ < 200
    expected = [-np.mean((each - y_val) ** 2) / 2 for each in model.staged_predict(X_val)]
    np.testing.assert_allclose(model.validation_score_[1:], expected)
    fixed = th.HistGradientBoostingRegressor(max_iter=model.n_iter_, early_stopping=False)
    np.testing.assert_array_equal(fixed.fit(X, y).predict(X), model.predict(X))  # no row held out


@pytest.mark.parametrize("loss", ["log_loss", "exponential", "hinge"])
def test_labels_of_given_rows(loss):
    (X, y), (X_val, y_val) = rows(), rows(200, seed=1)
    model = stopping(th.HistGradientBoostingClassifier, loss=loss).fit(
        X, LABELS[(y > 0).astype(int)], X_val=X_val, y_val=LABELS[(y_val > 0).astype(int)]
    )
    assert model.n_iter_ < 200
    targets = (y_val > 0).astype(float)
    targets = targets if loss == "log_loss" else 2 * targets - 1
    *_, last = model.staged_decision_function(X_val)
    assert model.validation_score_[-1] == pytest.approx(-model.loss_.value(targets, last).mean())


def test_weights_of_given_rows_equal_repetition():
    (X, y), (X_val, y_val) = rows(), rows(100, seed=1)
    weight = np.random.default_rng(2).integers(0, 3, 100)
    weighted = stopping().fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    repeated = stopping().fit(
        X, y, X_val=np.repeat(X_val, weight, axis=0), y_val=np.repeat(y_val, weight)
    )
    np.testing.assert_allclose(weighted.validation_score_, repeated.validation_score_)
    assert weighted.n_iter_ == repeated.n_iter_


def test_given_rows_may_hold_categories_and_missing_values():
    X, y = rows()
    table = pd.DataFrame({"kind": np.where(X[:, 0] > 0, "a", "b"), "size": X[:, 1]})
    table.loc[::7, "size"] = np.nan
    codes = np.column_stack([X[:, 0] <= 0, table["size"]]).astype(float)
    named = stopping().fit(table[:200], y[:200], X_val=table[200:], y_val=y[200:])
    coded = stopping(categorical_features=[0]).fit(
        codes[:200], y[:200], X_val=codes[200:], y_val=y[200:]
    )
    np.testing.assert_allclose(named.validation_score_, coded.validation_score_)


def test_checkpoints_belong_to_their_held_out_rows(tmp_path):
    (X, y), (X_val, y_val) = rows(), rows(100, seed=1)
    path = tmp_path / "snapshot"

    def interrupt(raw):
        raise KeyboardInterrupt

    model = stopping(checkpoint=path)
    model._print_progress = lambda boosting, started: boosting.n_rounds < 3 or interrupt(boosting)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, X_val=X_val, y_val=y_val)
    assert path.exists()
    with pytest.raises(ValueError, match="other"):
        stopping(checkpoint=path).fit(X, y, X_val=X_val, y_val=-y_val)
    continued = stopping(checkpoint=path).fit(X, y, X_val=X_val, y_val=y_val)
    whole = stopping().fit(X, y, X_val=X_val, y_val=y_val)
    np.testing.assert_array_equal(continued.predict(X), whole.predict(X))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X_val": 1}, "X_val is provided, but y_val was not provided"),
        ({"y_val": 1}, "y_val is provided, but X_val was not provided"),
        ({"sample_weight_val": 1}, "sample_weight_val is provided, but X_val and y_val"),
    ],
)
def test_incomplete_held_out_rows_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        stopping().fit(*rows(), **given)


def test_held_out_rows_that_do_not_fit_are_refused():
    (X, y), model = rows(), stopping()
    with pytest.raises(ValueError, match="early_stopping is False"):
        stopping(early_stopping=False).fit(X, y, X_val=X, y_val=y)
    with pytest.raises(ValueError, match="2 features"):
        model.fit(X, y, X_val=X[:, :2], y_val=y)
    with pytest.raises(ValueError, match="300 rows, y has 299"):
        model.fit(X, y, X_val=X, y_val=y[:-1])
    with pytest.raises(ValueError, match="Gamma loss needs numbers > 0"):
        stopping(loss="gamma").fit(X, np.exp(y), X_val=X, y_val=y)
    with pytest.raises(ValueError, match="'other'"):
        stopping(th.HistGradientBoostingClassifier).fit(
            X, LABELS[(y > 0).astype(int)], X_val=X[:1], y_val=["other"]
        )


@pytest.mark.parametrize("kind", [th.GradientBoostingClassifier, th.GradientBoostingRegressor])
def test_monitors_see_every_iteration_and_end_the_fit(kind):
    X, y = rows()
    y, seen = (y > 0).astype(int), []

    def monitor(i, model, state):
        assert len(model.estimators_) == model.n_estimators_ == len(model.train_score_) == i + 1
        np.testing.assert_array_equal(model._raw(state["X"]), state["raw_predictions"])
        seen.append(i)
        return i == 6

    model = kind(random_state=0).fit(X, y, monitor=monitor)
    assert seen == list(range(7))
    assert model.n_estimators_ == len(model.train_score_) == 7
    assert model.n_estimators == 100
    np.testing.assert_array_equal(
        model.predict(X), kind(n_estimators=7, random_state=0).fit(X, y).predict(X)
    )


def test_both_criteria_of_gradient_boosting_give_the_same_trees():
    X, y = rows()
    first, last = (
        th.GradientBoostingRegressor(criterion=each, random_state=0).fit(X, y).predict(X)
        for each in ("friedman_mse", "squared_error")
    )
    np.testing.assert_array_equal(first, last)
    with pytest.raises(ValueError, match="criterion='gini'"):
        th.GradientBoostingRegressor(criterion="gini").fit(X, y)
