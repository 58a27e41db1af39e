"""Bias and variance by the bootstrap: the identity, the direction, peers of its parts, refusals."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeRegressor

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-2, 2, (200, 1))
Y = np.sin(2 * X[:, 0]) + 0.3 * RANDOM.standard_normal(200)
LABELS = np.where(Y + 0.3 * RANDOM.standard_normal(200) > 0, "up", "down")


@pytest.mark.parametrize("depth", [1, 3, None])
def test_error_is_systematic_plus_variance(depth):
    tree = DecisionTreeRegressor(max_depth=depth, random_state=0)
    found = th.resampled_bias_variance(tree, X, Y, random_state=0)
    assert found.error == pytest.approx(found.systematic + found.variance)
    assert found.systematic == pytest.approx(np.mean((Y - found.predictions) ** 2))


def test_deep_trees_vary_and_shallow_ones_are_biased():
    shallow, deep = (
        th.resampled_bias_variance(
            DecisionTreeRegressor(max_depth=depth, random_state=0), X, Y, random_state=0
        )
        for depth in (1, None)
    )
    assert deep.variance > shallow.variance
    assert shallow.systematic > 1.5 * deep.systematic


def test_variance_nears_that_over_fresh_training_sets():
    """The bootstrap's variance of least squares is near σ²·(d + 1)/n."""
    random = np.random.default_rng(1)
    rows = random.standard_normal((300, 5))
    y = rows.sum(axis=1) + random.standard_normal(300)
    found = th.resampled_bias_variance(
        th.LinearRegression(), rows, y, n_resamples=300, random_state=0
    )
    assert found.variance == pytest.approx(6 / 300, rel=0.3)
    assert found.systematic == pytest.approx(1.0, rel=0.2)


def test_labels():
    """A guess at random strays as often as coins differ; one and the same label never strays."""
    steady, nervous = (
        th.resampled_bias_variance(model, X, LABELS, random_state=0)
        for model in (
            DummyClassifier(strategy="constant", constant="up"),
            DummyClassifier(strategy="uniform"),
        )
    )
    assert nervous.variance > 0.3
    assert steady.variance == 0.0
    assert steady.error == steady.systematic
    assert "bootstrap fits" in str(nervous)


def test_rows_that_every_sample_drew_do_not_count_and_are_reported():
    """Two samples draw about 40% of the rows both times."""
    numbers, labels = (
        th.resampled_bias_variance(model, X[:30], targets[:30], n_resamples=2, random_state=0)
        for model, targets in (
            (DecisionTreeRegressor(random_state=0), Y),
            (DummyClassifier(strategy="constant", constant="up"), LABELS),
        )
    )
    counted = np.isfinite(numbers.predictions)
    assert 10 < counted.sum() < 25
    assert numbers.n_counted == labels.n_counted == counted.sum()
    assert [label is not None for label in labels.predictions] == counted.tolist()
    assert set(labels.predictions[counted]) == {"up"}
    assert labels.error == pytest.approx(np.mean(LABELS[:30][counted] != "up"))
    missed = 30 - counted.sum()
    assert f"{missed} of 30 rows were in every sample and do not count" in str(labels)
    assert "in every sample" not in str(
        th.resampled_bias_variance(th.Ridge(), X, Y, random_state=0)
    )


def test_a_column_of_targets_is_the_targets():
    flat, column = (
        th.resampled_bias_variance(th.Ridge(), X, y, n_resamples=5, random_state=0)
        for y in (Y, Y[:, None])
    )
    assert flat.error == column.error


def test_the_same_for_any_number_of_threads():
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            result = th.resampled_bias_variance(th.Ridge(), X, Y, random_state=1)
        found.append((result.error, result.variance))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: th.resampled_bias_variance(th.Ridge(), X, Y, n_resamples=1), "n_resamples=1"),
        (lambda: th.resampled_bias_variance(th.Ridge(), X, Y, n_resamples="a"), "n_resamples='a'"),
        (lambda: th.resampled_bias_variance(th.Ridge(), X, Y[:-1]), "200 rows"),
        (
            lambda: th.resampled_bias_variance(
                th.LogisticRegression(), X[:4], ["a", "a", "a", "b"], random_state=0
            ),
            "bootstrap sample 0 failed|failed",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        call()
