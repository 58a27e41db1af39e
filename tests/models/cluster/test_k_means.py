"""k-means: its loss, its starts, its empty clusters, and the rows it takes."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans as TheirKMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.reference.cluster.clusters import lloyd, squares

FOUR = np.array([[0.0], [1.0], [3.0], [7.0]])
STARTS = ("k-means++", "random", "random_centroids", "random_assignment")


def _quiet():
    return warnings.catch_warnings(action="ignore")


def heaps(n=600, d=3, k=5, seed=0):
    return make_blobs(n, d, centers=k, random_state=seed)[0]


def test_worked_numbers_of_the_lecture():
    model = th.KMeans(2, n_init=10, random_state=0).fit(FOUR)
    assert model.inertia_ == pytest.approx(14 / 3)
    assert len(set(model.labels_[:3])) == 1
    assert model.labels_[3] != model.labels_[0]
    assert sorted(model.cluster_centers_.ravel()) == pytest.approx([4 / 3, 7.0])


def test_the_optimum_is_the_best_of_all_partitions():
    losses = []
    for code in range(1, 8):  # the cluster of 0 is the first one
        label = np.array([0, *(code >> bit & 1 for bit in range(3))])
        means = np.array([FOUR[label == each].mean(axis=0) for each in (0, 1)])
        losses.append(((FOUR - means[label]) ** 2).sum())
    assert th.KMeans(2, n_init=10, random_state=1).fit(FOUR).inertia_ == pytest.approx(min(losses))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_steps_are_those_of_plain_code(weighted, dtype):
    X = heaps(seed=3).astype(dtype)
    weight = np.random.default_rng(0).integers(1, 4, len(X)) * 0.5 if weighted else None
    start = X[:5].astype(float)
    label, centres, losses = lloyd(X, start, 4, weight)
    model = th.KMeans(5, init=start, max_iter=4, tol=0).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=2e-6)
    np.testing.assert_array_equal(model.labels_, label)
    np.testing.assert_allclose(model.solution_.trace[:4], losses, rtol=1e-5)


@pytest.mark.parametrize("tol", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize("max_iter", [1, 3, 300])
def test_same_as_scikit_learn_from_the_same_start(tol, max_iter):
    random = np.random.default_rng(0)
    X = load_iris().data + 1e-3 * random.standard_normal((150, 4))  # no ties
    for seed in range(5):
        start = X[np.random.default_rng(seed).choice(len(X), 4, replace=False)]
        given = dict(init=start, n_init=1, tol=tol, max_iter=max_iter)
        with _quiet():
            ours, theirs = th.KMeans(4, **given).fit(X), TheirKMeans(4, **given).fit(X)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10)
        assert ours.inertia_ == pytest.approx(theirs.inertia_)
        assert ours.n_iter_ == theirs.n_iter_


@pytest.mark.parametrize("init", STARTS)
def test_the_loss_never_rises_and_ends_at_a_fixed_point(init):
    X = heaps(n=3000, d=8, k=12, seed=1)
    model = th.KMeans(12, init=init, n_init=1, tol=0, random_state=0).fit(X)
    trace = np.array(model.solution_.trace)
    assert len(trace) > 1
    assert (np.diff(trace) <= 1e-9 * trace[0]).all()
    assert model.solution_.outcome is th.results.Outcome.LOCAL
    np.testing.assert_array_equal(squares(X, model.cluster_centers_).argmin(axis=1), model.labels_)
    means = [X[model.labels_ == each].mean(axis=0) for each in range(12)]
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-10)
    assert model.inertia_ == pytest.approx(-model.score(X))


@pytest.mark.parametrize("init", STARTS)
def test_restarts_are_reported_and_the_best_is_kept(init):
    X = heaps(k=9, seed=4)
    model = th.KMeans(9, init=init, n_init=6, random_state=0).fit(X)
    assert model.restarts_.shape == (6,)
    assert model.inertia_ == model.restarts_.min()
    assert len(np.unique(model.restarts_.round(6))) > 1


def _first_rows(X, k, random_state):
    return X[:k]


def test_number_of_starts_by_default():
    X = heaps()
    for init, n in (("k-means++", 1), ("random", 10), (X[:5], 1), (_first_rows, 10)):
        assert len(th.KMeans(5, init=init, random_state=0).fit(X).restarts_) == n
    with pytest.warns(RuntimeWarning, match="only one init"):
        assert len(th.KMeans(5, init=X[:5], n_init=3).fit(X).restarts_) == 1


def test_far_rows_start_lower_than_random_rows():
    X = heaps(n=2000, k=20, d=2, seed=2)
    first = {
        init: np.mean([
            th.KMeans(20, init=init, n_init=1, random_state=s).fit(X).solution_.trace[0]
            for s in range(10)
        ])
        for init in STARTS
    }  # fmt: skip
    assert first["k-means++"] < 0.6 * first["random"] < first["random_assignment"]


def test_random_points_lie_in_the_range_of_the_columns():
    X = heaps(n=50)
    seen = []

    class Kept(th.KMeans):
        def _run(self, rows, start, watch):
            seen.append(start)
            return super()._run(rows, start, watch)

    with _quiet():
        Kept(3, init="random_centroids", n_init=50, random_state=0).fit(X)
    points = np.concatenate(seen)
    assert (points >= X.min(axis=0)).all()
    assert (points <= X.max(axis=0)).all()
    np.testing.assert_allclose(points.mean(axis=0), (X.min(axis=0) + X.max(axis=0)) / 2, atol=3)


def test_an_empty_cluster_takes_the_farthest_row():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    start = np.array([[1.0], [1000.0]])
    model = th.KMeans(2, init=start, tol=0).fit(X)
    theirs = TheirKMeans(2, init=start, n_init=1, tol=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [[1.0], [10.0]])
    np.testing.assert_allclose(model.cluster_centers_, theirs.cluster_centers_)
    assert (np.diff(model.solution_.trace) <= 0).all()


def test_several_empty_clusters_in_sparse_and_dense_rows():
    X = heaps(n=200, d=4)
    start = np.concatenate([X[:1], np.full((4, 4), 1e4) + np.arange(4)[:, None]])
    dense = th.KMeans(5, init=start).fit(X)
    sparse = th.KMeans(5, init=start).fit(sp.csr_array(X))
    assert len(np.unique(dense.labels_)) == 5
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)


def test_rows_in_memory_on_disk_and_in_files_give_the_same_bits(tmp_path):
    X = heaps(n=30_000, d=20, k=6)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = th.KMeans(6, random_state=0)
    expected = model.fit(X).cluster_centers_
    np.testing.assert_array_equal(model.fit(mapped).cluster_centers_, expected)
    np.testing.assert_array_equal(model.fit(np.asfortranarray(X)).cluster_centers_, expected)


def test_several_blocks_give_the_same_bits_for_any_number_of_threads():
    X = heaps(n=60_000, d=12, k=30)
    found = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            found.append(th.KMeans(30, random_state=0).fit(X))
    for other in found[1:]:
        np.testing.assert_array_equal(other.cluster_centers_, found[0].cluster_centers_)
        np.testing.assert_array_equal(other.labels_, found[0].labels_)
        assert other.solution_.trace == found[0].solution_.trace


def test_rows_of_a_file(tmp_path):
    X = heaps(n=300).round(6)
    path = tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    source = th.scan(path)
    model = th.KMeans(5, random_state=0).fit(source)
    np.testing.assert_allclose(
        model.cluster_centers_, th.KMeans(5, random_state=0).fit(X).cluster_centers_
    )
    np.testing.assert_array_equal(model.predict(source), model.labels_)


def test_weights_are_repetitions_from_the_same_start():
    X = heaps(n=200)
    weight = np.random.default_rng(0).integers(0, 4, 200)
    rows = np.repeat(np.arange(200), weight)
    weighted = th.KMeans(5, init=X[:5], tol=0).fit(X, sample_weight=weight)
    repeated = th.KMeans(5, init=X[:5], tol=0).fit(X[rows])
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_)
    assert weighted.inertia_ == pytest.approx(repeated.inertia_)
    np.testing.assert_array_equal(weighted.labels_[rows], repeated.labels_)
    assert weighted.score(X, sample_weight=weight) == pytest.approx(repeated.score(X[rows]))


def test_rows_of_weight_zero_are_never_starts():
    X = np.concatenate([heaps(n=100), np.full((100, 3), 1e3)])
    weight = np.repeat([1.0, 0.0], 100)
    for init in STARTS:
        model = th.KMeans(3, init=init, random_state=0).fit(X, sample_weight=weight)
        assert np.abs(model.cluster_centers_).max() < 100, init


def test_transform_is_the_distance_from_every_centre():
    X = heaps(n=100)
    model = th.KMeans(4, random_state=0).fit(X)
    np.testing.assert_allclose(
        model.transform(X), np.sqrt(squares(X, model.cluster_centers_)), atol=1e-9
    )
    assert model.get_feature_names_out().tolist() == [f"kmeans{i}" for i in range(4)]
    np.testing.assert_array_equal(model.fit_predict(X), model.labels_)


def test_far_from_zero_no_digits_are_lost():
    X = heaps(n=500)
    near = th.KMeans(5, init=X[:5], tol=0).fit(X)
    far = th.KMeans(5, init=X[:5] + 2.0**30, tol=0).fit(X + 2.0**30)
    np.testing.assert_array_equal(near.labels_, far.labels_)
    assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-5)


@pytest.mark.parametrize("factor", [1e-100, 1e-20, 1e20, 1e100])
def test_any_unit(factor):
    X = heaps(n=400, d=12, k=30)
    model = th.KMeans(30, init=X[:30]).fit(X)
    scaled = th.KMeans(30, init=X[:30] * factor).fit(X * factor)
    np.testing.assert_array_equal(model.labels_, scaled.labels_)


def test_one_cluster_is_the_mean():
    X = heaps(n=50)
    model = th.KMeans(1).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, X.mean(axis=0)[None])
    assert not model.labels_.any()


def test_as_many_clusters_as_rows():
    model = th.KMeans(4, random_state=0).fit(FOUR)
    assert model.inertia_ == 0.0
    assert sorted(model.cluster_centers_.ravel()) == [0.0, 1.0, 3.0, 7.0]


@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_fewer_distinct_rows_than_clusters_warn(init, kind):
    X = np.repeat([[1.0, 2.0], [3.0, 4.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\) found smaller"):
        model = th.KMeans(4, init=init, random_state=0).fit(kind(X))
    assert model.inertia_ == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(model.cluster_centers_).all()


def test_constant_rows():
    with pytest.warns(ConvergenceWarning, match=r"clusters \(1\)"):
        assert th.KMeans(3, random_state=0).fit(np.full((20, 2), 5.0)).inertia_ == 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(n_clusters=7), r"n_samples=4 should be >= n_clusters=7"),
        (dict(n_clusters=0), "n_clusters=0 must be"),
        (dict(init="far"), "init='far' must be"),
        (dict(n_init=0), "n_init=0 must be"),
        (dict(tol=-1.0), "tol=-1.0 must be"),
        (dict(algorithm="full"), "algorithm='full' must be"),
        (dict(init=np.ones((3, 1))), "does not match the number of clusters 2"),
        (dict(init=np.ones((2, 3))), "does not match the number of features of the data 1"),
        (dict(init=[[np.nan], [1.0]]), "NaN or infinity"),
    ],
)
def test_bad_parameters(change, words):
    with pytest.raises(ValueError, match=words):
        th.KMeans(**{"n_clusters": 2} | change).fit(FOUR)


def test_bad_rows():
    with pytest.raises(ValueError, match="NaN"):
        th.KMeans(2).fit([[0.0], [np.nan], [1.0]])
    with pytest.raises(ValueError, match="2 rows of positive weight"):
        th.KMeans(3).fit(FOUR, sample_weight=[1, 1, 0, 0])
    with pytest.raises(ValueError, match="overflow"):
        th.KMeans(2).fit(FOUR * 1e200)
    with pytest.raises(ValueError, match="underflow"):
        th.KMeans(2).fit(FOUR * 1e-200)


def test_a_time_limit_keeps_the_best_so_far():
    X = heaps(n=5000, d=10, k=30)
    with th.config(max_time=1e-9), _quiet():
        model = th.KMeans(30, init="random", random_state=0).fit(X)
    assert model.solution_.outcome is th.results.Outcome.OUT_OF_TIME
    assert len(model.restarts_) == 1


def test_the_elbow_of_seven_equal_groups_on_a_circle():
    turn = 2 * np.pi * np.arange(7) / 7
    groups = 6 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    X = np.repeat(groups, 40, axis=0) + np.random.default_rng(0).standard_normal((280, 2))
    losses = [th.KMeans(k, n_init=5, random_state=0).fit(X).inertia_ for k in range(1, 13)]
    assert int(th.elbow(range(1, 13), losses)) == 7


def test_the_elbow_of_the_losses_of_restarts():
    X = heaps(n=500, d=2, k=4, seed=0)
    ks = range(1, 9)
    losses = [th.KMeans(k, init="random", n_init=8, random_state=0).fit(X).restarts_ for k in ks]
    found = th.elbow(ks, losses)
    assert int(found) in (3, 4)
    assert (found.low <= found.losses).all()
