"""NaiveBayes.partial_fit: batches give the model of one fit, also with new categories."""

import itertools

import numpy as np
import pandas as pd
import pytest

import thetahat as th


def people(n=120, seed=0):
    """A table with numbers, gaps, text, numbers that are categories and Booleans, and labels."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n)
    size = random.normal(y, 1.0)
    size[random.random(n) < 0.1] = np.nan
    colour = np.array(["red", "blue", "green", "amber"], dtype=object)[
        (y + random.poisson(0.5, n)) % 4
    ]
    colour[random.random(n) < 0.1] = None
    rank = random.integers(0, 5, n) + y
    return pd.DataFrame(
        {"size": size, "colour": colour, "rank": rank, "likes": random.random(n) < 0.3 * y + 0.1}
    ), np.array(["a", "b", "c"])[y]


LIKELIHOODS = {"rank": "categorical"}


def batches(X, y, weight, edges):
    model = th.NaiveBayes(LIKELIHOODS)
    for start, stop in itertools.pairwise(edges):
        part = None if weight is None else weight[start:stop]
        model.partial_fit(
            X.iloc[start:stop], y[start:stop], classes=["a", "b", "c"], sample_weight=part
        )
    return model


@pytest.mark.parametrize("weighted", [False, True])
def test_batches_together_are_one_fit(weighted):
    X, y = people()
    order = np.argsort(X["colour"].fillna("zero").to_numpy(), kind="stable")[::-1]
    X, y = X.iloc[order], y[order]  # most batches have new categories, before and after the others
    weight = np.random.default_rng(1).integers(0, 3, len(y)) if weighted else None
    model = batches(X, y, weight, [0, 50, 55, 90, 120])
    whole = th.NaiveBayes(LIKELIHOODS).fit(X, y, sample_weight=weight)
    new = people(60, seed=3)[0]
    new.loc[0, "colour"] = "violet"
    for rows in (X, new):
        np.testing.assert_allclose(
            model.predict_log_proba(rows), whole.predict_log_proba(rows), rtol=1e-10, atol=1e-12
        )
    np.testing.assert_allclose(model.log_density(new), whole.log_density(new), rtol=1e-10)
    np.testing.assert_allclose(model.class_count_, whole.class_count_)
    assert model.likelihoods_ == whole.likelihoods_
    assert model._columns.levels == whole._columns.levels
    np.testing.assert_allclose(
        model.column_log_density("colour", [0, 1, 2, 3]),
        whole.column_log_density("colour", [0, 1, 2, 3]),
        rtol=1e-10,
    )


def test_a_fit_is_continued_and_saved(tmp_path):
    X, y = people()
    model = th.NaiveBayes(LIKELIHOODS).fit(X[:80], y[:80])
    th.save(model, tmp_path / "model")
    again = th.load(tmp_path / "model")
    whole = th.NaiveBayes(LIKELIHOODS).fit(X, y).predict_proba(X)
    for each in (model, again):
        np.testing.assert_allclose(each.partial_fit(X[80:], y[80:]).predict_proba(X), whole)
    model.fit(X[:50], y[:50])  # forgets what was before
    np.testing.assert_allclose(
        th.NaiveBayes(LIKELIHOODS).fit(X[:50], y[:50]).predict_proba(X), model.predict_proba(X)
    )


def test_a_batch_may_lack_all_values_of_a_column():
    X, y = people()
    numbers = X[["size", "rank"]].to_numpy(dtype=float)
    numbers[:40, 1] = np.nan
    kinds = ["gaussian", "categorical"]
    model = th.NaiveBayes(kinds).fit(numbers[40:], y[40:]).partial_fit(numbers[:40], y[:40])
    np.testing.assert_allclose(
        model.predict_proba(numbers), th.NaiveBayes(kinds).fit(numbers, y).predict_proba(numbers)
    )


@pytest.mark.parametrize("kind", ["histogram", "kernel"])
def test_densities_that_need_all_rows_are_refused(kind):
    X, y = people()
    model = th.NaiveBayes({"size": kind})
    with pytest.raises(th.errors.CapabilityError, match=f"{kind} likelihoods need all rows"):
        model.partial_fit(X, y, classes=["a", "b", "c"])
    model.fit(X, y)
    with pytest.raises(th.errors.CapabilityError, match=f"{kind} likelihoods need all rows"):
        model.partial_fit(X, y)


def test_bad_batches_leave_the_model():
    X, y = people()
    with pytest.raises(th.errors.ParameterError, match="the first call needs classes"):
        th.NaiveBayes().partial_fit(X, y)
    model = th.NaiveBayes().partial_fit(X, y, classes=["a", "b", "c"])
    before = model.predict_proba(X)
    other = X.assign(colour=1.0)
    with pytest.raises(th.errors.DataError, match="'colour' holds numbers in this batch"):
        model.partial_fit(other, y)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(X.rename(columns={"size": "height"}), y)
    with pytest.raises(ValueError, match="d"):
        model.partial_fit(X, np.full(len(y), "d"))
    with pytest.raises(th.errors.DataError, match="needs the rows X and the labels y"):
        model.partial_fit(X)
    np.testing.assert_array_equal(model.predict_proba(X), before)
