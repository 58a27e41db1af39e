"""Neighbour models: scikit-learn as the oracle, relations between algorithms, and bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.neighbors as peer

import thetahat as th

ALGORITHMS = ["auto", "brute", "kd_tree", "ball_tree"]
METRICS = ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "hamming", "cosine"]


def table(n=300, d=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no"), X @ np.arange(1.0, d + 1)


X, LABELS, Y = table()
NEW = table(50, seed=1)[0]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("d", [3, 40])
def test_neighbours_are_those_of_scikit_learn(metric, d):
    rows, new = table(400, d)[0].round(1), table(60, d, seed=1)[0].round(1)
    ours = th.NearestNeighbors(n_neighbors=7, metric=metric).fit(rows).kneighbors(new)
    theirs = peer.NearestNeighbors(n_neighbors=7, metric=metric, algorithm="brute").fit(rows)
    np.testing.assert_allclose(ours[0], theirs.kneighbors(new)[0], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "seuclidean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(2, 3), (300, 2), (1000, 8), (700, 30), (5, 50)])
def test_algorithms_agree_to_the_bit(metric, dtype, shape):
    rows, new = (
        table(n, shape[1], s)[0].round(1).astype(dtype) for n, s in ((shape[0], 0), (90, 1))
    )
    rows[1] = rows[0]
    k = min(7, shape[0])
    found = [
        th.NearestNeighbors(n_neighbors=k, algorithm=name, metric=metric).fit(rows).kneighbors(new)
        for name in ALGORITHMS
    ]
    for distance, row in found[1:]:
        np.testing.assert_array_equal(row, found[0][1])
        np.testing.assert_array_equal(distance, found[0][0])


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_sparse_rows_have_the_neighbours_of_dense_ones(metric):
    rows = np.where(np.abs(X) < 1, 0.0, X)
    dense = th.NearestNeighbors(metric=metric, algorithm="brute").fit(rows)
    sparse = th.NearestNeighbors(metric=metric).fit(sp.csr_array(rows))
    for query in (rows, sp.csr_array(rows)):
        np.testing.assert_array_equal(sparse.kneighbors(query)[1], dense.kneighbors(rows)[1])
        np.testing.assert_allclose(
            sparse.kneighbors(query)[0], dense.kneighbors(rows)[0], rtol=1e-12, atol=1e-15
        )
    near = sparse.radius_neighbors(rows, 0.7, return_distance=False)
    for ours, theirs in zip(
        near, dense.radius_neighbors(rows, 0.7, return_distance=False), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("share", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_within_any_radius_are_the_same_to_the_bit(metric, share, dtype):
    """A small share of the rows is measured pair by pair, a large one in other ways."""
    random = np.random.default_rng(0)
    rows = (random.standard_normal((200, 9)) * (random.random((200, 9)) < 0.4)).astype(dtype)
    rows[7] = 0.0
    distances = th.NearestNeighbors(metric=metric).fit(rows).kneighbors(rows, 200)[0]
    radius = float(np.quantile(distances, share))
    results = [
        th.NearestNeighbors(radius=radius, metric=metric, algorithm=algorithm, leaf_size=3)
        .fit(given)
        .radius_neighbors(given)
        for given, algorithm in (
            (rows, "brute"), (rows, "kd_tree"), (sp.csr_array(rows), "brute")
        )
    ]  # fmt: skip
    for distance, row in results[1:]:
        for i in range(len(rows)):
            np.testing.assert_array_equal(row[i], results[0][1][i])
            np.testing.assert_array_equal(distance[i], results[0][0][i])


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda distance: np.exp(-distance)])
@pytest.mark.parametrize("radius", [0.7, 30.0])
def test_radius_predictions_of_many_rows_are_those_of_single_rows(weights, radius, monkeypatch):
    monkeypatch.setattr("thetahat.models.neighbors.queries.FOUND_AT_ONCE", 1000)
    rows = table(400, 3, seed=2)[0]
    rows[5] = X[9, :3]
    options = {"radius": radius, "weights": weights}
    regressor = th.RadiusNeighborsRegressor(**options).fit(X[:, :3], Y)
    classifier = th.RadiusNeighborsClassifier(**options, outlier_label="no").fit(X[:, :3], LABELS)
    rows = rows[[len(each) > 0 for each in regressor.radius_neighbors(rows)[1]]]
    for predict in (regressor.predict, classifier.predict_proba):
        singly = np.concatenate([predict(row[None]) for row in rows])
        np.testing.assert_array_equal(predict(rows), singly)


def test_rows_without_neighbours_are_counted_over_all_rows():
    rows = np.zeros((300, 4))
    rows[[70, 250]] = 99.0
    model = th.RadiusNeighborsClassifier(radius=5.0).fit(X, LABELS)
    with pytest.raises(th.errors.DataError, match=r"for 2 of 300 rows \(first at row 70\)"):
        model.predict(rows)


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_rounding_of_products_loses_no_neighbour(offset):
    """Rows far from the origin, whose squared lengths hide their distances."""
    rows = table(600, 20)[0] + offset
    brute = th.NearestNeighbors(algorithm="brute").fit(rows).kneighbors(rows)
    tree = th.NearestNeighbors(algorithm="kd_tree").fit(rows).kneighbors(rows)
    np.testing.assert_array_equal(brute[1], tree[1])
    np.testing.assert_array_equal(brute[0], tree[0])


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e25])
def test_many_queries_find_the_same_neighbours_by_products_of_single_precision(scale):
    """Spread rows are filtered in single precision, groups of close rows are not."""
    rows = table(700, 40)[0] * scale
    rows[100:140] = rows[100] * (1 + 1e-9 * np.arange(40))[:, None]
    grouped = np.repeat(rows[:70], 10, axis=0) * (1 + 1e-10 * np.arange(700))[:, None]
    for points in (rows, grouped):
        brute = th.NearestNeighbors(n_neighbors=9, algorithm="brute").fit(points)
        tree = th.NearestNeighbors(n_neighbors=9, algorithm="kd_tree").fit(points)
        for found, expected in zip(brute.kneighbors(points), tree.kneighbors(points), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda distance: np.exp(-distance)])
def test_predictions_are_those_of_scikit_learn(weights):
    for ours, theirs, y in (
        (th.KNeighborsClassifier, peer.KNeighborsClassifier, LABELS),
        (th.KNeighborsRegressor, peer.KNeighborsRegressor, np.column_stack([Y, -Y])),
    ):
        a = ours(6, weights=weights).fit(X, y)
        b = theirs(6, weights=weights).fit(X, y)
        np.testing.assert_array_equal(a.predict(NEW), b.predict(NEW)) if y is LABELS else None
        method = "predict_proba" if y is LABELS else "predict"
        np.testing.assert_allclose(getattr(a, method)(NEW), getattr(b, method)(NEW), rtol=1e-10)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_radius_predictions_are_those_of_scikit_learn(weights):
    a = th.RadiusNeighborsClassifier(0.9, weights=weights, outlier_label="no").fit(X, LABELS)
    b = peer.RadiusNeighborsClassifier(0.9, weights=weights, outlier_label="no").fit(X, LABELS)
    np.testing.assert_array_equal(a.predict(NEW), b.predict(NEW))
    np.testing.assert_allclose(a.predict_proba(NEW), b.predict_proba(NEW), rtol=1e-10)
    a = th.RadiusNeighborsRegressor(0.9, weights=weights).fit(X, Y)
    b = peer.RadiusNeighborsRegressor(0.9, weights=weights).fit(X, Y)
    np.testing.assert_allclose(a.predict(NEW), b.predict(NEW), rtol=1e-10)


def test_training_error_of_one_neighbour_is_zero():
    model = th.KNeighborsClassifier(1).fit(X, LABELS)
    assert model.score(X, LABELS) == 1.0


def test_the_boundary_of_one_neighbour_is_the_bisector():
    """The cell of a training row holds the points nearer to it than to any other."""
    model = th.KNeighborsClassifier(1).fit([[0.0, 0.0], [4.0, 2.0]], ["a", "b"])
    for t in np.linspace(-5, 5, 11):
        on = np.array([2.0, 1.0]) + t * np.array([-1.0, 2.0])
        toward = np.array([2.0, 1.0]) * 1e-9
        assert model.predict([on - toward, on + toward]).tolist() == ["a", "b"]


def test_error_of_two_training_rows():
    """One row per class of p(x|0) = 2 − 2x, p(x|1) = 2x: the error is 83/360 + 43/360 = 7/20."""
    random = np.random.default_rng(0)
    size = 200_000
    zero, one = 1 - np.sqrt(random.random(size)), np.sqrt(random.random(size))
    y = random.random(size) < 0.5
    x = np.where(y, np.sqrt(random.random(size)), 1 - np.sqrt(random.random(size)))
    said = np.abs(x - one) < np.abs(x - zero)  # the rule of one neighbour, for every training set
    for i in range(20):
        model = th.KNeighborsClassifier(1).fit([[zero[i]], [one[i]]], [0, 1])
        assert model.predict([[x[i]]])[0] == said[i]
    in_order = zero < one
    assert np.mean(in_order) == pytest.approx(5 / 6, abs=5e-3)
    assert np.mean(said != y) == pytest.approx(7 / 20, abs=5e-3)
    # Rule A is the right order; both parts of the error.
    assert np.mean((said != y) & in_order) == pytest.approx(83 / 360, abs=5e-3)
    assert np.mean((said != y) & ~in_order) == pytest.approx(43 / 360, abs=5e-3)


def test_error_tends_to_the_bayes_error_as_k_grows():
    """p(x|0) = 2 − 2x, p(x|1) = 2x: 1/3 for one neighbour, 3/10 for three, 2/7 for five."""
    random = np.random.default_rng(0)

    def sample(size):
        y = random.random(size) < 0.5
        return np.where(y, np.sqrt(random.random(size)), 1 - np.sqrt(random.random(size))), y

    (x, y), (new, truth) = sample(50_000), sample(15_000)
    for k, error in ((1, 1 / 3), (3, 3 / 10), (5, 2 / 7), (500, 1 / 4)):
        model = th.KNeighborsClassifier(k).fit(x[:, None], y)
        assert 1 - model.score(new[:, None], truth) == pytest.approx(error, abs=7e-3)


def test_the_training_rows_are_not_their_own_neighbours():
    search = th.NearestNeighbors(n_neighbors=2).fit([[0.0], [0.0], [0.0], [5.0]])
    assert search.kneighbors(return_distance=False).tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]
    assert [row.tolist() for row in search.radius_neighbors(radius=1.0)[1]] == [
        [1, 2], [0, 2], [0, 1], []
    ]  # fmt: skip
    assert search.kneighbors_graph().toarray()[3].tolist() == [1.0, 1.0, 0.0, 0.0]
    graph = search.radius_neighbors_graph([[4.0]], radius=1.5, mode="distance")
    assert graph.toarray().tolist() == [[0.0, 0.0, 0.0, 1.0]]


def test_given_distances():
    distances = th.distances.Manhattan().pairwise(X)
    given = th.KNeighborsClassifier(metric="precomputed").fit(distances, LABELS)
    direct = th.KNeighborsClassifier(metric="manhattan").fit(X, LABELS)
    between = th.distances.Manhattan().pairwise(NEW, X)
    np.testing.assert_array_equal(given.predict_proba(between), direct.predict_proba(NEW))
    with pytest.raises(ValueError, match="must be square"):
        th.NearestNeighbors(metric="precomputed").fit(between)
    with pytest.raises(ValueError, match="Negative values"):
        th.NearestNeighbors(metric="precomputed").fit(-distances)


def test_a_function_of_the_users_own():
    def gap(a, b, power=1):
        return float(np.abs(a - b).sum() ** power)

    own = th.KNeighborsRegressor(metric=gap, metric_params={"power": 2}).fit(X[:60], Y[:60])
    named = th.KNeighborsRegressor(metric="manhattan").fit(X[:60], Y[:60])
    np.testing.assert_allclose(own.predict(NEW), named.predict(NEW))
    np.testing.assert_allclose(own.kneighbors(NEW)[0], named.kneighbors(NEW)[0] ** 2)
    with pytest.raises(ValueError, match="Use algorithm='brute'"):
        th.NearestNeighbors(metric=gap, algorithm="kd_tree").fit(X)


def test_rows_at_infinite_distance_count_last():
    """Two groups that a function keeps apart."""

    def apart(a, b):
        return abs(a[1] - b[1]) if a[0] == b[0] else np.inf

    rows = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0]])
    model = th.KNeighborsRegressor(3, metric=apart, weights="distance").fit(rows, [1.0, 3.0, 100.0])
    np.testing.assert_allclose(model.predict([[0.0, 1.5], [1.0, 1.0]]), [2.0, 100.0])
    assert th.NearestNeighbors(n_neighbors=3, metric=apart).fit(rows).kneighbors([[5.0, 0.0]])[
        1
    ].tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_distances_that_overflow_are_refused(algorithm):
    search = th.NearestNeighbors(n_neighbors=2, algorithm=algorithm).fit([[1e308], [-1e308]])
    with pytest.raises(th.errors.DataError, match=r"query 0 .* Scale the columns"):
        search.kneighbors([[1e308]])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_row(algorithm):
    model = th.KNeighborsRegressor(1, algorithm=algorithm).fit([[2.0, 3.0]], [7.0])
    assert model.predict([[0.0, 0.0]]).tolist() == [7.0]
    with pytest.raises(ValueError, match="n_neighbors = 2, n_samples_fit = 1"):
        model.kneighbors([[0.0, 0.0]], n_neighbors=2)
    with pytest.raises(ValueError, match="n_neighbors < n_samples_fit"):
        model.kneighbors()


def test_a_query_of_other_width_is_refused():
    model = th.KNeighborsClassifier().fit(X, LABELS)
    with pytest.raises(
        ValueError, match="X has 3 features, but KNeighborsClassifier is expecting 4"
    ):
        model.predict(NEW[:, :3])


def test_no_neighbour_within_the_radius():
    rows, y = [[0.0], [0.0], [3.0]], ["a", "b", "b"]
    with pytest.raises(ValueError, match=r"No neighbors found for 1 of 2 rows \(first at row 1\)"):
        th.RadiusNeighborsClassifier(0.0).fit(rows, y).predict([[3.0], [1.0]])
    model = th.RadiusNeighborsClassifier(0.0, outlier_label="most_frequent").fit(rows, y)
    assert model.predict([[0.0], [1.0]]).tolist() == ["a", "b"]
    assert model.predict_proba([[0.0], [1.0]]).tolist() == [[0.5, 0.5], [0.0, 1.0]]
    with pytest.raises(ValueError, match="outlier_label=3"):
        th.RadiusNeighborsClassifier(outlier_label=3).fit(rows, y)
    with pytest.warns(UserWarning, match="1 of 2 rows have no neighbors within the radius 0"):
        found = th.RadiusNeighborsRegressor(0.0).fit(rows, [1.0, 2.0, 5.0]).predict([[0.0], [1.0]])
    np.testing.assert_array_equal(found, [1.5, np.nan])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 must be a whole number ≥ 1"),
        ({"p": 0}, "p=0 must be"),
        ({"algorithm": "kd"}, "algorithm='kd' must be one of"),
        ({"metric": "euclidian"}, "Did you mean 'euclidean'"),
        ({"metric_params": {"weight": 1}}, "takes no such parameter"),
        ({"metric_params": {"w": [1.0, -1.0]}}, "w must hold one finite number ≥ 0 per column"),
        ({"metric_params": {"w": [1.0, 1.0]}}, "w holds 2 weights, but X has 4 columns"),
        ({"leaf_size": 0}, "leaf_size=0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        th.NearestNeighbors(**parameters).fit(X)


def test_changing_the_rows_afterwards_changes_nothing():
    rows = X.copy()
    for algorithm in ("brute", "kd_tree"):
        search = th.NearestNeighbors(algorithm=algorithm).fit(rows)
        before = search.kneighbors(NEW)[1]
        rows[:] = 0.0
        np.testing.assert_array_equal(search.kneighbors(NEW)[1], before)
        rows = X.copy()


@pytest.mark.parametrize(
    "model",
    [
        th.KNeighborsRegressor(3, weights=lambda d: (d < 1.5) * 1.0),
        th.KNeighborsClassifier(3, weights=lambda d: (d < 1.5) * 1.0),
        th.RadiusNeighborsRegressor(9.0, weights=lambda d: (d < 1.5) * 1.0),
        th.RadiusNeighborsClassifier(9.0, weights=lambda d: (d < 1.5) * 1.0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_neighbours_that_all_weigh_nothing_are_refused(model):
    model.fit(np.arange(6.0)[:, None], np.arange(6) % 2)
    with pytest.raises(th.errors.DataError, match="0 for all neighbours of row 1"):
        model.predict([[1.0], [9.0]])
