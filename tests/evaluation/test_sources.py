"""Evaluation and cross-validated penalties on rows that are read from files: as in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, TimeSeriesSplit

import thetahat as th
from thetahat.foundation.errors import CapabilityError, DataError


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    found = pd.DataFrame(rng.standard_normal((900, 4)), columns=list("abcd"))
    found["y"] = found["a"] - 2 * found["b"] + rng.standard_normal(900)
    found["label"] = np.where(found["y"] > 0, "up", "down")
    found["w"] = rng.integers(1, 4, 900)
    return found


@pytest.fixture
def path(tmp_path, frame, monkeypatch):
    monkeypatch.setattr("thetahat.data.source.MAX_BLOCK_ROWS", 256)
    frame[:500].to_parquet(tmp_path / "part-0.parquet", row_group_size=100)
    frame[500:].to_parquet(tmp_path / "part-1.parquet", row_group_size=100)
    return tmp_path / "part-*.parquet"


def same(found, expected):
    assert found.scores.keys() == expected.scores.keys()
    for metric, interval in expected.intervals.items():
        np.testing.assert_allclose(found.scores[metric], expected.scores[metric], rtol=1e-9)
        other = found.intervals[metric]
        np.testing.assert_allclose(
            [other.low, other.high], [interval.low, interval.high], rtol=1e-9
        )


@pytest.mark.parametrize("cv", [5, KFold(3), TimeSeriesSplit(3), "bootstrap"], ids=str)
def test_regression(frame, path, cv):
    source = th.scan(path, target="y", features=list("abcd"))
    found = th.evaluate(th.Ridge(), source, cv=cv)
    same(found, th.evaluate(th.Ridge(), frame[list("abcd")], frame["y"], cv=cv))


def test_classification_and_metrics(frame, path):
    source = th.scan(path, target="label", features=list("abcd"))
    for scoring in (None, ["accuracy", "roc_auc"]):
        found = th.evaluate(th.GaussianNB(), source, scoring=scoring)
        expected = th.evaluate(
            th.GaussianNB(), frame[list("abcd")], frame["label"], scoring=scoring
        )
        same(found, expected)
        np.testing.assert_array_equal(found.predictions, expected.predictions)


def test_weights_of_the_source_are_for_the_fits_only(frame, path):
    source = th.scan(path, target="y", weight="w", features=list("abcd"))
    table = frame[list("abcd")]
    expected = th.evaluate(th.Ridge(), table, frame["y"], sample_weight=frame["w"])
    same(th.evaluate(th.Ridge(), source), expected)


def test_a_comparison_has_trees_too(frame, path):
    source = th.scan(path, target="y", features=list("abcd"))
    models = {
        "ridge": th.Ridge(),
        "boosting": th.HistGradientBoostingRegressor(max_iter=5, random_state=0),
    }
    found = th.compare(models, source, cv=3)
    expected = th.compare(models, frame[list("abcd")], frame["y"], cv=3)
    assert found.pairs[0].sentence == expected.pairs[0].sentence
    assert found.evaluations.keys() == expected.evaluations.keys()
    for name, evaluation in expected.evaluations.items():
        same(found.evaluations[name], evaluation)


def test_classifiers_of_labels_of_text_are_compared(frame, path):
    source = th.scan(path, target="label", features=list("abcd"))
    models = {"bayes": th.GaussianNB(), "none": th.GaussianNB(var_smoothing=1e9)}
    found = th.compare(models, source, cv=3, test="mcnemar")
    expected = th.compare(models, frame[list("abcd")], frame["label"], cv=3, test="mcnemar")
    assert found.best == "bayes"
    assert found.pairs[0].test.p == pytest.approx(expected.pairs[0].test.p, rel=1e-9)


def test_what_is_refused(path):
    source = th.scan(path, target="y", features=list("abcd"))
    with pytest.raises(DataError, match="holds its own y"):
        th.evaluate(th.Ridge(), source, np.zeros(900))
    with pytest.raises(CapabilityError, match="in memory"):
        th.evaluate(th.KNeighborsRegressor(), source)
    with pytest.raises(DataError, match="needs targets"):
        th.evaluate(th.Ridge(), th.scan(path, features=list("abcd")))
    with pytest.raises(CapabilityError, match="time_limit tunes the models on rows in memory"):
        th.compare({"one": th.Ridge(), "two": th.Lasso()}, source, time_limit="1s")


@pytest.mark.parametrize("name", ["LassoCV", "ElasticNetCV"])
@pytest.mark.parametrize("cv", [5, KFold(3, shuffle=True, random_state=0)], ids=str)
def test_penalties_of_lasso_are_those_in_memory(frame, path, name, cv):
    source = th.scan(path, target="y", weight="w", features=list("abcd"))
    found = getattr(th, name)(cv=cv, alphas=20).fit(source)
    expected = getattr(th, name)(cv=cv, alphas=20)
    expected.fit(frame[list("abcd")], frame["y"], sample_weight=frame["w"])
    assert found.alpha_ == pytest.approx(expected.alpha_, rel=1e-12)
    np.testing.assert_allclose(found.mse_path_, expected.mse_path_, rtol=1e-9)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)


def test_lasso_cv_from_files_needs_few_columns(path, monkeypatch):
    monkeypatch.setattr("thetahat.objective.lasso.fold_rows.WIDEST_GRAM", 1)
    source = th.scan(path, target="y", features=list("abcd"))
    with pytest.raises(CapabilityError, match=r"source\.arrays"):
        th.LassoCV(cv=3, alphas=5).fit(source)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_the_strength_of_logistic_regression_is_that_in_memory(frame, path, scoring):
    source = th.scan(path, target="label", features=list("abcd"))
    found = th.LogisticRegressionCV(Cs=2, cv=2, scoring=scoring).fit(source)
    expected = th.LogisticRegressionCV(Cs=2, cv=2, scoring=scoring)
    expected.fit(frame[list("abcd")], frame["label"])
    np.testing.assert_array_equal(found.C_, expected.C_)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6)
