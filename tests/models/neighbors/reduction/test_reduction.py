"""Fewer rows: condensed sets without error, editing without a change, and prototypes."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.neighbors import NearestCentroid

import thetahat as th
from thetahat.models.neighbors.reduction.voronoi_editing import by_hulls, by_triangulation


def table(n=300, d=2, n_classes=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.random((n, d))
    y = np.digitize(
        X[:, 0] + 0.3 * np.sin(6 * X[:, -1]), np.linspace(0.2, 1.0, n_classes + 1)[1:-1]
    )
    return X, np.array(["a", "b", "c", "d"])[y]


X, Y = table()


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("d", [1, 2, 8])
def test_the_condensed_set_has_no_error_on_all_rows(seed, metric, d):
    rows, y = table(d=d, seed=3)
    y = np.where(np.arange(300) % 17 == 0, "c", y)  # with some wrong labels
    if metric == "cosine" and d == 1:
        rows = np.column_stack([rows, 1 - rows**2])
    model = th.CondensedNearestNeighbors(metric=metric, random_state=seed).fit(rows, y)
    assert model.score(rows, y) == 1.0
    kept = model.sample_indices_
    assert len(np.unique(kept)) == len(kept) < 300
    np.testing.assert_array_equal(model.prototypes_, rows[kept])
    np.testing.assert_array_equal(model.prototype_labels_, y[kept])
    assert model.n_iter_ >= 2


def test_a_row_is_kept_only_if_the_kept_rows_misclassify_it():
    """The algorithm of the course, row by row."""
    order = np.random.default_rng(5).permutation(300)
    kept = []
    while True:
        before = len(kept)
        for i in order:
            if i in kept:
                continue
            near = [np.linalg.norm(X[i] - X[j]) for j in kept]
            if not kept or Y[kept[int(np.argmin(near))]] != Y[i]:
                kept.append(int(i))
        if len(kept) == before:
            break
    model = th.CondensedNearestNeighbors(random_state=5).fit(X, Y)
    assert model.sample_indices_.tolist() == kept


def test_another_order_gives_another_set():
    kept = [th.CondensedNearestNeighbors(random_state=s).fit(X, Y).sample_indices_ for s in (0, 1)]
    assert set(kept[0].tolist()) != set(kept[1].tolist())


def neighbours_by_linear_programs(points):
    """Whether some point is as near to i as to j, and no other row is nearer."""
    n, d = points.shape
    square = (points**2).sum(axis=1)
    found = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i):
            others = [k for k in range(n) if k not in (i, j)]
            run = linprog(
                np.zeros(d),
                A_ub=2 * (points[others] - points[i]),
                b_ub=square[others] - square[i],
                A_eq=2 * (points[j] - points[i])[None],
                b_eq=[square[j] - square[i]],
                bounds=(None, None),
            )
            found[i, j] = found[j, i] = run.status == 0
    return found


@pytest.mark.parametrize("d", [2, 3, 5])
def test_rows_with_a_neighbour_of_another_class_are_those_of_linear_programs(d):
    rows, y = table(18, d, seed=2)
    codes = np.unique(y, return_inverse=True)[1]
    neighbours = neighbours_by_linear_programs(rows)
    expected = (neighbours & (codes[:, None] != codes)).any(axis=1)
    np.testing.assert_array_equal(by_hulls(rows - rows.mean(axis=0), codes), expected)
    np.testing.assert_array_equal(by_triangulation(rows - rows.mean(axis=0), codes), expected)
    assert d > 2 or not expected.all()


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_after_editing_are_identical(d, n_classes):
    rows, y = table(250, d, n_classes)
    rows = np.vstack([rows, rows[:40]])  # and some rows twice
    y = np.concatenate([y, y[:40]])
    model = th.VoronoiEditing().fit(rows, y)
    new = np.random.default_rng(1).uniform(-1, 2, (4000, d))
    expected = th.KNeighborsClassifier(1).fit(rows, y).predict(new)
    np.testing.assert_array_equal(model.predict(new), expected)
    edited = th.KNeighborsClassifier(1).fit(rows[model.sample_indices_], y[model.sample_indices_])
    np.testing.assert_array_equal(edited.predict(new), expected)
    assert len(model.sample_indices_) < {1: 10, 2: 120, 3: 220, 4: 251}[d]
    if d > 1:
        hull = th.VoronoiEditing(method="hull").fit(rows, y)
        np.testing.assert_array_equal(hull.sample_indices_, model.sample_indices_)


def test_editing_of_degenerate_rows():
    """Rows on a line, on a lattice, or too few for a triangulation."""
    t = np.linspace(0, 1, 20)
    line = np.column_stack([t, 2 * t, 1 - t])
    model = th.VoronoiEditing(method="delaunay").fit(line, t > 0.5)
    assert model.sample_indices_.tolist() == [9, 10]
    lattice = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    y = lattice[:, 0] > 2
    model = th.VoronoiEditing().fit(lattice, y)
    new = np.random.default_rng(0).uniform(-1, 6, (2000, 2))
    expected = th.KNeighborsClassifier(1).fit(lattice, y).predict(new)
    np.testing.assert_array_equal(model.predict(new), expected)
    few = th.VoronoiEditing().fit([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]], [0, 0, 1])
    assert few.sample_indices_.tolist() == [1, 2]


def test_one_mean_per_class_is_the_nearest_centroid():
    model, peer = th.PrototypeClassifier().fit(X, Y), NearestCentroid().fit(X, Y)
    np.testing.assert_allclose(model.prototypes_, peer.centroids_, rtol=1e-12)
    new = table(500, seed=4)[0]
    np.testing.assert_array_equal(model.predict(new), peer.predict(new))


def test_prototypes_are_cluster_centres_of_their_class():
    """No centre can be moved or exchanged for less squared error: each is the mean of its rows."""
    model = th.PrototypeClassifier(5, random_state=0).fit(X, Y)
    assert len(model.prototypes_) == 15
    for label in model.classes_:
        centres, rows = model.prototypes_[model.prototype_labels_ == label], X[Y == label]
        nearest = th.distances.Euclidean().pairwise(rows, centres).argmin(axis=1)
        means = np.array([rows[nearest == k].mean(axis=0) for k in range(5)])
        np.testing.assert_allclose(centres, means, rtol=1e-9)
    errors = [
        1 - th.PrototypeClassifier(k, random_state=0).fit(X, Y).score(X, Y) for k in (1, 5, 30)
    ]
    assert errors[0] > errors[1] > errors[2]


def test_prototypes_with_weights():
    weight = np.random.default_rng(0).integers(0, 4, 300)
    rows = np.repeat(np.arange(300), weight)
    weighted = th.PrototypeClassifier().fit(X, Y, sample_weight=weight)
    repeated = th.PrototypeClassifier().fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.prototypes_, repeated.prototypes_, rtol=1e-12)
    with pytest.raises(th.errors.DataError, match="class 'a' have the weight 0"):
        th.PrototypeClassifier().fit(X, Y, sample_weight=(Y != "a").astype(float))


def test_columns_are_reduced_first():
    """Two informative columns of ten, found by a selection or by a projection."""
    from sklearn.feature_selection import SelectKBest
    from sklearn.pipeline import make_pipeline

    random = np.random.default_rng(0)
    rows = np.hstack([X, 0.02 * random.standard_normal((300, 8))])
    for first in (SelectKBest(k=2), th.KernelPCA(2)):
        edited = make_pipeline(first, th.VoronoiEditing()).fit(rows, Y)
        assert edited[-1].n_features_in_ == 2
        assert len(edited[-1].sample_indices_) < 150
        assert edited.score(rows, Y) == 1.0
    assert len(th.VoronoiEditing().fit(rows, Y).sample_indices_) > 150


MODELS = [
    th.CondensedNearestNeighbors(random_state=0),
    th.VoronoiEditing(),
    th.VoronoiEditing(method="hull"),
    th.PrototypeClassifier(3, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_edges(model):
    assert model.fit([[1.0, 2.0]], ["a"]).predict([[9.0, 9.0]]).tolist() == ["a"]
    one = model.fit([[0.0], [1.0], [2.0]], ["a", "a", "a"])
    assert one.predict([[5.0]]).tolist() == ["a"]
    single = model.fit([[0.0], [0.1], [0.2], [9.0]], ["a", "a", "a", "b"])
    assert single.predict([[0.1], [8.0]]).tolist() == ["a", "b"]
    equal = model.fit([[1.0]] * 4 + [[5.0]], ["a", "a", "b", "a", "b"])
    assert equal.predict([[1.0], [6.0]]).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="X has 2 features"):
        equal.predict([[1.0, 2.0]])


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_scores_agree_with_predictions(model):
    model.fit(X, Y)
    scores = model.decision_function(X)
    assert scores.shape == (300, 3)
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X))
    model.fit(X, Y == "a")
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (th.PrototypeClassifier(0), "n_prototypes=0 must be a whole number ≥ 1"),
        (th.VoronoiEditing(method="lp"), "method='lp' must be one of"),
        (th.CondensedNearestNeighbors(metric="euclid"), "Did you mean 'euclidean'"),
        (th.CondensedNearestNeighbors(random_state="x"), "random_state='x' must be"),
    ],
)
def test_refusals(model, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        model.fit(X, Y)


def test_cells_that_meet_in_a_corner_are_no_neighbours():
    """On a lattice the diagonals of a triangulation are arbitrary."""
    square, angle = np.arange(6.0), np.arange(12) * np.pi / 6
    lattice = np.stack(np.meshgrid(square, square), axis=-1).reshape(-1, 2)
    cube = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    for rows in (lattice, 0.1 * lattice + 7, cube, circle):
        codes = np.random.default_rng(0).integers(0, 2, len(rows))
        by_rows = th.VoronoiEditing(method="hull").fit(rows, codes).sample_indices_
        at_once = th.VoronoiEditing(method="delaunay").fit(rows, codes).sample_indices_
        np.testing.assert_array_equal(at_once, by_rows)
    half = th.VoronoiEditing().fit(lattice, lattice.sum(axis=1) > 5)
    assert len(half.sample_indices_) == 11  # the two diagonals along the border
