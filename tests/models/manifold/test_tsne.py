"""t-SNE: gradients, scikit-learn as oracle, relations, interruption and bad input."""

import numpy as np
import pytest
import sklearn.manifold as theirs
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris

import thetahat as th
from thetahat.errors import DataError, ParameterError
from thetahat.models.manifold.student_descent import (
    ExaggeratedDescent,
    StudentDivergence,
    joint_probabilities,
)
from thetahat.results import Outcome


def groups(n=30, k=3, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(8 * each, 1.0, (n, d)) for each in range(k)])


def divergence(X, perplexity=10.0, freedom=1, angle=0.0, every=False):
    n = len(X)
    k = n - 1 if every else min(n - 1, int(3 * perplexity + 1))
    found = th.NearestNeighbors(n_neighbors=k).fit(X)._nearest(None)
    return StudentDivergence(joint_probabilities(found, perplexity), freedom, angle)


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_gradient_is_that_of_finite_differences(p):
    X = groups(12)
    problem = divergence(X, 5.0, max(p - 1, 1), every=True)
    z = np.random.default_rng(1).standard_normal((len(X), p))
    gradient, step = problem.value_and_gradient(z)[1], 1e-5
    for i, k in [(0, 0), (7, p - 1), (20, 0), (35, p - 1)]:
        move = np.zeros_like(z)
        move[i, k] = step
        rise = problem.value_and_gradient(z + move)[0] - problem.value_and_gradient(z - move)[0]
        np.testing.assert_allclose(gradient[i, k], rise / (2 * step), rtol=1e-6, atol=1e-10)


def test_weights_are_symmetric_with_sum_one():
    found = th.NearestNeighbors(n_neighbors=20).fit(groups())._nearest(None)
    P = joint_probabilities(found, 7.0)
    np.testing.assert_allclose(P.sum(), 1.0)
    np.testing.assert_allclose(P.toarray(), P.toarray().T, rtol=1e-12)


@pytest.mark.parametrize("method", ["barnes_hut", "exact"])
def test_divergence_is_no_worse_than_scikit_learns(method):
    X = load_iris().data[::3]
    # The divergence has several minima, and rounding errors choose among those near a start.
    runs = [
        th.TSNE(random_state=seed, init=init, perplexity=10, max_iter=600, method=method).fit(X)
        for seed, init in enumerate(["pca", "random", "random"])
    ]
    ours = min(runs, key=lambda run: run.kl_divergence_)
    other = theirs.TSNE(random_state=0, perplexity=10, max_iter=600, method="exact").fit(X)
    problem = divergence(X, 10.0, every=method == "exact")
    reached = problem.value_and_gradient(np.asarray(other.embedding_, dtype=np.float64))[0]
    assert ours.kl_divergence_ <= 1.05 * reached
    own = problem.value_and_gradient(ours.embedding_)[0]
    np.testing.assert_allclose(ours.kl_divergence_, own, rtol=5e-3)
    assert ours.learning_rate_ == other.learning_rate_ == 50.0


def test_trees_and_all_pairs_reach_the_same_divergence():
    X = load_digits().data[::9]
    options = dict(random_state=0, perplexity=66, max_iter=600)  # all rows are neighbours
    tree, exact = (th.TSNE(method=method, **options).fit(X) for method in ("barnes_hut", "exact"))
    np.testing.assert_allclose(tree.kl_divergence_, exact.kl_divergence_, rtol=0.1)


def test_digits_form_groups():
    X, digit = load_digits(return_X_y=True)
    X, digit = X[::3], digit[::3]
    model = th.TSNE(random_state=0, max_iter=600).fit(X)
    vote = th.KNeighborsClassifier(5).fit(model.embedding_, digit)
    near = vote.kneighbors(return_distance=False)
    assert (digit[near] == digit[:, None]).mean() > 0.93
    assert th.trustworthiness(X, model.embedding_) > 0.97


@pytest.mark.parametrize("init", ["pca", "random"])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_groups_are_separated(init, p):
    Z = th.TSNE(p, init=init, perplexity=10, random_state=0, max_iter=500).fit_transform(groups())
    assert Z.shape == (90, p)
    assert th.trustworthiness(groups(), Z, n_neighbors=10) > (0.85 if p == 1 else 0.93)


def test_trace_falls_after_early_exaggeration():
    model = th.TSNE(perplexity=10, random_state=0).fit(groups())
    trace = np.array(model.solution_.trace)
    assert len(trace) == model.n_iter_ + 1
    assert trace[-1] < trace[250]
    np.testing.assert_allclose(model.kl_divergence_, trace.min())
    assert model.solution_.outcome is Outcome.STEPS_EXHAUSTED


def test_stops_without_progress():
    class Flat:
        def value_and_gradient(self, theta, exaggeration=1.0):
            return 1.0, np.full_like(theta, 1e-3)

    for patience, steps in ((-1, 350), (100, 450)):
        method = ExaggeratedDescent(patience=patience)
        found = th.minimise(Flat(), method, np.zeros((5, 2)), max_steps=1000, tolerance=0.0)
        assert (found.steps, found.outcome) == (steps, Outcome.STALLED)


def test_stops_at_a_small_gradient():
    model = th.TSNE(perplexity=5, min_grad_norm=1e-3, max_iter=3000).fit(groups(10))
    assert 250 < model.n_iter_ < 3000
    assert model.solution_.gap <= 1e-3


def test_distances_give_the_embedding_of_the_rows():
    X = groups(20)
    D = th.distances.Euclidean().pairwise(X)
    options = dict(init="random", random_state=0, perplexity=8, max_iter=300)
    expected = th.TSNE(**options).fit_transform(X)
    given = th.TSNE(metric="precomputed", **options)
    np.testing.assert_allclose(given.fit_transform(D), expected, atol=1e-3)
    graph = th.NearestNeighbors(n_neighbors=26).fit(X).kneighbors_graph(X, mode="distance")
    np.testing.assert_allclose(given.fit_transform(graph), expected, atol=1e-3)


def test_given_points_are_the_start_and_are_kept():
    X = groups(10)
    start = np.random.default_rng(0).standard_normal((30, 2)).astype(np.float32)
    kept = start.copy()
    one, two = (th.TSNE(init=start, perplexity=5, max_iter=260).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(start, kept)


def test_units_do_not_matter():
    X = groups(15)
    options = dict(perplexity=8, random_state=0, max_iter=250, learning_rate=10.0)
    expected = th.TSNE(**options).fit_transform(X)
    for scale in (2.0**-400, 2.0**400):
        np.testing.assert_allclose(th.TSNE(**options).fit_transform(X * scale), expected, atol=1e-6)


def test_repeated_rows_stay_together():
    X = np.repeat(groups(8), 3, axis=0)
    Z = th.TSNE(perplexity=6, random_state=0).fit_transform(X)
    assert np.isfinite(Z).all()
    spread = np.ptp(Z.reshape(-1, 3, 2), axis=1).max()
    assert spread < 0.2 * np.ptp(Z)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("method", ["barnes_hut", "exact"])
def test_few_rows(n, method):
    X = np.random.default_rng(0).standard_normal((n, 3))
    Z = th.TSNE(perplexity=1, method=method, random_state=0).fit_transform(X)
    assert Z.shape == (n, 2)
    assert np.isfinite(Z).all()


def test_interrupt_keeps_the_embedding_so_far():
    class Stop:
        def __init__(self):
            self.calls = 0

        def setup(self, *args, **params):
            pass

        def on_fit_task_begin(self, *args, **params):
            pass

        def on_fit_task_end(self, *args, **params):
            self.calls += 1
            if self.calls == 40:
                raise KeyboardInterrupt

        def teardown(self, *args, **params):
            pass

    model = th.TSNE(perplexity=5, random_state=0).set_callbacks(Stop())
    with pytest.raises(KeyboardInterrupt):
        model.fit(groups(10))
    assert model.embedding_.shape == (30, 2)
    assert model.solution_.outcome is Outcome.INTERRUPTED
    assert np.isfinite(model.kl_divergence_)


def test_time_limit_keeps_the_embedding_so_far():
    with th.config(max_time=1e-3), pytest.warns(UserWarning, match="out of time"):
        model = th.TSNE(perplexity=5, random_state=0).fit(groups(10))
    assert model.n_iter_ < 1000
    assert np.isfinite(model.embedding_).all()


def test_steps_that_are_too_long_are_reported():
    with pytest.warns(UserWarning, match="smaller learning_rate"):
        model = th.TSNE(perplexity=5, random_state=0, learning_rate=1e30).fit(groups(10))
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"perplexity": 10}, groups(3), r"perplexity \(10\) must be less than n_samples \(9\)"),
        ({"perplexity": 0}, groups(3), "perplexity"),
        ({"perplexity": 2}, np.ones((10, 3)), "all 10 rows are equal"),
        ({"perplexity": 2}, csr_array(np.ones((10, 3))), "all 10 rows are equal"),
        ({"perplexity": 0.5}, np.ones((1, 3)), "minimum of 2 rows"),
        ({"perplexity": 2}, np.full((5, 2), np.nan), "NaN"),
        ({"perplexity": 2, "n_components": 4}, groups(3), "quad-tree"),
        ({"perplexity": 2}, groups(3, d=1), "n_features = 1"),
        ({"perplexity": 2, "metric": "precomputed"}, np.ones((9, 9)), 'init="pca"'),
        ({"perplexity": 2, "init": np.ones((9, 2))}, groups(3), "must differ"),
        ({"perplexity": 2, "init": np.ones((9, 3))}, groups(3), r"shape is \(9, 3\)"),
        ({"perplexity": 2, "init": np.full((9, 2), np.nan)}, groups(3), "Replace NaN"),
        ({"perplexity": 2, "init": "other"}, groups(3), "init"),
        ({"perplexity": 2, "method": "fast"}, groups(3), "method"),
        ({"perplexity": 2, "angle": 2.0}, groups(3), "angle"),
        ({"perplexity": 2, "learning_rate": 0}, groups(3), "learning_rate"),
    ],
)
def test_bad_input_is_refused(options, X, message):
    with pytest.raises((DataError, ParameterError, ValueError), match=message):
        th.TSNE(**options).fit(X)


@pytest.mark.parametrize("method", ["exact", "barnes_hut"])
def test_first_points_without_forces_are_refused(method):
    X = groups()
    far = np.column_stack([np.arange(len(X)), np.zeros(len(X))]) * 1e12
    with pytest.raises(DataError, match=r"points of init, up to .*e\+13, are so far"):
        th.TSNE(perplexity=5, init=far, method=method).fit(X)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_principal_directions_of_float32_rows_in_any_unit(kind, unit):
    X = np.abs(groups()).astype("float32") * np.float32(unit)
    model = th.TSNE(perplexity=5, max_iter=100, init="pca", random_state=0)
    model.fit(kind(X))
    assert np.isfinite(model.embedding_).all()
    assert model.kl_divergence_ < 3


def test_all_pairs_are_refused_when_they_need_too_much_memory():
    X = groups(700)
    with th.config(memory=10_000_000), pytest.raises(th.errors.MemoryBudgetError, match="TSNE"):
        th.TSNE(method="exact").fit(X)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_trustworthiness_is_scikit_learns(metric):
    X = np.random.default_rng(0).standard_normal((80, 6))
    given = th.distances.Euclidean().pairwise(X) if metric == "precomputed" else X
    for Z in (X[:, :2], X, X[::-1]):
        for k in (1, 5, 30):
            expected = theirs.trustworthiness(given, Z, n_neighbors=k, metric=metric)
            found = th.trustworthiness(given, Z, n_neighbors=k, metric=metric)
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(th.trustworthiness(csr_array(X), X), 1.0)


def test_trustworthiness_refuses_bad_input():
    X = groups(4)
    with pytest.raises(ParameterError, match="less than n_samples / 2"):
        th.trustworthiness(X, X, n_neighbors=6)
    with pytest.raises(DataError, match="one point per row"):
        th.trustworthiness(X, X[:5], n_neighbors=2)
