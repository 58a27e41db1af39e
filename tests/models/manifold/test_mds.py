"""Multidimensional scaling: worked numbers, scikit-learn as oracle, optimality, bad input."""

import warnings

import numpy as np
import pytest
import sklearn.manifold as theirs
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.errors import DataError, ParameterError

TRIANGLE = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])


def distances(points):
    return squareform(pdist(points))


def blobs(n=60, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_distances_3_4_5_have_two_positive_eigenvalues():
    model = th.ClassicalMDS(n_components=3, metric="precomputed").fit(TRIANGLE)
    np.testing.assert_allclose(model.eigenvalues_, [12.964148, 3.702519, 0.0], atol=5e-7)
    np.testing.assert_allclose(distances(model.embedding_), TRIANGLE, atol=1e-12)
    np.testing.assert_allclose(model.embedding_[:, 2], 0.0)


@pytest.mark.parametrize("n", [20, 300])
def test_classical_scaling_of_euclidean_distances_is_pca(n):
    X = blobs(n) * [4.0, 3.0, 2.0, 1.0]
    Z = th.ClassicalMDS(n_components=3).fit_transform(X)
    expected = th.PCA(3).fit_transform(X)
    signs = np.sign((Z * expected).sum(axis=0))
    np.testing.assert_allclose(Z, expected * signs, atol=1e-8)
    np.testing.assert_allclose(
        distances(th.ClassicalMDS(4).fit_transform(X)), distances(X), atol=1e-8
    )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_classical_scaling_is_scikit_learns(metric):
    X = blobs(150)
    X = distances(X) if metric == "precomputed" else X
    ours = th.ClassicalMDS(metric=metric).fit(X)
    other = theirs.ClassicalMDS(metric=metric).fit(X)
    np.testing.assert_allclose(ours.embedding_, other.embedding_, atol=1e-8)
    np.testing.assert_allclose(ours.eigenvalues_, other.eigenvalues_, rtol=1e-10)


def test_negative_eigenvalues_are_reported():
    D = np.array([[0.0, 1.0, 1.0, 5.0], [1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0],
                  [5.0, 1.0, 1.0, 0.0]])  # fmt: skip
    with pytest.warns(UserWarning, match="negative, because the dissimilarities are not"):
        model = th.ClassicalMDS(4, metric="precomputed").fit(D)
    assert (model.eigenvalues_ < 0).any()
    assert np.isfinite(model.embedding_).all()


def test_metric_stress_is_scikit_learns_and_falls():
    X = load_iris().data[::3]
    start = np.random.default_rng(0).uniform(size=(len(X), 2))
    ours = th.MDS().fit(X, init=start)
    other = theirs.MDS(n_init=1, init="random").fit(X, init=start)
    np.testing.assert_allclose(ours.embedding_, other.embedding_, atol=1e-8)
    np.testing.assert_allclose(ours.stress_, other.stress_, rtol=1e-10)
    assert ours.n_iter_ == other.n_iter_
    assert (np.diff(ours.solution_.trace) <= 0).all()
    off = pdist(X) - pdist(ours.embedding_)
    np.testing.assert_allclose(ours.stress_, off @ off, rtol=1e-10)


def test_normalised_stress_does_not_depend_on_units():
    X = blobs(30)
    one, other = (
        th.MDS(init="classical_mds", normalized_stress=True).fit(X * scale) for scale in (1.0, 1e3)
    )
    d = pdist(one.embedding_)
    np.testing.assert_allclose(one.stress_, np.linalg.norm(pdist(X) - d) / np.linalg.norm(d))
    np.testing.assert_allclose(other.stress_, one.stress_, rtol=1e-8)
    np.testing.assert_allclose(other.embedding_, one.embedding_ * 1e3, rtol=1e-6, atol=1e-3)


def test_ordinal_scaling_depends_on_the_order_alone():
    D = distances(blobs(25, 2))
    options = dict(metric="precomputed", metric_mds=False, max_iter=3000, init="classical_mds")
    one = th.MDS(**options).fit(np.sqrt(D))
    assert one.stress_ < 0.02
    # The order of the distances is that of the points of the plane they come from.
    from scipy.stats import spearmanr

    assert spearmanr(pdist(one.embedding_), squareform(D)).statistic > 0.999
    other = th.MDS(**options).fit(D**2)
    assert other.stress_ < 0.02
    assert spearmanr(pdist(other.embedding_), squareform(D)).statistic > 0.999


def test_ordinal_stress_is_no_worse_than_scikit_learns():
    X = load_iris().data[::5]
    start = np.random.default_rng(0).uniform(size=(len(X), 2))
    ours = th.MDS(metric_mds=False).fit(X, init=start)
    other = theirs.MDS(metric_mds=False, n_init=1, init="random").fit(X, init=start)
    assert ours.stress_ <= 1.01 * other.stress_


def test_squared_stress_has_no_gradient_and_is_that_of_the_points():
    X = blobs(40)
    model = th.MDS(loss="squared_stress", init="classical_mds", eps=1e-9, max_iter=2000).fit(X)
    D2 = distances(X) ** 2

    def stress(points):
        return float(((D2 - distances(points) ** 2) ** 2).sum())

    np.testing.assert_allclose(model.stress_, stress(model.embedding_), rtol=1e-9)
    rng = np.random.default_rng(2)
    for _ in range(5):
        step = 1e-4 * rng.standard_normal(model.embedding_.shape)
        assert stress(model.embedding_ + step) > model.stress_
    assert model.stress_ < stress(th.ClassicalMDS().fit_transform(X))
    exact = th.MDS(4, loss="squared_stress", init="classical_mds").fit(X)
    np.testing.assert_allclose(distances(exact.embedding_), distances(X), atol=1e-3)


def test_dissimilarities_that_are_no_distances():
    random = np.random.default_rng(3).uniform(0.5, 2.0, (12, 12))
    D = np.triu(random, 1) + np.triu(random, 1).T
    model = th.MDS(metric="precomputed", n_init=5, random_state=0, max_iter=2000).fit(D)
    assert len(model.restarts_) == 5
    assert model.stress_ == model.restarts_.min()
    assert np.ptp(model.restarts_) > 0
    np.testing.assert_array_equal(model.dissimilarity_matrix_, D)


@pytest.mark.parametrize("loss", ["stress", "squared_stress"])
def test_same_bits_for_any_number_of_threads(loss):
    X = blobs(230)
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            found.append(th.MDS(init="classical_mds", loss=loss).fit_transform(X))
    np.testing.assert_array_equal(*found)


def test_too_few_iterations_are_reported():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or eps"):
        th.MDS(init="random", random_state=0, max_iter=2).fit(blobs())


def test_former_names_of_parameters():
    D = distances(blobs(10))
    expected = th.MDS(metric="precomputed", init="classical_mds").fit_transform(D)
    with pytest.warns(FutureWarning, match="`dissimilarity` parameter is"):
        found = th.MDS(dissimilarity="precomputed", init="classical_mds").fit_transform(D)
    np.testing.assert_array_equal(found, expected)
    with pytest.warns(FutureWarning, match="Use metric_mds"):
        th.MDS(metric=True, init="classical_mds").fit(blobs(10))
    with pytest.raises(ParameterError, match="provided both"):
        th.MDS(metric="manhattan", dissimilarity="euclidean").fit(blobs(10))


@pytest.mark.parametrize("kind", [th.MDS, th.ClassicalMDS])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda D: D[:2], "square"),
        (lambda D: D + np.triu(D), r"symmetric, but entries \(1, 2\) and \(2, 1\) are|symmetric"),
        (lambda D: D - 4 * (D == 3), "Negative values"),
        (lambda D: D + np.eye(3), r"entry \(0, 0\) is 1. .*fill_diagonal"),
        (lambda D: np.where(D == 4, np.nan, D), "NaN"),
    ],
)
def test_bad_dissimilarities_are_refused(kind, change, message):
    with pytest.raises(DataError, match=message):
        kind(metric="precomputed").fit(change(TRIANGLE))


@pytest.mark.parametrize("kind", [th.MDS, th.ClassicalMDS])
def test_more_components_than_rows_are_refused(kind):
    with pytest.raises(ParameterError, match="n_samples = 3"):
        kind(4, metric="precomputed").fit(TRIANGLE)


@pytest.mark.parametrize("kind", [th.MDS, th.ClassicalMDS])
def test_constant_and_repeated_rows(kind):
    options = {"init": "classical_mds"} if kind is th.MDS else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(kind(**options).fit_transform(np.ones((6, 2))), 0.0, atol=1e-12)
    Z = kind(**options).fit_transform(np.repeat(blobs(6, 2), 2, axis=0))
    np.testing.assert_allclose(Z[::2], Z[1::2], atol=1e-6)


def test_bad_starts_and_losses_are_refused():
    with pytest.raises(DataError, match="init matrix should be of shape"):
        th.MDS().fit(blobs(), init=np.zeros((3, 2)))
    with pytest.raises(ParameterError, match="Use metric_mds=True or loss='stress'"):
        th.MDS(metric_mds=False, loss="squared_stress", init="random").fit(blobs())


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (
            np.full((60, 2), np.nan),
            r"120 of its 120 entries are not finite \(entry \(0, 0\)",
        ),
        ("classical_mds", "cannot be read as numbers: 'classical_mds'"),
        (np.ones((60, 2)), "points of init must differ, but all are equal"),
        (blobs(60, 3), r"its shape is \(60, 3\)"),
    ],
)
def test_bad_first_points_are_refused(init, message):
    with pytest.raises(DataError, match=message):
        th.MDS(init="random").fit(blobs(), init=init)


@pytest.mark.parametrize("scale", [2.0**520, 2.0**-570, 2.0**-990])
@pytest.mark.parametrize("given", ["rows", "dissimilarities"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"metric_mds": False},
        {"loss": "squared_stress"},
        {"init": "classical_mds"},
        {"loss": "squared_stress", "init": "classical_mds"},
    ],
)
def test_the_unit_of_the_dissimilarities_does_not_matter(scale, given, options):
    options = {"init": "random", "random_state": 0, "max_iter": 1000} | options
    X = blobs(20)
    if given == "dissimilarities":
        X, options["metric"] = distances(X), "precomputed"
    expected = th.MDS(normalized_stress=True, **options).fit(X)
    model = th.MDS(normalized_stress=True, **options).fit(X * scale)
    unit = 1.0 if "metric_mds" in options else scale
    np.testing.assert_allclose(model.embedding_ / unit, expected.embedding_, atol=1e-9)
    np.testing.assert_allclose(model.stress_, expected.stress_, rtol=1e-9)
    np.testing.assert_allclose(model.dissimilarity_matrix_ / scale, expected.dissimilarity_matrix_)


def test_a_start_of_any_size_gives_the_same_points():
    X, start = blobs(20), blobs(20, 2, seed=1)
    expected = th.MDS().fit_transform(X, init=start)
    for size in (1e200, 1e-200, 1e-310):
        np.testing.assert_allclose(th.MDS().fit_transform(X, init=start * size), expected, 1e-6)


def test_stress_and_eigenvalues_are_in_the_unit_of_the_dissimilarities():
    X, scale = blobs(20), 2.0**250
    options = dict(init="random", random_state=0, max_iter=1000)
    expected, model = th.MDS(**options).fit(X), th.MDS(**options).fit(X * scale)
    np.testing.assert_allclose(model.stress_, expected.stress_ * scale**2)
    np.testing.assert_allclose(model.restarts_, expected.restarts_ * scale**2)
    np.testing.assert_allclose(
        model.solution_.trace[1:], np.multiply(expected.solution_.trace[1:], scale**2)
    )
    squared = th.MDS(loss="squared_stress", **options)
    stress = squared.fit(X).stress_
    np.testing.assert_allclose(squared.fit(X * 2.0**-200).stress_, stress * 2.0**-800)
    values = th.ClassicalMDS().fit(X).eigenvalues_
    np.testing.assert_allclose(th.ClassicalMDS().fit(X * scale).eigenvalues_, values * scale**2)


@pytest.mark.parametrize(("scale", "size"), [(1e155, "large"), (1e-170, "small")])
def test_results_that_cannot_be_represented_are_refused(scale, size):
    D = distances(blobs(20)) * scale
    for model in (
        th.MDS(metric="precomputed", init="random", random_state=0, max_iter=1000),
        th.MDS(metric="precomputed", init="classical_mds", loss="squared_stress"),
    ):
        with pytest.raises(DataError, match=f"stress_ is too {size} .*normalized_stress=True"):
            model.fit(D)
        assert not hasattr(model, "embedding_")
    with pytest.raises(DataError, match=f"eigenvalues_ is too {size} to be represented"):
        th.ClassicalMDS(metric="precomputed").fit(D)


@pytest.mark.parametrize("loss", ["stress", "squared_stress"])
def test_an_interrupted_fit_leaves_attributes_of_one_fit(monkeypatch, loss):
    from thetahat.models.manifold import mds

    X = blobs(20)
    options = dict(init="random", random_state=0, loss=loss, n_init=3, eps=1e-9, max_iter=2000)
    model = th.MDS(**options).fit(X)
    owner, name = {
        "stress": (mds.Smacof, "advance"),
        "squared_stress": (mds.SquaredStress, "value_and_gradient"),
    }[loss]
    whole, calls = getattr(owner, name), []

    def interrupted(self, *arguments):
        calls.append(None)
        if len(calls) > 12:
            raise KeyboardInterrupt
        return whole(self, *arguments)

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X * 3)
    assert 5 < model.n_iter_ == model.solution_.steps <= 12
    assert model.solution_.outcome is th.results.Outcome.INTERRUPTED
    d, z = pdist(X * 3), pdist(model.embedding_)
    off = d - z if loss == "stress" else np.sqrt(2) * (d**2 - z**2)
    np.testing.assert_allclose(model.stress_, off @ off)
    np.testing.assert_array_equal(model.restarts_, [model.stress_])
