"""A metric from pairs: optimality conditions, invariances, and what it is good for."""

import numpy as np
import pytest

import thetahat as th
from thetahat.models.metric import pairwise_metric_learner
from thetahat.models.metric.pairs import count_of_pairs, pairs_of_classes


def noisy_classes(n=120, seed=0):
    """Two classes in the first column, and two columns of large noise."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3)) * [1.0, 10.0, 10.0]
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += y
    return X, y


def problem_of(X, similar, dissimilar, alpha):
    """F as a function of M, in the units of X, with the threshold minimised by hand."""
    rows = np.concatenate([similar, dissimilar])
    signs = np.repeat([1.0, -1.0], [len(similar), len(dissimilar)])
    gaps = X[rows[:, 0]] - X[rows[:, 1]]

    def value(M, b):
        margin = signs * (b - np.einsum("ij,jk,ik->i", gaps, M, gaps))
        return np.logaddexp(0.0, -margin).mean() + alpha * np.diag(M) @ X.var(axis=0)

    return value


def test_no_nearby_metric_is_better():
    X, y = noisy_classes(40)
    random = np.random.default_rng(1)
    pairs = random.integers(0, 40, (300, 2))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    similar, dissimilar = pairs[same], pairs[~same]
    model = th.PairwiseMetricLearner(alpha=0.05, tol=1e-9)
    model.fit(X, similar=similar, dissimilar=dissimilar)
    assert model.solution_.outcome.success
    value = problem_of(X, similar, dissimilar, 0.05)
    M, b = model.get_mahalanobis_matrix(), model.intercept_
    least = value(M, b)
    assert model.solution_.value == pytest.approx(least, rel=1e-9)
    scale = X.std(axis=0)
    for _ in range(200):
        root = random.standard_normal((3, 3))
        direction = root @ root.T / np.outer(scale, scale)
        for step in (1e-2, 1e-4):
            assert value((1 - step) * M + step * direction, b) >= least - 1e-12
            assert value(M, b + step * random.standard_normal()) >= least - 1e-12


def test_units_of_columns_have_no_influence():
    X, y = noisy_classes()
    model = th.PairwiseMetricLearner(alpha=0.02, tol=1e-9)
    first = model.fit_transform(X, y)
    second = model.fit_transform(X * [1e-3, 1.0, 1e3], y)
    np.testing.assert_allclose(np.abs(second), np.abs(first), rtol=1e-5, atol=1e-5)


def test_repeated_pairs_count_as_often():
    X, _ = noisy_classes(20)
    similar, dissimilar = [[0, 1], [2, 3], [2, 3]], [[0, 4], [1, 5], [1, 5]]
    once = th.PairwiseMetricLearner(tol=1e-9).fit(X, similar=similar, dissimilar=dissimilar)
    again = th.PairwiseMetricLearner(tol=1e-9)
    again.fit(X, similar=similar * 2, dissimilar=dissimilar * 2)
    np.testing.assert_allclose(again.components_, once.components_, rtol=1e-4, atol=1e-7)


def test_neighbours_under_the_metric_share_their_class():
    X, y = noisy_classes(300)
    metric = th.PairwiseMetricLearner(random_state=0).fit(X[:200], y[:200])
    plain = th.KNeighborsClassifier().fit(X[:200], y[:200])
    learned = th.KNeighborsClassifier(metric=metric.metric_).fit(X[:200], y[:200])
    assert learned.score(X[200:], y[200:]) > max(0.95, plain.score(X[200:], y[200:]) + 0.2)


def test_a_stronger_penalty_gives_fewer_components():
    random = np.random.default_rng(3)
    y = random.integers(0, 4, 200)
    X = random.standard_normal((200, 6)) + np.eye(4, 6)[y] * 2
    ranks = [
        len(th.PairwiseMetricLearner(alpha=alpha, random_state=0).fit(X, y).components_)
        for alpha in (1e-3, 0.05, 0.3)
    ]
    assert ranks[0] > ranks[1] >= ranks[2] >= 1
    with pytest.warns(UserWarning, match="so large that all distances are 0"):
        th.PairwiseMetricLearner(alpha=10.0).fit(X, y)


def test_drawn_pairs_are_of_both_kinds_and_of_different_rows():
    codes = np.repeat([0, 1, 2], [1, 5, 60])
    pairs = pairs_of_classes(codes, 1000, np.random.default_rng(0), "")
    similar = pairs.signs > 0
    assert similar.sum() == 500
    np.testing.assert_array_equal(codes[pairs.first] == codes[pairs.second], similar)
    assert (pairs.first != pairs.second).all()
    assert set(codes[pairs.second[~similar]]) == {0, 1, 2}
    assert set(pairs.second[similar]) == set(range(1, 66))
    everything = pairs_of_classes(codes, 10_000, np.random.default_rng(0), "")
    assert len(everything.signs) == 66 * 65 // 2
    assert everything.weights[everything.signs > 0].sum() == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (dict(similar=[[0, 1]]), "dissimilar must hold"),
        (dict(similar=[[0, 1]], dissimilar=[[0, 9]]), "names row 9"),
        (dict(similar=[[0, -1]], dissimilar=[[0, 2]]), "names row -1"),
        (dict(similar=[[0.5, 1]], dissimilar=[[0, 2]]), "similar must hold"),
        (dict(similar=[[0, 1, 2]], dissimilar=[[0, 2]]), "similar must hold"),
        (dict(y=[0, 0, 1], similar=[[0, 1]], dissimilar=[[0, 2]]), "both given"),
        (dict(y=[0, 1, 2]), "at least two rows"),
        (dict(y=[0, 0, 0]), "at least two classes"),
    ],
)
def test_wrong_pairs_are_refused(options, words):
    with pytest.raises(th.errors.DataError, match=words):
        th.PairwiseMetricLearner().fit([[0.0], [1.0], [2.0]], **options)


def test_mahalanobis_takes_one_definition():
    with pytest.raises(th.errors.ParameterError, match="Give one of them"):
        th.distances.Mahalanobis([[1.0]], components=[[1.0]])
    with pytest.raises(th.errors.DataError, match="made for 2 columns"):
        th.distances.Mahalanobis(components=[[1.0, 1.0]]).pairwise([[1.0]])


@pytest.mark.parametrize("n_pairs", [10**9, 3001])
def test_memory_is_checked_before_pairs_are_drawn(n_pairs, monkeypatch):
    X, y = noisy_classes(100)
    monkeypatch.setattr(pairwise_metric_learner, "pairs_of_classes", None)
    with th.config(memory=100_000), pytest.raises(th.errors.MemoryBudgetError, match="n_pairs"):
        th.PairwiseMetricLearner(n_pairs=n_pairs).fit(X, y)


@pytest.mark.parametrize("n_pairs", [10**9, 4950, 4949, 31, 2])
def test_number_of_pairs_is_known_before(n_pairs):
    codes = np.arange(100) % 2
    pairs = pairs_of_classes(codes, n_pairs, np.random.default_rng(0), "Model")
    assert len(pairs.signs) == count_of_pairs(100, n_pairs)
