"""Importances and partial dependence: relations that hold whatever the model."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

import thetahat as th
from thetahat.data.columns.replaced_column import column_labels, exchanged

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((300, 3))
Y = 3.0 * X[:, 0] + X[:, 1] + 0.1 * RANDOM.standard_normal(300)


def test_a_column_that_is_not_used_is_worth_nothing():
    model = th.LinearRegression().fit(X[:, :2], Y)
    wide = th.FeatureMap({"a": (np.positive, [0]), "b": (np.positive, [1])})
    found = th.importances(make_pipeline(wide, model).fit(X, Y), X, Y)
    assert list(found.intervals) == [0, 1, 2]
    assert found.intervals[2].estimate == 0.0
    assert found.intervals[0].low > found.intervals[1].high > 0


def test_the_loss_is_that_of_a_shuffle():
    """For a linear model on independent columns, shuffling loses 2 β² var(x) of the variance."""
    model = th.LinearRegression().fit(X, Y)
    found = th.importances(model, X, Y, n_repeats=50).intervals
    expected = 2 * model.coef_**2 * X.var(axis=0) / Y.var()
    for column in range(3):
        assert expected[column] in found[column]


def test_shuffles_are_predicted_together():
    calls = []

    class Counted(th.LinearRegression):
        def predict(self, X):
            calls.append(len(X))
            return super().predict(X)

    model = Counted().fit(X, Y)
    together = th.importances(model, X, Y, scoring="r2").intervals
    assert len(calls) == 5  # intact, the draws, and one for each column; not 1 + 10 + 30
    one_by_one = th.importances(model, X, Y, scoring=lambda m, *rows: m.score(*rows)).intervals
    for column, each in together.items():
        assert each.estimate == pytest.approx(one_by_one[column].estimate, rel=1e-9)


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars", "arrow"])
def test_every_kind_of_table(kind):
    names = ["a", "b", "c"]
    tables = {
        "numpy": X,
        "pandas": pd.DataFrame(X, columns=names),
        "polars": pl.DataFrame(X, schema=names),
        "arrow": pl.DataFrame(X, schema=names).to_arrow(),
    }
    table = tables[kind]
    labels = column_labels(table)
    rows = np.arange(300)[::-1]
    changed = exchanged(table, labels[1], rows)
    numbers = (
        np.column_stack([np.asarray(changed[label]) for label in labels])
        if (kind != "numpy")
        else changed
    )
    np.testing.assert_array_equal(numbers[:, 1], X[::-1, 1])
    np.testing.assert_array_equal(numbers[:, [0, 2]], X[:, [0, 2]])
    model = th.LinearRegression().fit(table, Y)
    assert list(th.importances(model, table, Y, n_repeats=2).intervals) == labels
    curve = th.partial_dependence(model, table, labels[0])
    slope = np.diff(curve.mean) / np.diff(curve.values)
    np.testing.assert_allclose(slope, model.coef_[0], rtol=1e-9)


def test_dependence_on_categories():
    random = np.random.default_rng(1)
    table = pl.DataFrame({"c": ["a", "b", "b"] * 40, "x": random.standard_normal(120)})
    y = np.where(np.array(table["c"].to_list()) == "a", 5.0, 1.0)
    model = make_pipeline(th.TableVectorizer(), th.LinearRegression()).fit(table, y)
    curve = th.partial_dependence(model, table, "c")
    assert curve.values == ["b", "a"]
    np.testing.assert_allclose(curve.mean, [1.0, 5.0], atol=1e-9)
    assert not curve.is_numeric


def test_probabilities_of_a_class():
    labels = np.where(Y > 0, "yes", "no")
    model = th.LogisticRegression().fit(X, labels)
    yes = th.partial_dependence(model, X, 0, label="yes")
    no = th.partial_dependence(model, X, 0, label="no")
    np.testing.assert_allclose(yes.mean + no.mean, 1.0)
    assert yes.response == "probability of yes"
    assert (np.diff(yes.mean) > 0).all()


def test_same_seed_same_answer_on_any_threads():
    model = th.LinearRegression().fit(X, Y)
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            found.append(th.importances(model, X, Y, random_state=4).intervals)
    assert found[0] == found[1]


def test_refusals():
    model = th.LinearRegression().fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="n_repeats=1"):
        th.importances(model, X, Y, n_repeats=1)
    with pytest.raises(th.errors.ParameterError, match="no column 7"):
        th.partial_dependence(model, X, 7)
    classifier = th.LogisticRegression().fit(X, Y > 0)
    with pytest.raises(th.errors.ParameterError, match="no class"):
        th.partial_dependence(classifier, X, 0, label="maybe")
