"""Marginals, conditionals, maps, natural parameters, products and independence of Gaussians."""

import numpy as np
import pandas as pd
import pytest

from thetahat.errors import DataError
from thetahat.mathematics.distributions import MultivariateNormal, NaturalNormal

CHAIN = MultivariateNormal(
    [0.0, 0.0, 0.0],
    [[1.0, 1.0, 1.0], [1.0, 2.0, 2.0], [1.0, 2.0, 3.0]],
    names=["rain", "traffic", "delay"],
)
"""rain → traffic → delay, each step with noise of variance 1."""


def any_normal(d, seed):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(d, d))
    return MultivariateNormal(rng.normal(size=d), half @ half.T)


@pytest.mark.parametrize(("rho", "variance"), [(0.5, 0.75), (0.8, 0.36), (-0.8, 0.36)])
def test_conditional_variance_is_one_minus_the_squared_correlation(rho, variance):
    found = MultivariateNormal([0.0, 0.0], [[1.0, rho], [rho, 1.0]]).conditional(1, 2.0)
    assert found.covariance[0, 0] == pytest.approx(variance, rel=1e-14)
    assert found.mean[0] == pytest.approx(2 * rho, rel=1e-14)


@pytest.mark.parametrize("a", [-1.0, 0.0, 2.5])
def test_conditional_of_unequal_variances(a):
    found = MultivariateNormal([0.0, 0.0], [[3.0, 0.8], [0.8, 1.0]]).conditional([1], [a])
    np.testing.assert_allclose(found.mean, [0.8 * a], rtol=1e-14)
    np.testing.assert_allclose(found.covariance, [[2.36]], rtol=1e-14)


def test_joint_density_is_marginal_times_conditional():
    normal = any_normal(5, seed=1)
    x = np.random.default_rng(0).normal(size=5)
    given, left = [3, 1], [0, 2, 4]
    logs = normal.marginal(given).log_density(x[given])
    logs += normal.conditional(given, x[given]).log_density(x[left])
    assert normal.log_density(x) == pytest.approx(logs)


def test_conditional_by_the_natural_form_is_the_schur_complement():
    normal = any_normal(5, seed=2)
    moment = normal.conditional([0, 4], [1.0, -2.0])
    natural = normal.natural().conditional([0, 4], [1.0, -2.0])
    np.testing.assert_allclose(natural.covariance, moment.covariance, rtol=1e-9)
    np.testing.assert_allclose(natural.mean, moment.mean, rtol=1e-9)
    left = [1, 2, 3]
    np.testing.assert_array_equal(natural.precision, normal.natural().precision[np.ix_(left, left)])
    assert np.linalg.det(moment.covariance) < np.linalg.det(normal.marginal(left).covariance)


def test_conditioning_in_two_steps_is_conditioning_at_once():
    normal = any_normal(4, seed=3)
    at_once = normal.conditional([3, 0], [0.5, 1.5])
    stepwise = normal.conditional(3, 0.5).conditional(0, 1.5)
    np.testing.assert_allclose(stepwise.mean, at_once.mean)
    np.testing.assert_allclose(stepwise.covariance, at_once.covariance)


def test_nearly_determined_columns_keep_a_valid_covariance():
    rng = np.random.default_rng(5)
    base = rng.normal(size=(3, 2))
    half = np.hstack([base, 1e-7 * rng.normal(size=(3, 3))])
    normal = MultivariateNormal(np.zeros(3), half @ half.T)
    found = normal.conditional([0, 1], [0.0, 0.0])
    expected = 1 / np.linalg.inv(normal.covariance)[2, 2]
    assert found.covariance[0, 0] == pytest.approx(expected, rel=0.05)
    assert normal.conditional(0, 0.0).rank == 2


def test_marginals_keep_the_order_that_is_asked_for():
    found = CHAIN.marginal([2, 0])
    np.testing.assert_array_equal(found.covariance, [[3.0, 1.0], [1.0, 1.0]])
    assert found.names == ("delay", "rain")
    natural = CHAIN.natural().marginal([2, 0])
    np.testing.assert_allclose(natural.covariance, found.covariance, rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_affine_maps_of_any_shape(rows):
    normal = any_normal(3, seed=6)
    rng = np.random.default_rng(7)
    A, b = rng.normal(size=(rows, 3)), rng.normal(size=rows)
    found = normal.affine(A, b)
    np.testing.assert_allclose(found.mean, A @ normal.mean + b, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, A @ normal.covariance @ A.T, rtol=1e-9)
    assert found.rank == min(rows, 3)
    X = normal.sample(100_000, random_state=0) @ A.T + b
    np.testing.assert_allclose(X.mean(axis=0), found.mean, atol=0.1)


def test_affine_map_by_a_vector_is_one_number():
    total = CHAIN.affine([1.0, 1.0, 1.0])
    assert total.covariance.tolist() == [[CHAIN.covariance.sum()]]


def test_whitening_is_an_affine_map():
    normal = any_normal(3, seed=8)
    W = np.linalg.inv(np.linalg.cholesky(normal.covariance))
    white = normal.affine(W, -W @ normal.mean)
    np.testing.assert_allclose(white.covariance, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(white.mean, 0.0, atol=1e-12)


class TestNatural:
    """exp(−½ xᵀQx + bᵀx) / C."""

    def test_constant_is_the_integral(self):
        """C = Z·exp(+½ bᵀQ⁻¹b); its reciprocal would be off by exp(bᵀQ⁻¹b)."""
        natural = NaturalNormal([[2.0, 0.5], [0.5, 1.0]], [1.0, -1.0])
        grid = np.linspace(-12, 12, 1201)
        x = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
        logs = -0.5 * np.einsum("ij,ij->i", x @ natural.precision, x) + x @ natural.shift
        integral = np.exp(logs).sum() * (grid[1] - grid[0]) ** 2
        assert natural.log_constant == pytest.approx(np.log(integral), rel=1e-10)
        b, Q = natural.shift, natural.precision
        z = np.sqrt(np.linalg.det(2 * np.pi * np.linalg.inv(Q)))
        expected = z * np.exp(0.5 * b @ np.linalg.solve(Q, b))
        assert np.exp(natural.log_constant) == pytest.approx(expected)

    def test_both_ways(self):
        normal = any_normal(4, seed=9)
        natural = normal.natural()
        np.testing.assert_allclose(natural.precision @ normal.covariance, np.eye(4), atol=1e-10)
        np.testing.assert_allclose(natural.shift, natural.precision @ normal.mean, rtol=1e-12)
        for back in (
            MultivariateNormal.from_natural(natural),
            MultivariateNormal.from_natural(natural.precision, natural.shift),
        ):
            np.testing.assert_allclose(back.mean, normal.mean, rtol=1e-9)
            np.testing.assert_allclose(back.covariance, normal.covariance, rtol=1e-9)

    def test_density_is_the_same(self):
        normal = any_normal(3, seed=10)
        X = np.random.default_rng(0).normal(size=(10, 3))
        found = normal.natural().log_density(X)
        np.testing.assert_allclose(found, normal.log_density(X), rtol=1e-9)

    def test_large_means_lose_no_digits(self):
        one, two = NaturalNormal([[1.0]], [1e8]), NaturalNormal([[3.0]], [3e8 + 3])
        half_log = -0.5 * np.log(2 * np.pi)
        assert one.log_density([[1e8 + 1]])[0] == pytest.approx(half_log - 0.5, rel=1e-12)
        joint, log_scale = one.product(two)
        assert joint.mean[0] == pytest.approx(1e8 + 0.75, rel=1e-15)
        expected = half_log - 0.5 * np.log(4 / 3) - 0.5 * 0.75  # N(1e8 | 1e8 + 1, 1 + 1/3)
        assert log_scale == pytest.approx(expected, rel=1e-7)

    def test_bad_parameters(self):
        with pytest.raises(DataError, match="rank 1, but 2 is needed"):
            NaturalNormal(np.ones((2, 2)), [0.0, 0.0])
        with pytest.raises(DataError, match="positive semidefinite"):
            NaturalNormal([[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0])
        with pytest.raises(DataError, match="one value per column"):
            NaturalNormal(np.eye(2), [0.0])
        with pytest.raises(DataError, match="pass the shift"):
            MultivariateNormal.from_natural(np.eye(2))


class TestProduct:
    """p(x)·q(x) = e^s·r(x)."""

    def test_product_of_densities_at_every_point(self):
        p, q = any_normal(3, seed=11), any_normal(3, seed=12)
        density, log_scale = p.product(q)
        X = np.random.default_rng(1).normal(size=(20, 3))
        expected = p.log_density(X) + q.log_density(X)
        np.testing.assert_allclose(density.log_density(X) + log_scale, expected, rtol=1e-8)

    def test_natural_parameters_add(self):
        p, q = any_normal(3, seed=13), any_normal(3, seed=14)
        density, log_scale = p.natural().product(q.natural())
        moment, expected = p.product(q)
        np.testing.assert_allclose(density.mean, moment.mean, rtol=1e-8)
        np.testing.assert_allclose(density.covariance, moment.covariance, rtol=1e-8)
        assert log_scale == pytest.approx(expected)

    def test_a_point_times_a_density_keeps_the_point(self):
        point, q = MultivariateNormal([1.0, 2.0], np.zeros((2, 2))), any_normal(2, seed=15)
        density, log_scale = point.product(q)
        assert density == point
        assert log_scale == pytest.approx(q.log_density([1.0, 2.0]))

    def test_two_singular_factors_are_refused(self):
        line = MultivariateNormal([0.0, 0.0], np.ones((2, 2)))
        with pytest.raises(DataError, match=r"singular \(ranks 1 and 1 of 2\)"):
            line.product(line)
        with pytest.raises(DataError, match="1 column found, but the distribution has 2"):
            line.product(MultivariateNormal([0.0], [[1.0]]))


class TestIndependence:
    """σ_ij = 0 is marginal independence, q_ij = 0 is independence given the rest."""

    def test_chain_of_rain_traffic_and_delay(self):
        np.testing.assert_allclose(
            CHAIN.precision, [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]], atol=1e-14
        )
        assert CHAIN.covariance[0, 2] == 1.0
        assert not CHAIN.is_independent("rain", "delay")
        assert CHAIN.is_independent("rain", "delay", given="traffic")
        assert CHAIN.is_independent(0, [2], given=[1])
        assert not CHAIN.is_independent(0, [1, 2])
        assert not CHAIN.is_independent("rain", "traffic", given="delay")

    def test_a_sum_makes_its_independent_parts_dependent(self):
        """x₂ = x₁ + x₃: Cov(x₁, x₃ | x₂) = −½ and the partial correlation is −1."""
        both = MultivariateNormal([0.0, 0.0], np.eye(2))
        joint = both.affine([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        given = joint.conditional(1, 0.7)
        np.testing.assert_allclose(given.covariance, [[0.5, -0.5], [-0.5, 0.5]], atol=1e-14)
        np.testing.assert_allclose(given.mean, [0.35, 0.35], rtol=1e-12)
        assert joint.conditional_covariances()[0, 2] == pytest.approx(-0.5)
        assert joint.partial_correlations()[0, 2] == pytest.approx(-1.0)
        assert joint.is_independent(0, 2)
        assert not joint.is_independent(0, 2, given=1)

    def test_a_determined_column_is_independent_of_all_others(self):
        joint = MultivariateNormal([0.0, 0.0, 0.0], np.ones((3, 3)))
        assert joint.is_independent(0, 2, given=1)
        np.testing.assert_array_equal(joint.partial_correlations(), np.eye(3))

    @pytest.mark.parametrize("seed", [0, 1])
    def test_formulas_of_the_precision_are_the_conditionals_of_pairs(self, seed):
        normal = any_normal(4, seed)
        Q = normal.precision
        covariances, correlations = normal.conditional_covariances(), normal.partial_correlations()
        for i, j in [(0, 1), (1, 3), (2, 3)]:
            rest = [k for k in range(4) if k not in (i, j)]
            pair = normal.conditional(rest, [0.0, 0.0]).covariance
            assert covariances[i, j] == pytest.approx(pair[0, 1])
            assert covariances[i, j] == pytest.approx(-Q[i, j] / (Q[i, i] * Q[j, j] - Q[i, j] ** 2))
            assert covariances[i, j] != pytest.approx(Q[i, j])
            expected = pair[0, 1] / np.sqrt(pair[0, 0] * pair[1, 1])
            assert correlations[i, j] == pytest.approx(expected)
        alone = normal.conditional([0, 1, 2], [0.0, 0.0, 0.0]).covariance[0, 0]
        assert covariances[3, 3] == pytest.approx(alone)

    def test_the_tolerance_is_a_correlation(self):
        normal = MultivariateNormal([0.0, 0.0], [[1.0, 0.01], [0.01, 1.0]])
        assert not normal.is_independent(0, 1)
        assert normal.is_independent(0, 1, tolerance=0.02)
        with pytest.raises(DataError, match="tolerance=-1"):
            normal.is_independent(0, 1, tolerance=-1)


class TestColumns:
    """Columns by number or by name."""

    def test_names_of_a_fitted_table(self):
        X = CHAIN.sample(500, random_state=0)
        fitted = MultivariateNormal.fit(pd.DataFrame(X, columns=list("abc"))).distribution
        given = fitted.conditional({"b": 1.0})
        assert given.names == ("a", "c")
        assert given == fitted.conditional(1, 1.0)
        assert fitted.is_independent("a", "c", given="b", tolerance=0.2)
        assert fitted.natural().conditional({"b": 1.0}).names == ("a", "c")

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ([], "no column is given"),
            ([0, 1, 2], "all 3 columns are given"),
            ([0, 0], "column 'rain' is listed twice"),
            (3, "column 3 is out of range; use 0 to 2"),
            ([-1], "column -1 is out of range"),
            ("snow", "there is no column 'snow'"),
            ([True], "column True must be a whole number"),
            ([0.5], r"column 0\.5 must be a whole number"),
            (None, "None is not a column"),
        ],
    )
    def test_bad_sets_of_columns(self, columns, message):
        for normal in (CHAIN, CHAIN.natural()):
            with pytest.raises(DataError, match=message):
                normal.conditional(columns, [0.0] * len(np.atleast_1d(columns)))

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ([1.0], "2 columns are given, but the values have shape"),
            ([1.0, np.nan], "value 1 is nan"),
            (None, "no values are given"),
        ],
    )
    def test_bad_values(self, values, message):
        with pytest.raises(DataError, match=message):
            CHAIN.conditional([0, 1], values)

    def test_other_bad_arguments(self):
        with pytest.raises(DataError, match="no column is chosen"):
            CHAIN.marginal([])
        with pytest.raises(DataError, match="the columns have no names"):
            any_normal(2, seed=0).marginal("a")
        with pytest.raises(DataError, match=r"must not overlap.*'rain' is listed twice"):
            CHAIN.is_independent("rain", "rain")
        with pytest.raises(DataError, match="values are given twice"):
            CHAIN.conditional({"rain": 1.0}, 2.0)
        with pytest.raises(DataError, match="2 columns found, but the distribution has 3"):
            CHAIN.affine([[1.0, 2.0]])
        with pytest.raises(DataError, match="A must be numbers, but 'x'"):
            CHAIN.affine("x")
        with pytest.raises(DataError, match="the values must be numbers"):
            CHAIN.conditional("rain", "wet")
        with pytest.raises(DataError, match="product: 3 must be a MultivariateNormal"):
            CHAIN.product(3)
        with pytest.raises(DataError, match="b has shape"):
            CHAIN.affine(np.eye(3), [1.0])
        with pytest.raises(DataError, match="outside of its support"):
            MultivariateNormal(np.zeros(3), np.ones((3, 3))).conditional([0, 1], [1.0, 2.0])
