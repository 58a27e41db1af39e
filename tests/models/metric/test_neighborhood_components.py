"""Neighbourhood components analysis: objective, gradient, and scikit-learn as oracle."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NeighborhoodComponentsAnalysis as Peer

import thetahat as th
from thetahat.models.metric import neighbor_choice
from thetahat.models.metric.neighbor_choice import NeighborChoice
from thetahat.models.metric.starting_maps import discriminant_map


def plain_objective(A, X, y):
    """The mean probability of a neighbour of the own class, from all pairs."""
    Z = X @ A.T
    squares = ((Z[:, None] - Z[None]) ** 2).sum(axis=-1)
    np.fill_diagonal(squares, np.inf)
    closeness = np.exp(squares.min(axis=1, keepdims=True) - squares)
    p = closeness / closeness.sum(axis=1, keepdims=True)
    return float((p * (y[:, None] == y)).sum() / len(X))


def classes(n=90, d=4, seed=0):
    random = np.random.default_rng(seed)
    y = np.sort(random.integers(0, 3, n))
    X = random.standard_normal((n, d))
    X[:, 0] += y
    return X, y


def test_objective_is_that_of_all_pairs():
    X, y = classes()
    A = np.random.default_rng(1).standard_normal((2, 4))
    value, _ = NeighborChoice(X, np.bincount(y)).value_and_gradient(A)
    assert value == pytest.approx(-plain_objective(A, X, y), rel=1e-12)


@pytest.mark.parametrize("entries", [1 << 18, 20 * 90])
def test_gradient_agrees_with_differences_in_blocks_of_any_size(monkeypatch, entries):
    monkeypatch.setattr(neighbor_choice, "BLOCK_ENTRIES", entries)
    X, y = classes()
    problem = NeighborChoice(X, np.bincount(y))
    A = np.random.default_rng(1).standard_normal((2, 4))
    _, gradient = problem.value_and_gradient(A)
    for i, j in np.ndindex(A.shape):
        step = np.zeros_like(A)
        step[i, j] = 1e-6
        rise = problem.value_and_gradient(A + step)[0] - problem.value_and_gradient(A - step)[0]
        assert gradient[i, j] == pytest.approx(rise / 2e-6, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, None])
def test_objective_is_at_least_that_of_scikit_learn(k):
    X, y = load_iris(return_X_y=True)
    ours = th.NeighborhoodComponentsAnalysis(k).fit(X, y)
    theirs = Peer(k, random_state=0).fit(X, y)
    reached = plain_objective(ours.components_, X, y)
    assert reached >= plain_objective(theirs.components_, X, y) - 1e-4
    assert -ours.solution_.value == pytest.approx(reached, rel=1e-9)


def test_learned_metric_ignores_columns_of_noise():
    X, y = classes(200, 3, seed=2)
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    X[:, 1:] *= 20
    metric = th.NeighborhoodComponentsAnalysis(1).fit(X[:100], y[:100])
    plain = th.KNeighborsClassifier().fit(X[:100], y[:100]).score(X[100:], y[100:])
    model = th.KNeighborsClassifier(metric=metric.metric_).fit(X[:100], y[:100])
    learned = model.score(X[100:], y[100:])
    assert learned > max(0.9, plain + 0.2)
    after = th.KNeighborsClassifier().fit(metric.transform(X[:100]), y[:100])
    assert after.score(metric.transform(X[100:]), y[100:]) == learned


def test_matrix_of_the_metric_gives_the_distances_of_transformed_rows():
    X, y = classes(60)
    metric = th.NeighborhoodComponentsAnalysis(2).fit(X, y)
    M, gap = metric.get_mahalanobis_matrix(), X[0] - X[1]
    moved = metric.transform(X[:2])
    assert gap @ M @ gap == pytest.approx(((moved[0] - moved[1]) ** 2).sum(), rel=1e-10)
    found = metric.metric_.pairwise(X[:1], X[1:2])[0, 0]
    assert found == pytest.approx(np.sqrt(gap @ M @ gap), rel=1e-10)


def test_discriminant_start_separates_means_better_than_any_column():
    X, y = classes(300, 5, seed=3)
    A = discriminant_map(X - X.mean(axis=0), y, 1)

    def ratio(z):
        means = np.array([z[y == c].mean() for c in range(3)])
        return np.var(means[y]) / np.var(z)

    assert ratio(X @ A[0]) >= max(ratio(X[:, j]) for j in range(5))


def test_one_row_is_refused():
    with pytest.raises(th.errors.DataError, match="at least 2 rows"):
        th.NeighborhoodComponentsAnalysis().fit([[1.0, 2.0]], [0])


def test_a_fit_that_is_stopped_warns_if_verbose(capsys):
    X, y = classes()
    with pytest.warns(UserWarning, match="max_iter"):
        th.NeighborhoodComponentsAnalysis(max_iter=1, verbose=1).fit(X, y)
    assert "iteration 1, objective 0." in capsys.readouterr().out


@pytest.mark.parametrize("init", ["auto", "identity", "pca", "random"])
def test_the_unit_of_the_columns_does_not_end_the_search(init):
    X, y = classes()
    X = X - X.mean(axis=0)
    steps = []
    model = th.NeighborhoodComponentsAnalysis(
        init=init, random_state=0, callback=lambda theta, step: steps.append(theta)
    )
    near = {}
    for exponent in (-40, -20, 20, 40):
        unit = 2.0**exponent
        model.fit(unit * X, y)
        assert model.n_iter_ > 5
        near[exponent] = model.components_ * unit
        assert plain_objective(model.components_, unit * X, y) > plain_objective(np.eye(4), X, y)
        np.testing.assert_array_equal(model.solution_.theta, model.components_)
        assert np.abs(steps[-1]).max() == pytest.approx(np.abs(model.components_).max(), rel=0.5)
    for each in near.values():
        np.testing.assert_array_equal(each, near[-40])


def test_a_given_map_and_a_warm_start_stay_in_the_unit_of_the_columns():
    X, y = classes()
    start = 1e5 * np.eye(2, 4)
    model = th.NeighborhoodComponentsAnalysis(init=start, warm_start=True, tol=1e9)
    model.fit(1e-5 * X, y)  # stops at its start
    np.testing.assert_allclose(model.components_, start)
    found = model.set_params(tol=1e-5).fit(1e-5 * X, y).components_
    assert plain_objective(found, 1e-5 * X, y) > plain_objective(start, 1e-5 * X, y) + 0.02
    np.testing.assert_allclose(model.set_params(tol=1e9).fit(1e-5 * X, y).components_, found)


def test_a_search_that_ran_out_of_time_says_so():
    X, y = classes()
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        th.NeighborhoodComponentsAnalysis().fit(X, y)
