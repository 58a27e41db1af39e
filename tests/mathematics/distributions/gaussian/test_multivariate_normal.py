"""MultivariateNormal: density, samples, entropy, divergence and fits."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.stats import multivariate_normal, norm

import thetahat as th
from thetahat.errors import DataError, IllConditionedWarning, ParameterError
from thetahat.mathematics.distributions import MultivariateNormal, NormalInverseWishart


def any_normal(d, seed, rank=None):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(d, d if rank is None else rank))
    return MultivariateNormal(rng.normal(size=d), half @ half.T)


@pytest.mark.parametrize(
    ("covariance", "peak"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], 0.159155),
        ([[1.0, 0.5], [0.5, 1.0]], 0.183776),
        ([[1.0, 0.8], [0.8, 1.0]], 0.265258),
        ([[1.0, -0.8], [-0.8, 1.0]], 0.265258),
        ([[3.0, 0.8], [0.8, 1.0]], 0.103601),
        ([[3.0, 0.0], [0.0, 1.0]], 0.091888),
    ],
)
def test_density_at_the_mean_of_the_example_matrices(covariance, peak):
    """The covariance sets the height of the peak; the mean does not."""
    for mean in ([0.0, 0.0], [7.0, -3.0]):
        normal = MultivariateNormal(mean, covariance)
        assert normal.density(mean) == pytest.approx(peak, abs=5e-7)


@pytest.mark.parametrize("d", [1, 2, 7])
def test_density_is_that_of_scipy(d):
    normal = any_normal(d, seed=d)
    X = np.random.default_rng(1).normal(size=(50, d))
    oracle = multivariate_normal(normal.mean, normal.covariance)
    np.testing.assert_allclose(normal.log_density(X), oracle.logpdf(X), rtol=1e-10)
    np.testing.assert_allclose(normal.density(X), oracle.pdf(X), rtol=1e-9)
    assert normal.entropy == pytest.approx(oracle.entropy())
    assert normal.log_density(X[0]) == normal.log_density(X[:1])[0]
    sparse = normal.log_density(scipy.sparse.csr_array(X))
    np.testing.assert_array_equal(sparse, normal.log_density(X))


def test_density_of_independent_components_is_a_product():
    normal = MultivariateNormal([1.0, -2.0], np.diag([4.0, 9.0]))
    x = np.array([0.3, 1.7])
    product = normal.marginal(0).density([x[0]]) * normal.marginal(1).density([x[1]])
    assert normal.density(x) == pytest.approx(product)


def test_many_rows_in_blocks_give_the_same_bits_on_any_number_of_threads():
    normal = any_normal(3, seed=0)
    X = np.random.default_rng(2).normal(size=(40_000, 3))
    with th.config(threads=1):
        one = normal.log_density(X)
    with th.config(threads=3):
        np.testing.assert_array_equal(normal.log_density(X), one)
    np.testing.assert_allclose(one[-5:], normal.log_density(X[-5:]), rtol=1e-14)


@pytest.mark.parametrize("units", [[1e-8, 1.0, 1e8], [1e-90, 1.0, 1e90]])
def test_units_of_columns_do_not_matter(units):
    normal, units = any_normal(3, seed=3), np.asarray(units)
    scaled = MultivariateNormal(normal.mean * units, normal.covariance * np.outer(units, units))
    X = np.random.default_rng(3).normal(size=(5, 3))
    expected = normal.log_density(X) - np.log(units).sum()
    np.testing.assert_allclose(scaled.log_density(X * units), expected, rtol=1e-9)
    assert scaled.rank == 3


class TestSingular:
    """Densities on the support, by the pseudo-determinant."""

    @pytest.mark.parametrize("rank", [1, 2, 4])
    def test_log_density_is_that_of_scipy_on_the_support_and_zero_elsewhere(self, rank):
        normal = any_normal(5, seed=rank, rank=rank)
        assert normal.rank == rank
        assert normal.is_singular
        X = normal.sample(20, random_state=0)
        oracle = multivariate_normal(normal.mean, normal.covariance, allow_singular=True)
        np.testing.assert_allclose(normal.log_density(X), oracle.logpdf(X), rtol=1e-6)
        assert (normal.log_density(X + np.eye(5)[0]) == -np.inf).all()
        assert (normal.density(X + np.eye(5)[0]) == 0).all()
        assert normal.entropy == pytest.approx(oracle.entropy())

    def test_float32_rows_on_the_support_are_recognised(self):
        normal = any_normal(4, seed=8, rank=2)
        X = normal.sample(50, random_state=1).astype(np.float32)
        assert np.isfinite(normal.log_density(X)).all()

    def test_a_constant_column_has_density_one_at_its_value(self):
        normal = MultivariateNormal([5.0, 0.0], [[0.0, 0.0], [0.0, 1.0]])
        assert normal.density([5.0, 0.0]) == pytest.approx(1 / np.sqrt(2 * np.pi))
        assert normal.density([5.001, 0.0]) == 0.0

    def test_a_point_mass(self):
        point = MultivariateNormal([1.0, 2.0], np.zeros((2, 2)))
        assert point.density([[1.0, 2.0], [1.0, 2.5]]).tolist() == [1.0, 0.0]
        assert point.sample(3, random_state=0).tolist() == [[1.0, 2.0]] * 3

    def test_what_needs_an_inverse_is_refused(self):
        normal = any_normal(3, seed=1, rank=2)
        with pytest.raises(DataError, match=r"natural: the covariance is singular \(rank 2 of 3\)"):
            normal.natural()
        with pytest.raises(DataError, match="precision: the covariance is singular"):
            _ = normal.precision


def test_samples_have_the_moments_and_depend_on_the_seed_alone():
    normal = any_normal(3, seed=5)
    X = normal.sample(200_000, random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), normal.mean, atol=0.05)
    np.testing.assert_allclose(np.cov(X, rowvar=False), normal.covariance, atol=0.1)
    np.testing.assert_array_equal(X[:0], normal.sample(0))
    np.testing.assert_array_equal(normal.sample(5, random_state=7), normal.sample(5, 7))


def test_cdf_of_an_orthant_and_of_one_column():
    """P(x₁ ≤ 0, x₂ ≤ 0) = ¼ + asin(ρ)/(2π), which is ⅓ for ρ = ½."""
    normal = MultivariateNormal([1.0, -1.0], [[1.0, 0.5], [0.5, 1.0]])
    assert normal.cdf([1.0, -1.0]) == pytest.approx(1 / 3, abs=1e-7)
    found = normal.cdf([[1.0, np.inf], [np.inf, np.inf], [-np.inf, 0.0]])
    np.testing.assert_allclose(found, [0.5, 1.0, 0.0], atol=1e-9)
    many = any_normal(4, seed=6)
    X = many.sample(3, random_state=0)
    np.testing.assert_array_equal(many.cdf(X), many.cdf(X))
    inside = (many.sample(200_000, random_state=1)[:, None, :] <= X).all(axis=2).mean(axis=0)
    np.testing.assert_allclose(many.cdf(X), inside, atol=5e-3)
    with pytest.raises(DataError, match="NaN"):
        normal.cdf([np.nan, 0.0])


@pytest.mark.filterwarnings("error")
def test_cdf_of_infinite_limits_leaves_columns_out_without_a_warning():
    normal = MultivariateNormal([0.0, 1.0, 2.0], np.eye(3) + 0.5)
    found = normal.cdf([[np.inf, 0.0, np.inf], [np.inf, np.inf, np.inf], [0.0, -np.inf, np.inf]])
    np.testing.assert_allclose(found, [norm(1, np.sqrt(1.5)).cdf(0), 1, 0], atol=1e-6)


def test_divergence_is_the_expected_log_ratio():
    p, q = any_normal(2, seed=1), any_normal(2, seed=2)
    X = p.sample(400_000, random_state=0)
    estimate = (p.log_density(X) - q.log_density(X)).mean()
    assert p.kl(q) == pytest.approx(estimate, rel=0.02)
    assert p.kl(p) == pytest.approx(0.0, abs=1e-12)


def test_divergence_between_one_dimensional_normals():
    p, q = MultivariateNormal([1.0], [[4.0]]), MultivariateNormal([0.0], [[9.0]])
    assert p.kl(q) == pytest.approx(np.log(3 / 2) + (4 + 1) / 18 - 0.5)


def test_divergence_is_infinite_where_the_supports_differ():
    plane = MultivariateNormal([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]])
    shifted = MultivariateNormal([0.0, 1.0], plane.covariance)
    wider = MultivariateNormal([1.0, 1.0], 4 * plane.covariance)
    full = MultivariateNormal([0.0, 0.0], np.eye(2))
    assert plane.kl(full) == full.kl(plane) == plane.kl(shifted) == np.inf
    line = MultivariateNormal([0.0], [[2.0]]), MultivariateNormal([np.sqrt(2)], [[8.0]])
    assert plane.kl(wider) == pytest.approx(line[0].kl(line[1]))


class TestFit:
    """Maximum likelihood from one pass over the rows."""

    X = np.random.default_rng(4).normal(size=(60, 3)) @ np.array(
        [[2.0, 0.3, 0.0], [0.0, 1.0, -0.5], [0.0, 0.0, 0.7]]
    ) + [10.0, 0.0, -4.0]

    def test_estimates_and_log_likelihood(self):
        fit = MultivariateNormal.fit(self.X)
        np.testing.assert_allclose(fit.distribution.mean, self.X.mean(axis=0))
        np.testing.assert_allclose(fit.distribution.covariance, np.cov(self.X.T, bias=True))
        assert fit.log_likelihood == pytest.approx(fit.distribution.log_density(self.X).sum())

    def test_no_other_parameters_are_more_likely(self):
        """The gradient of the log-likelihood with respect to Q is Q⁻¹ − S, which is 0 here."""
        best = MultivariateNormal.fit(self.X).distribution
        for seed in range(10):
            rng = np.random.default_rng(seed)
            step = 0.05 * rng.normal(size=(3, 3))
            near = MultivariateNormal(
                best.mean + 0.05 * rng.normal(size=3), best.covariance + step @ step.T
            )
            assert near.log_density(self.X).sum() < best.log_density(self.X).sum()

    def test_a_row_of_weight_two_counts_as_two_rows(self):
        weight = np.random.default_rng(0).integers(0, 3, 60)
        weighted = MultivariateNormal.fit(self.X, weight)
        repeated = MultivariateNormal.fit(np.repeat(self.X, weight, axis=0))
        assert weighted.n_values == repeated.n_values
        np.testing.assert_allclose(
            weighted.distribution.covariance, repeated.distribution.covariance
        )
        assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood)

    def test_files_sparse_and_single_precision_rows(self, tmp_path):
        expected = MultivariateNormal.fit(self.X).distribution
        pd.DataFrame(self.X, columns=list("abc")).to_parquet(tmp_path / "rows.parquet")
        on_disk = MultivariateNormal.fit(th.scan(tmp_path / "rows.parquet")).distribution
        sparse = MultivariateNormal.fit(scipy.sparse.csr_array(self.X)).distribution
        single = MultivariateNormal.fit(self.X.astype(np.float32)).distribution
        np.testing.assert_allclose(on_disk.covariance, expected.covariance, rtol=1e-12)
        np.testing.assert_allclose(sparse.covariance, expected.covariance, rtol=1e-10)
        np.testing.assert_allclose(single.covariance, expected.covariance, rtol=1e-4)
        assert on_disk.names == ("a", "b", "c")

    def test_standard_errors_are_the_spread_over_repetitions(self):
        truth = MultivariateNormal([0.0, 1.0], [[2.0, 0.6], [0.6, 1.0]])
        fits = [MultivariateNormal.fit(truth.sample(200, seed)) for seed in range(600)]
        means = np.std([fit.distribution.mean for fit in fits], axis=0)
        covariances = np.std([fit.distribution.covariance for fit in fits], axis=0)
        np.testing.assert_allclose(fits[0].mean_standard_errors, means, rtol=0.2)
        np.testing.assert_allclose(fits[0].covariance_standard_errors, covariances, rtol=0.3)

    def test_intervals_cover_the_mean_as_often_as_they_say(self):
        truth = MultivariateNormal([0.0, 1.0], [[2.0, 0.6], [0.6, 1.0]])
        inside = [
            (low <= truth.mean) & (truth.mean <= high)
            for seed in range(1000)
            for low, high in [MultivariateNormal.fit(truth.sample(10, seed)).mean_intervals().T]
        ]
        assert np.abs(np.mean(inside, axis=0) - 0.95).max() < 0.02

    def test_too_few_rows_give_a_singular_fit_and_a_warning_with_the_rank(self):
        with pytest.warns(IllConditionedWarning, match="of 3 rows is singular: its rank is 2"):
            fit = MultivariateNormal.fit(self.X[:3])
        assert np.isfinite(fit.distribution.log_density(self.X[:3])).all()
        assert fit.distribution.log_density(self.X[10]) == -np.inf

    def test_bad_rows(self):
        with pytest.raises(DataError, match="NaN"):
            MultivariateNormal.fit([[1.0, np.nan], [0.0, 1.0]])
        with pytest.raises(DataError, match="weight"):
            MultivariateNormal.fit(self.X, np.zeros(60))
        with pytest.raises(DataError, match="squares overflow"):
            MultivariateNormal.fit(self.X * 1e200)
        with pytest.warns(IllConditionedWarning, match="of 1 row is singular"):
            one = MultivariateNormal.fit(self.X[:1])
        with pytest.raises(DataError, match="more than 1 row"):
            one.mean_intervals()
        with pytest.raises(ParameterError, match=r"level=1\.5"):
            MultivariateNormal.fit(self.X).mean_intervals(1.5)


class TestMapFit:
    """The mode of the posterior under a normal-inverse-Wishart prior."""

    prior = NormalInverseWishart([0.0, 0.0], [[2.0, 0.5], [0.5, 1.0]], mean_weight=3.0, freedom=6.0)
    X = np.random.default_rng(3).normal(size=(20, 2)) + 1.0

    def log_posterior(self, mean, covariance):
        precision = np.linalg.inv(covariance)
        prior, d = self.prior, 2
        logs = multivariate_normal(mean, covariance).logpdf(self.X).sum()
        logs += multivariate_normal(prior.mean, covariance / prior.mean_weight).logpdf(mean)
        logs -= (prior.freedom + d + 1) / 2 * np.linalg.slogdet(covariance)[1]
        return logs - 0.5 * np.trace(prior.scatter @ precision)

    def test_no_other_parameters_are_more_probable(self):
        best = MultivariateNormal.map_fit(self.X, self.prior).distribution
        here = self.log_posterior(best.mean, best.covariance)
        for seed in range(20):
            rng = np.random.default_rng(seed)
            step = 0.1 * rng.normal(size=(2, 2))
            covariance = best.covariance + (step + step.T) / 4
            assert self.log_posterior(best.mean + 0.1 * rng.normal(size=2), covariance) < here

    def test_updates_can_be_made_in_parts(self):
        whole = self.prior.update(self.X)
        parts = self.prior.update(self.X[:5]).update(self.X[5:])
        np.testing.assert_allclose(parts.mean, whole.mean)
        np.testing.assert_allclose(parts.scatter, whole.scatter)
        assert (parts.mean_weight, parts.freedom) == (whole.mean_weight, whole.freedom)

    def test_bad_priors(self):
        with pytest.raises(ParameterError, match="mean_weight=0"):
            NormalInverseWishart([0.0], [[1.0]], mean_weight=0)
        with pytest.raises(ParameterError, match="freedom=1"):
            NormalInverseWishart([0.0, 0.0], np.eye(2), freedom=1)
        with pytest.raises(ParameterError, match="singular"):
            NormalInverseWishart([0.0, 0.0], np.ones((2, 2)))
        with pytest.raises(ParameterError, match="NormalInverseWishart"):
            MultivariateNormal.map_fit(self.X, prior=2.0)
        with pytest.raises(DataError, match="1 column found"):
            self.prior.update([[1.0], [2.0]])


class TestValue:
    """A frozen value with checked parameters."""

    def test_is_equal_hashable_frozen_and_survives_pickling(self):
        normal = MultivariateNormal([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]], names=["a", "b"])
        again = pickle.loads(pickle.dumps(normal))
        assert again == normal
        assert hash(again) == hash(normal)
        assert normal != MultivariateNormal([0.0, 1.0], np.eye(2))
        with pytest.raises(ValueError, match="read-only"):
            normal.mean[0] = 3.0
        with pytest.raises(AttributeError):
            normal.mean = [1.0, 2.0]

    def test_does_not_share_the_arrays_it_was_given(self):
        mean, covariance = np.zeros(2), np.eye(2)
        normal = MultivariateNormal(mean, covariance)
        mean[0] = covariance[0, 0] = 9.0
        assert (normal.mean[0], normal.covariance[0, 0]) == (0.0, 1.0)

    @pytest.mark.parametrize(
        ("mean", "covariance", "message"),
        [
            ([0, 0], [[1.0, 0.5], [0.2, 1.0]], r"symmetric, but entry \(0, 1\) is 0.5"),
            ([0, 0], [[1.0, 2.0], [2.0, 1.0]], "positive semidefinite, but .* eigenvalue -1"),
            ([0, 0], [[-1.0, 0.0], [0.0, 1.0]], r"entry \(0, 0\) of the covariance is -1"),
            ([0, 0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "as many rows as columns"),
            ([0, 0], [[1.0, np.nan], [np.nan, 1.0]], "finite"),
            ([0, 0, 0], np.eye(2), r"one entry per row .* shape \(3,\)"),
            ([0, np.inf], np.eye(2), "not finite"),
        ],
    )
    def test_bad_parameters(self, mean, covariance, message):
        with pytest.raises(DataError, match=message):
            MultivariateNormal(mean, covariance)

    def test_other_bad_arguments(self):
        normal = MultivariateNormal([0.0, 0.0], np.eye(2))
        with pytest.raises(DataError, match="2 different names"):
            MultivariateNormal([0.0, 0.0], np.eye(2), names=["a", "a"])
        with pytest.raises(DataError, match="3 columns found, but the distribution has 2"):
            normal.log_density([[1.0, 2.0, 3.0]])
        with pytest.raises(DataError, match="the mean must be numbers"):
            MultivariateNormal(["a"], [[1.0]])
        with pytest.raises(DataError, match="kl: 3 must be a MultivariateNormal"):
            normal.kl(3)
        with pytest.raises(ParameterError, match="n=-1"):
            normal.sample(-1)
        with pytest.raises(DataError, match="distribution has 2"):
            normal.kl(MultivariateNormal([0.0], [[1.0]]))


def test_cdf_of_columns_without_variance():
    """A certain column is at most its mean with probability 1."""
    limits = [[0.0, 5.0], [1.0, 6.0], [1.0, 4.0], [np.inf, 5.0]]
    found = MultivariateNormal([0.0, 5.0], np.diag([1.0, 0.0])).cdf(limits)
    np.testing.assert_allclose(found, [0.5, norm.cdf(1.0), 0.0, 1.0])
    point = MultivariateNormal([1.0], [[0.0]])
    np.testing.assert_array_equal(point.cdf([[1.0], [2.0], [0.0]]), [1.0, 1.0, 0.0])
    assert point.cdf([1.0]) == 1.0


@pytest.mark.parametrize("names", [5, ["a"], ["a", "a"], ["a", ["b"]]], ids=str)
def test_names_are_one_per_column(names):
    with pytest.raises(DataError, match="2 different names, one per column"):
        MultivariateNormal(np.zeros(2), np.eye(2), names)
    with pytest.raises(DataError, match="2 different names, one per column"):
        th.distributions.NaturalNormal(np.eye(2), np.zeros(2), names)


def test_messages_name_the_matrix_that_is_given():
    with pytest.raises(DataError, match=r"NaturalNormal: entry \(0, 0\) of the precision is -1"):
        th.distributions.NaturalNormal(-np.eye(2), np.zeros(2))
    with pytest.raises(DataError, match=r"entry \(0, 0\) of the scatter is -1"):
        NormalInverseWishart(np.zeros(2), -np.eye(2))
    with pytest.raises(DataError, match="tolerance='x' must be a number"):
        MultivariateNormal(np.zeros(2), np.eye(2)).is_independent(0, 1, tolerance="x")
