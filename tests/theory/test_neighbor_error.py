"""The error of nearest neighbours with endless data, and the bound of Cover and Hart."""

import numpy as np
import pytest

from thetahat import theory


def averaged(n_neighbors):
    """Over x uniform on [0, 1] with p(1|x) = x, by a quadrature that is exact for polynomials."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    x = (nodes + 1) / 2
    errors = theory.neighbor_error(np.column_stack([1 - x, x]), n_neighbors=n_neighbors)
    return float(errors @ weights / 2)


@pytest.mark.parametrize(("k", "error"), [(1, 1 / 3), (3, 3 / 10), (5, 2 / 7)])
def test_worked_example(k, error):
    assert averaged(k) == pytest.approx(error, abs=1e-14)


def test_it_falls_toward_the_bayes_error():
    errors = [averaged(k) for k in (1, 3, 5, 9, 15, 19)]
    assert errors == sorted(errors, reverse=True)
    assert 1 / 4 < errors[-1] < 0.262


def test_one_neighbour_errs_with_the_gini_impurity():
    p = np.random.default_rng(0).dirichlet(np.ones(4), 30)
    np.testing.assert_allclose(theory.neighbor_error(p), 1 - (p**2).sum(axis=1), rtol=1e-13)
    assert theory.neighbor_error([[0.0, 1.0, 0.0]])[0] == 0.0
    np.testing.assert_allclose(theory.neighbor_error(np.full((1, 5), 0.2), n_neighbors=3), 0.8)


def test_it_lies_between_the_bayes_error_and_the_bound():
    for classes in (2, 3, 5):
        p = np.random.default_rng(classes).dirichlet(np.ones(classes), 200)
        bayes, error = 1 - p.max(axis=1), theory.neighbor_error(p)
        assert (bayes <= error + 1e-12).all()
        bound = [theory.cover_hart(each, classes=classes) for each in bayes]
        assert (error <= np.array(bound) + 1e-12).all()
    assert averaged(1) <= theory.cover_hart(1 / 4) == 3 / 8


def test_votes_of_three_classes_as_simulated():
    p = np.array([[0.5, 0.3, 0.2]])
    random = np.random.default_rng(0)
    votes = random.multinomial(4, p[0], size=200_000)
    chance = (votes == votes.max(axis=1, keepdims=True)) / 1.0
    chance /= chance.sum(axis=1, keepdims=True)
    expected = 1 - (chance @ p[0]).mean()
    assert theory.neighbor_error(p, n_neighbors=4)[0] == pytest.approx(expected, abs=3e-3)


def test_refusals():
    with pytest.raises(ValueError, match="row 1 of posterior"):
        theory.neighbor_error([[0.5, 0.5], [0.5, 0.6]])
    with pytest.raises(ValueError, match="n_neighbors=0"):
        theory.neighbor_error([[1.0]], n_neighbors=0)
    with pytest.raises(ValueError, match="Use fewer neighbours"):
        theory.neighbor_error(np.full((1, 10), 0.1), n_neighbors=50)
    with pytest.raises(ValueError, match="one row of class probabilities"):
        theory.neighbor_error([0.5, 0.5])
