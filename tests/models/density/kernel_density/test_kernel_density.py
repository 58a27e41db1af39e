"""Kernel densities: sums of all pairs, integrals, weights, samples, bandwidths, refusals."""

import pickle
from math import inf

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import kstest, norm
from sklearn.neighbors import KernelDensity as TheirKernelDensity

import thetahat as th
from tests.models.density.density_cases import blobs, integral
from thetahat.errors import CapabilityError, DataError, ParameterError

KERNELS = [
    "uniform", "triangular", "epanechnikov", "quartic", "triweight", "tricube", "cosine",
    "gaussian", "logistic", "sigmoid", "exponential",
]  # fmt: skip
THEIRS = ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]


def draw(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_gaussian_is_the_mean_of_normal_densities():
    X, Q = draw(400, 3), 2 * draw(30, 3, 1)
    logs = norm(X[None], 0.6).logpdf(Q[:, None]).sum(axis=2)
    found = th.KernelDensity(bandwidth=0.6).fit(X).log_density(Q)
    np.testing.assert_allclose(found, logsumexp(logs, axis=1) - np.log(400), rtol=1e-13)


@pytest.mark.parametrize("kernel", THEIRS)
def test_same_densities_as_scikit_learn(kernel):
    X = draw(200, 3)  # their cosine is not normalised for an even number of columns
    ours = th.KernelDensity(kernel=kernel, bandwidth=1.5).fit(X)
    theirs = TheirKernelDensity(kernel=kernel, bandwidth=1.5).fit(X)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-6)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_integrates_to_one(kernel, metric):
    model = th.KernelDensity(kernel=kernel, metric=metric, bandwidth=0.5).fit(draw(20, 2))
    reach = 3 + 0.5 * min(th.smoothing.named(kernel).reach(1e-6), 20)
    points = 150 if reach < 5 else 300
    assert integral(model, [-reach] * 2, [reach] * 2, points) == pytest.approx(1, abs=1e-2)


@pytest.mark.parametrize("metric", ["minkowski", "seuclidean", "mahalanobis"])
def test_integrates_to_one_with_mapped_columns(metric):
    X = draw(30, 2) @ [[1.0, 0.5], [0.0, 0.3]]
    given = {"p": 3, "w": [4.0, 0.5]} if metric == "minkowski" else None
    model = th.KernelDensity(metric=metric, metric_params=given, bandwidth=0.4).fit(X)
    assert integral(model, [-8] * 2, [8] * 2) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_samples_follow_the_density(kernel):
    model = th.KernelDensity(kernel=kernel, bandwidth=1.0).fit(np.zeros((1, 3)))
    drawn = model.sample(4000, random_state=0)
    shape = th.smoothing.named(kernel)
    far = min(shape.reach(1e-9), 60)
    radius = np.linspace(0, far, 20_001)
    mass = np.concatenate([[0], np.cumsum(radius[1:] ** 2 * shape.value(radius[1:]))])
    lengths = np.linalg.norm(drawn, axis=1)
    assert kstest(lengths, lambda r: np.interp(r, radius, mass / mass[-1])).pvalue > 1e-3
    assert np.abs(np.mean(drawn / lengths[:, None], axis=0)).max() < 0.05


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "minkowski", "mahalanobis"])
def test_samples_follow_the_density_of_other_norms(metric):
    given = {"p": 3} if metric == "minkowski" else None
    if metric == "mahalanobis":
        given = {"V": [[4.0, 1.0], [1.0, 1.0]]}
    model = th.KernelDensity(kernel="uniform", metric=metric, metric_params=given)
    drawn = model.fit(np.zeros((1, 2))).sample(20_000, random_state=0)
    logs = model.log_density(drawn)
    assert np.isfinite(logs).mean() > 0.9999  # inside the ball, up to rounding
    # Uniform within the ball: as many points in a square as its share of the area.
    square = (np.abs(drawn) < 0.3).all(axis=1).mean()
    assert square == pytest.approx(0.36 * np.exp(logs[0]), abs=0.01)


def test_weights_are_repetitions():
    X, weight = draw(60, 2), np.random.default_rng(1).integers(0, 4, 60)
    for bandwidth in (0.5, "scott", "silverman", "cross_validation"):
        weighted = th.KernelDensity(bandwidth=bandwidth).fit(X, sample_weight=weight)
        repeated = th.KernelDensity(bandwidth=bandwidth).fit(np.repeat(X, weight, axis=0))
        assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-6)
        np.testing.assert_allclose(weighted.log_density(X), repeated.log_density(X), rtol=1e-5)
        drawn = [each.sample(20, random_state=3) for each in (weighted, repeated)]
        np.testing.assert_allclose(*drawn, rtol=1e-6)


def test_tolerance_is_kept():
    X = blobs(5000)
    exact = np.exp(th.KernelDensity(bandwidth=0.2).fit(X).log_density(X[:500]))
    for atol, rtol in ((0, 1e-4), (1e-3, 0), (0, 0.2)):
        model = th.KernelDensity(bandwidth=0.2, atol=atol, rtol=rtol).fit(X)
        error = np.abs(np.exp(model.log_density(X[:500])) - exact)
        assert (error <= atol + rtol * exact + 1e-15).all()


def test_far_rows_have_finite_logarithms():
    model = th.KernelDensity(bandwidth=0.1).fit(draw(100, 2))
    logs = model.log_density([[50.0, 0.0], [500.0, 0.0]])
    assert np.isfinite(logs).all()
    assert logs[1] < logs[0] < -1e4
    assert model.novelty([[500.0, 0.0]])[0] == -logs[1]


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "logistic", "sigmoid"])
def test_logarithms_are_accurate_at_any_distance(kernel):
    """Exponents relative to those of the nearest row are rounded far from all rows."""
    rows = draw(60, 3)
    model = th.KernelDensity(kernel=kernel, bandwidth=0.3).fit(rows)
    for size in (1e7, 1e8, 1e9, 1e16, 1e60, 1e100, 1e150):
        query = np.array([[size, 1.0, -size]])
        nearest = np.linalg.norm(query - rows, axis=1).min() if size < 1e100 else 2**0.5 * size
        wanted = -nearest / 0.3
        if kernel == "gaussian":
            wanted *= 0.5 * nearest / 0.3
        np.testing.assert_allclose(model.log_density(query), wanted, rtol=1e-6)
        np.testing.assert_allclose(model.log_density(np.repeat(query, 20, 0)), wanted, rtol=1e-6)
    labels = np.arange(60) % 2
    classifier = th.BayesClassifier(th.KernelDensity(bandwidth=0.3)).fit(rows, labels)
    assert np.isfinite(classifier.predict_proba([[1e100, 1.0, 1.0]])).all()


def test_rows_out_of_reach_have_density_zero():
    model = th.KernelDensity(kernel="epanechnikov").fit([[0.0], [1.0]])
    assert model.log_density([[5.0]])[0] == -inf
    assert model.score([[5.0]]) == -inf
    assert model.score([[5.0], [0.5]], sample_weight=[0, 1]) == model.log_density([[0.5]])[0]


def test_cross_validation_maximises_the_leave_one_out_likelihood():
    X = blobs(150)
    found = th.KernelDensity(bandwidth="cross_validation").fit(X).bandwidth_

    def likelihood(width):
        squares = ((X[:, None] - X) ** 2).sum(axis=2) / width**2
        np.fill_diagonal(squares, inf)
        return logsumexp(-squares / 2, axis=1).mean() - 2 * np.log(width)

    tried = np.geomspace(0.02, 5, 300)
    best = max(likelihood(width) for width in tried)
    assert likelihood(found) >= best - 1e-4
    assert 0.05 < found < 0.4


def test_cross_validation_of_other_kernels_reaches_all_rows():
    X = draw(80, 1)
    model = th.KernelDensity(bandwidth="cross_validation", kernel="epanechnikov").fit(X)
    assert np.isfinite(model.log_density(X)).all()


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_rules_are_those_of_scikit_learn(rule):
    X = draw(100, 3)
    ours, theirs = (each(bandwidth=rule).fit(X) for each in (th.KernelDensity, TheirKernelDensity))
    assert ours.bandwidth_ == pytest.approx(theirs.bandwidth_, rel=1e-14)


def test_distances_without_a_tree():
    X, Q = np.abs(draw(50, 2)), np.abs(draw(10, 2, 1))
    model = th.KernelDensity(metric="canberra", bandwidth=0.3).fit(X)
    distances = th.distances.named("canberra").pairwise(Q, X)
    wanted = logsumexp(-0.5 * (distances / 0.3) ** 2, axis=1)
    difference = model.log_density(Q) - wanted
    np.testing.assert_allclose(difference, difference[0], rtol=1e-12)
    with pytest.raises(CapabilityError, match="does not integrate"):
        model.sample()


def test_same_bits_for_any_number_of_threads():
    X = blobs(3000)
    model = th.KernelDensity(bandwidth=0.2, rtol=1e-3).fit(X)
    answers = []
    for threads in (1, 2, 4):
        with th.config(threads=threads):
            answers.append(model.log_density(X))
    assert all(np.array_equal(answers[0], each) for each in answers)


def test_single_precision_is_accurate():
    X = draw(200, 2)
    single = th.KernelDensity(bandwidth=0.3).fit(X.astype(np.float32))
    logs = single.log_density(X[:20].astype(np.float32))
    assert logs.dtype == np.float32
    double = th.KernelDensity(bandwidth=0.3).fit(X).log_density(X[:20])
    np.testing.assert_allclose(logs, double, rtol=1e-4)


def test_pickle_and_file(tmp_path):
    model = th.KernelDensity(kernel="tricube", bandwidth=0.7).fit(draw(40, 2))
    th.save(model, tmp_path / "model.theta")
    for copy in (pickle.loads(pickle.dumps(model)), th.load(tmp_path / "model.theta")):
        np.testing.assert_array_equal(copy.log_density(draw(9, 2)), model.log_density(draw(9, 2)))


def test_tree_holds_the_rows():
    X = draw(30, 2)
    tree = th.KernelDensity().fit(X).tree_
    assert isinstance(tree, th.KDTree)
    np.testing.assert_array_equal(tree.query(X, k=1)[1][:, 0], np.arange(30))


@pytest.mark.parametrize("wrong", [
    {"bandwidth": 0}, {"bandwidth": -1.0}, {"bandwidth": np.nan}, {"bandwidth": "best"},
    {"atol": -1}, {"rtol": -1}, {"leaf_size": 0}, {"kernel": "silverman"}, {"kernel": "round"},
    {"kernel": th.smoothing.Nearest(3)}, {"metric": "hamming", "algorithm": "kd_tree"},
    {"metric_params": 3}, {"algorithm": "brute"},
])  # fmt: skip
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises((ParameterError, DataError, TypeError)) as refusal:
        th.KernelDensity(**wrong).fit(draw(10, 2))
    assert len(str(refusal.value).split()) > 5


def test_bad_rows_are_refused():
    with pytest.raises(DataError, match="NaN"):
        th.KernelDensity().fit([[0.0], [np.nan]])
    with pytest.raises(DataError, match="all rows of X are equal"):
        th.KernelDensity(bandwidth="cross_validation").fit(np.ones((5, 2)))
    # One point and equal rows have a kernel density, unlike a histogram.
    assert np.isfinite(th.KernelDensity().fit(np.ones((5, 2))).score(np.ones((1, 2))))


@pytest.mark.parametrize("Tree", [th.KDTree, th.BallTree])
@pytest.mark.parametrize("kernel", THEIRS)
def test_trees_sum_kernels(Tree, kernel):
    X, Q = draw(200, 3), draw(30, 3, 1)
    model = th.KernelDensity(kernel=kernel, bandwidth=0.9).fit(X)
    tree = Tree(X, leaf_size=10)
    logs = tree.kernel_density(Q, 0.9, kernel, rtol=0, return_log=True)
    np.testing.assert_allclose(logs - np.log(200), model.log_density(Q), rtol=1e-12)
    sums = tree.kernel_density(Q, 0.9, kernel, atol=1e-3, breadth_first=False)
    np.testing.assert_allclose(sums, np.exp(logs), atol=1e-3, rtol=1e-8)


@pytest.mark.parametrize("wrong", [
    {"h": 0}, {"h": "wide"}, {"h": 1, "rtol": -1}, {"h": 1, "atol": np.nan},
    {"h": 1, "kernel": "nearest"},
])  # fmt: skip
def test_trees_refuse_wrong_arguments(wrong):
    with pytest.raises((ParameterError, ValueError), match="kernel"):
        th.KDTree(draw(5, 2)).kernel_density(draw(2, 2), **wrong)


def test_bandwidths_whose_squares_underflow_are_refused():
    X = np.array([[0.0], [1.0]])
    with pytest.raises(th.errors.ParameterError, match="bandwidth=1e-170 is too small"):
        th.KernelDensity(bandwidth=1e-170).fit(X)
    with pytest.raises(th.errors.ParameterError, match="h=1e-300 is too small"):
        th.KDTree(X).kernel_density(X, 1e-300)
    logs = th.KernelDensity(bandwidth=1e-150).fit(X).log_density(X)
    exact = -np.log(2) - 0.5 * np.log(2 * np.pi) + 150 * np.log(10)
    np.testing.assert_allclose(logs, exact, rtol=1e-13)
