"""Classes that a plane separates have no estimate, and are reported."""

import numpy as np
import pytest

import thetahat as th
from tests.models.linear.generalized.logistic_data import LABELS, SCORE, TWO, N, fit

PERFECT = (np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1]))
QUASI = (np.array([[0.0], [1.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1, 1]))
QUASI_THREE = (
    np.array([[0.0], [1.0], [1.0], [2.0], [3.0], [4.0], [4.0], [5.0]]),
    np.array([0, 0, 1, 1, 1, 1, 2, 2]),
)
PERFECT_THREE = (np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]] * 3), np.array([0, 1, 2] * 3))


@pytest.mark.parametrize("C", [np.inf, 1e12], ids=str)
@pytest.mark.parametrize(
    ("data", "word"),
    [
        (PERFECT, "perfectly"),
        (PERFECT_THREE, "perfectly"),
        (QUASI, "quasi"),
        (QUASI_THREE, "quasi"),
    ],
    ids=["perfect", "perfect three", "quasi", "quasi three"],
)
def test_separated_classes_are_reported(data, word, C):
    x, y = data
    with pytest.warns(th.errors.SeparationWarning, match=rf"{word}.*separated.*Use a penalty"):
        model = th.LogisticRegression(C=C).fit(x, y)
    assert "with no penalty, or too weak a one" in model.solution_.message
    assert "grow without bound" in model.solution_.message
    assert model.n_iter_[0] < 50
    assert np.isfinite(model.coef_).all()
    np.testing.assert_array_equal(model.predict(x[:1]), y[:1])


def test_a_negligible_absolute_penalty_is_none():
    with pytest.warns(th.errors.SeparationWarning, match="perfectly separated"):
        th.LogisticRegression(C=1e9, l1_ratio=1.0).fit(*PERFECT)


@pytest.mark.parametrize("unit", [1e-3, 1e-5])
def test_a_penalty_that_holds_the_coefficients_is_one_however_small(unit):
    rows = np.random.default_rng(4).standard_normal((400, 4))
    y = (rows.sum(axis=1) > 0).astype(int)
    expected = th.LogisticRegression(C=1.0, tol=1e-8).fit(rows, y)
    model = th.LogisticRegression(C=1 / unit**2, tol=1e-8).fit(rows * unit, y)
    np.testing.assert_allclose(model.coef_ * unit, expected.coef_, rtol=1e-3)
    assert model.solution_.outcome.success


def test_more_columns_than_rows_are_always_separated():
    random = np.random.default_rng(18)
    with pytest.warns(th.errors.SeparationWarning, match="perfectly separated"):
        th.LogisticRegression(penalty=None).fit(random.standard_normal((10, 30)), TWO[:10])


@pytest.mark.parametrize(
    "data",
    [PERFECT, QUASI, QUASI_THREE, PERFECT_THREE],
    ids=["perfect", "quasi", "quasi three", "perfect three"],
)
def test_a_penalty_makes_separated_classes_an_ordinary_problem(data):
    assert th.LogisticRegression().fit(*data).solution_.outcome.success
    th.LogisticRegression(C=1.0, l1_ratio=1.0).fit(*data)


@pytest.mark.parametrize("labels", LABELS)
def test_overlapping_classes_are_not_called_separated(labels):
    random = np.random.default_rng(19)
    strong = (SCORE * 4 + random.logistic(size=N) > 0).astype(int)
    for y in (LABELS[labels], strong):
        model = fit(y, C=np.inf)  # a warning would be an error
        assert model.solution_.outcome.success
        assert "separated" not in model.solution_.message
