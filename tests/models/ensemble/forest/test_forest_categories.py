"""Forests divide categories by sets, and levels without an effect do no harm."""

import numpy as np
import pytest

from tests.models.ensemble.forest.forest_data import FORESTS, answer, forest


def test_categories_and_missing_values_without_encoding():
    random = np.random.default_rng(3)
    import pandas

    colour = random.choice(["red", "green", "blue", "white"], 400)
    y = np.isin(colour, ["red", "white"]).astype(int)
    frame = pandas.DataFrame({"colour": colour, "size": random.standard_normal(400)})
    frame.loc[::7, "size"] = np.nan
    for name in FORESTS:
        model = forest(name, max_features=None).fit(frame[:300], y[:300])
        assert model.score(frame[300:], y[300:]) > 0.99
        unseen = frame[300:].assign(colour="violet")
        assert np.isfinite(np.asarray(answer(model, unseen), dtype=float)).all()
        if name.startswith("Random"):  # else splits are drawn, and the first may be a poor one
            assert set(model.estimators_[0].tree_.feature[:1]) == {0}


def test_more_categories_than_bins():
    codes = np.arange(1200) % 400
    y = (codes % 3 == 0).astype(int)
    rows = codes[:, None].astype(float)
    model = forest("RandomForestClassifier", categorical_features=[0], splits="histogram")
    assert model.fit(rows, y).score(rows, y) > 0.97


def with_random_levels(effect, n=600, n_levels=400):
    """Five columns of numbers, and levels whose effects have this standard deviation."""
    random = np.random.default_rng(5)
    rows = random.standard_normal((2 * n, 5))
    levels = random.integers(0, n_levels, 2 * n)
    y = rows[:, 0] + 2 * np.sin(2 * rows[:, 1]) + rows[:, 2] * rows[:, 3]
    y += effect * random.standard_normal(n_levels)[levels] + 0.5 * random.standard_normal(2 * n)
    return np.column_stack([rows, levels]), y


@pytest.mark.parametrize("max_features", [1, None])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_random_levels_do_no_harm(n_classes, max_features):
    rows, y = with_random_levels(0.0)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    name = "RandomForestClassifier" if n_classes else "RandomForestRegressor"
    options = {"n_estimators": 40, "max_features": max_features}
    without = forest(name, **options).fit(rows[:600, :5], y[:600])
    levels = forest(name, **options, categorical_features=[5]).fit(rows[:600], y[:600])
    assert levels.score(rows[600:], y[600:]) > without.score(rows[600:, :5], y[600:]) - 0.04


def test_levels_with_effects_are_used():
    rows, y = with_random_levels(3.0, n=1000, n_levels=200)
    without = forest("RandomForestRegressor").fit(rows[:1000, :5], y[:1000])
    levels = forest("RandomForestRegressor", categorical_features=[5]).fit(rows[:1000], y[:1000])
    gain = levels.score(rows[1000:], y[1000:]) - without.score(rows[1000:, :5], y[1000:])
    assert gain > 0.3
    shares = [tree.feature_importances_ for tree in levels.estimators_]
    np.testing.assert_allclose(levels.feature_importances_, np.mean(shares, axis=0), rtol=1e-8)


def test_levels_give_the_same_forest_for_any_weight_scale_and_thread_count():
    rows, y = with_random_levels(1.0)
    options = {"categorical_features": [5], "bootstrap": False, "max_features": 3}
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = forest("RandomForestRegressor", **options, n_jobs=1).fit(rows, y, weight)
    scaled = forest("RandomForestRegressor", **options, n_jobs=2).fit(rows, y, 1024 * weight)
    np.testing.assert_array_equal(scaled.predict(rows), model.predict(rows))
