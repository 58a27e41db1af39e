"""What scikit-learn's neighbours accept: several labels, None, radii, metrics, missing values."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.neighbors as peer
from sklearn.utils import get_tags

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.random((80, 3))
LABELS = np.column_stack([(X[:, 0] > 0.5), (3 * X[:, 1]).astype(int)]).astype(int)
Y = X @ [1.0, 2.0, 3.0]
NEW = RANDOM.random((20, 3))


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("kind", ["KNeighborsClassifier", "RadiusNeighborsClassifier"])
def test_several_label_columns(kind, weights):
    options = {"weights": weights}
    if kind.startswith("Radius"):
        options.update(radius=0.3, outlier_label=[0, 7])
    ours, theirs = (getattr(each, kind)(**options).fit(X, LABELS) for each in (th, peer))
    far = np.vstack([NEW, [[9.0, 9.0, 9.0]]]) if kind.startswith("Radius") else NEW
    warned = pytest.warns(UserWarning, match="label 7 is") if len(far) > 20 else nullcontext()
    with warned:
        np.testing.assert_array_equal(ours.predict(far), theirs.predict(far))
        for a, b in zip(ours.predict_proba(far), theirs.predict_proba(far), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
    assert ours.outputs_2d_
    assert [each.tolist() for each in ours.classes_] == [each.tolist() for each in theirs.classes_]
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.predict(NEW), ours.predict(NEW))


def test_several_label_columns_are_saved(tmp_path):
    model = th.KNeighborsClassifier().fit(X, LABELS)
    th.save(model, tmp_path / "model.theta")
    again = th.load(tmp_path / "model.theta")
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_none_predicts_the_training_rows_without_themselves(algorithm):
    for kind, y in (("KNeighborsClassifier", LABELS[:, 1]), ("KNeighborsRegressor", Y)):
        ours, theirs = (
            getattr(each, kind)(3, algorithm=algorithm).fit(X, y) for each in (th, peer)
        )
        np.testing.assert_allclose(ours.predict(None), theirs.predict(None))
        assert ours.score(None, y) == pytest.approx(theirs.score(None, y))
    left_out = [
        th.KNeighborsRegressor(3).fit(np.delete(X, i, 0), np.delete(Y, i)).predict(X[[i]])[0]
        for i in range(10)
    ]
    np.testing.assert_allclose(ours.predict(None)[:10], left_out, rtol=1e-12)


def test_one_radius_per_row():
    radii = np.linspace(0.0, 0.6, 20)
    for algorithm in ("brute", "kd_tree"):
        search = th.NearestNeighbors(algorithm=algorithm).fit(X)
        found = search.radius_neighbors(NEW, radii, return_distance=False)
        for query, radius, rows in zip(NEW, radii, found, strict=True):
            alone = search.radius_neighbors([query], radius, return_distance=False)[0]
            np.testing.assert_array_equal(rows, alone)
    with pytest.raises(th.errors.ParameterError, match=r"one for each of the 20 rows.*\(3,\)"):
        search.radius_neighbors(NEW, [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("metric", "parameters"),
    [
        ("minkowski", {"w": [1.0, 5.0, 0.5], "p": 3}),
        ("canberra", {}),
        ("braycurtis", {}),
        ("correlation", {}),
        ("jaccard", {}),
        ("russellrao", {}),
        ("yule", {}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*(boolean|Parameter p)")
def test_further_metrics_find_the_rows_of_scikit_learn(metric, parameters):
    rows, new = (X > 0.5, NEW > 0.5) if metric in ("jaccard", "russellrao", "yule") else (X, NEW)
    options = {"metric": metric, "metric_params": parameters, "algorithm": "brute"}
    ours, theirs = (each.NearestNeighbors(**options).fit(rows) for each in (th, peer))
    np.testing.assert_allclose(ours.kneighbors(new)[0], theirs.kneighbors(new)[0], atol=1e-12)
    counts = [len(each) for each in ours.radius_neighbors(new, 0.31)[1]]
    assert counts == [len(each) for each in theirs.radius_neighbors(new, 0.31)[1]]


@pytest.mark.parametrize("algorithm", ["brute", "ball_tree", "auto"])
def test_haversine_by_any_algorithm(algorithm):
    places = np.random.default_rng(1).uniform(-1.5, 1.5, (300, 2))
    ours = th.NearestNeighbors(metric="haversine", algorithm=algorithm).fit(places)
    theirs = peer.NearestNeighbors(metric="haversine", algorithm="ball_tree").fit(places)
    for a, b in zip(ours.kneighbors(places[:40]), theirs.kneighbors(places[:40]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-15)
    near = ours.radius_neighbors([[0.0, 0.0]], np.pi, return_distance=False)[0]
    assert len(near) == 300


@pytest.mark.parametrize("kind", ["KNeighborsTransformer", "RadiusNeighborsTransformer"])
def test_graphs_of_rows_with_missing_values(kind):
    rows = np.array([[0.0, 1.0], [1.0, np.nan], [2.0, 3.5], [3.0, 5.0]])
    options = {"metric": "nan_euclidean"} | (
        {"n_neighbors": 2} if kind.startswith("K") else {"radius": 2.0}
    )
    ours, theirs = (getattr(each, kind)(**options).fit_transform(rows) for each in (th, peer))
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-12)
    search = th.NearestNeighbors(n_neighbors=2, metric="nan_euclidean").fit(rows)
    assert np.isfinite(search.kneighbors(rows)[0]).all()


def test_missing_values():
    rows = np.where(np.random.default_rng(2).random(X.shape) < 0.2, np.nan, X)
    for kind, y in (("KNeighborsClassifier", LABELS[:, 0]), ("KNeighborsRegressor", Y)):
        ours, theirs = (
            getattr(each, kind)(metric="nan_euclidean").fit(rows, y) for each in (th, peer)
        )
        np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-12)
    with pytest.raises(th.errors.DataError, match="infinity"):
        th.NearestNeighbors(metric="nan_euclidean").fit([[np.inf], [1.0]])
    with pytest.raises(th.errors.DataError, match="infinity"):
        ours.predict([[np.inf, 1.0, 1.0]])
    with pytest.raises(th.errors.DataError, match="NaN"):
        th.NearestNeighbors().fit(rows)


@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_are_searched_without_a_dense_copy(metric, dtype):
    rows = sp.random_array(
        (200, 10_000),
        density=0.002,
        format="csr",
        rng=1,
        data_sampler=np.random.default_rng(3).standard_normal,
    ).astype(dtype)
    search = th.NearestNeighbors(n_neighbors=4, metric=metric).fit(rows)
    dense = th.NearestNeighbors(n_neighbors=4, metric=metric, algorithm="brute").fit(rows.toarray())
    with th.config(memory=4 << 20):  # a dense copy takes 16 MB
        found, near = search.kneighbors(rows), search.radius_neighbors(rows[:50], 6.0)
    expected = dense.kneighbors(rows.toarray())
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6, atol=1e-7)
    for a, b in zip(near[1], dense.radius_neighbors(rows[:50].toarray(), 6.0)[1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_results_beyond_the_memory_are_refused_before_they_are_made():
    rows = np.random.default_rng(4).random((3000, 2))
    search, brute = (th.NearestNeighbors(algorithm=each).fit(rows) for each in ("kd_tree", "brute"))
    with th.config(memory=1 << 20):
        for each in (search, brute):
            with pytest.raises(MemoryError, match=r"500 nearest rows of 3000 rows needs 45.* MiB"):
                each.kneighbors(rows, 500)
            with pytest.raises(
                MemoryError, match=r"3000 rows need more than 1 MiB.*smaller radius"
            ):
                each.radius_neighbors(rows, 2.0)
        with pytest.raises(MemoryError, match="100000 rows with 20 columns needs"):
            th.NearestNeighbors().fit(np.zeros((100_000, 20)))
        assert len(search.radius_neighbors(rows[:5], 0.1)[0]) == 5
        with pytest.raises(MemoryError, match="distances needs"):
            th.distances.Euclidean().pairwise(rows)
    own = th.NearestNeighbors(metric=lambda a, b: abs(a[0] - b[0])).fit(rows[:300])
    with th.config(memory=1 << 20), pytest.raises(MemoryError, match="need more than"):
        own.radius_neighbors(rows[:300], 2.0)


def test_many_classes_are_refused_before_the_votes_are_counted():
    model = th.KNeighborsClassifier(1).fit(np.arange(3000.0)[:, None], np.arange(3000))
    with th.config(memory=1 << 20), pytest.raises(MemoryError, match="for 3000 classes"):
        model.predict(np.arange(3000.0)[:, None])


FORGED = {
    "n_samples_fit_": 7,
    "n_features_in_": "3",
    "effective_metric_params_": 3,
    "p": -1.0,
    "n_neighbors": "five",
    "_index": None,
}


@pytest.mark.parametrize("name", [*FORGED, "_codes", "classes_", "outputs_2d_"])
def test_forged_fields_are_refused(name):
    model = th.KNeighborsClassifier().fit(X, LABELS[:, 0])
    codes = np.full(80, 9)
    wrong = {**FORGED, "_codes": codes, "classes_": "ab", "outputs_2d_": True}[name]
    state = {**model.__getstate__(), name: wrong}
    with pytest.raises((th.errors.DataError, th.errors.ParameterError)):
        th.KNeighborsClassifier.__new__(th.KNeighborsClassifier).__setstate__(state)


@pytest.mark.parametrize(
    "change",
    [
        {"rows": np.array([["a"]])},
        {"rows": np.ones(3)},
        {"rows": np.full((3, 3), np.nan)},
        {"distance": "euclidean"},
        {"distance": None},
        {"distance": th.distances.Canberra()},
        {"distance": th.distances.Mahalanobis(np.eye(2))},
        {"algorithm": "magic"},
        {"leaf_size": -1},
        {"leaf_size": "3"},
        {"axis": 3},
    ],
)
def test_forged_indices_are_refused(change):
    index = th.NearestNeighbors(algorithm="kd_tree").fit(X)._index
    with pytest.raises(th.errors.DataError):
        type(index)(**{**index.__getstate__(), **change})


def test_targets_of_a_forged_regressor_are_refused():
    model = th.KNeighborsRegressor().fit(X, Y)
    for wrong in (Y[:3], np.full(80, np.nan), "abc", None):
        with pytest.raises(th.errors.DataError):
            th.KNeighborsRegressor.__new__(th.KNeighborsRegressor).__setstate__(
                {**model.__getstate__(), "_targets": wrong}
            )


def test_a_search_or_a_tree_gives_its_rows():
    expected = th.NearestNeighbors(n_neighbors=2).fit(X).kneighbors(NEW)
    for given in (th.NearestNeighbors().fit(X), th.KDTree(X), th.BallTree(X)):
        found = th.NearestNeighbors(n_neighbors=2).fit(given).kneighbors(NEW)
        np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "l1"},
        {"metric": "l2"},
        {"metric": "infinity"},
        {"p": 1},
        {"p": np.inf},
        {"metric": "seuclidean", "metric_params": {"V": np.ones(3)}},
        {"metric": "mahalanobis", "metric_params": {"VI": np.eye(3)}},
        {"metric": "mahalanobis", "metric_params": {"V": np.eye(3)}},
    ],
    ids=repr,
)
def test_the_effective_metric_is_named_as_in_scikit_learn(options):
    from sklearn.neighbors import NearestNeighbors

    rows = np.random.default_rng(0).random((30, 3))
    found, expected = th.NearestNeighbors(**options), NearestNeighbors(**options)
    assert found.fit(rows).effective_metric_ == expected.fit(rows).effective_metric_
    wanted = expected.effective_metric_params_
    assert found.effective_metric_params_.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_array_equal(found.effective_metric_params_[name], value)


@pytest.mark.parametrize("name", ["KNeighborsClassifier", "RadiusNeighborsClassifier"])
def test_classifiers_of_several_labels_say_so(name):
    found, expected = get_tags(getattr(th, name)()), get_tags(getattr(peer, name)())
    assert found.classifier_tags == expected.classifier_tags
    assert found.target_tags == expected.target_tags


def test_sparse_rows_whose_differences_vanish_in_squares_are_told_apart_as_dense_ones_are():
    rows = np.zeros((40, 3))
    rows[1:, 0], rows[:, 1] = 1e-200, 3.0
    found = [
        th.NearestNeighbors(n_neighbors=40).fit(each).kneighbors(each[:1])
        for each in (rows, sp.csr_array(rows))
    ]
    np.testing.assert_array_equal(found[0][0], [[0.0] + 39 * [1e-200]])
    np.testing.assert_array_equal(found[1][0], found[0][0])
    np.testing.assert_array_equal(found[1][1], found[0][1])
    rows[5, 2] = 1.0
    assert th.NearestNeighbors().fit(sp.csr_array(rows)).kneighbors(rows[5:6])[1][0, 0] == 5


def test_searches_of_one_kind_need_no_parameter_of_the_other():
    X = np.random.default_rng(0).normal(size=(20, 2))
    ours, theirs = (
        kind(n_neighbors=None, radius=None).fit(X)
        for kind in (th.NearestNeighbors, peer.NearestNeighbors)
    )
    for query in (lambda m: m.kneighbors(X[:4], 3)[1], lambda m: m.kneighbors_graph(X, 2).indices):
        np.testing.assert_array_equal(query(ours), query(theirs))
    found, expected = (m.radius_neighbors(X, 0.7, sort_results=True)[1] for m in (ours, theirs))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(th.errors.ParameterError, match="NearestNeighbors: n_neighbors=None"):
        ours.kneighbors(X)
    with pytest.raises(th.errors.ParameterError, match="NearestNeighbors: radius=None"):
        ours.radius_neighbors(X)
    with pytest.raises(th.errors.ParameterError, match="n_neighbors=None"):
        th.KNeighborsClassifier(n_neighbors=None).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"p": 1000}, r"p=1000 is larger than 100.*p=float\('inf'\)"),
        ({"metric_params": {"w": [-1.0, 1.0]}}, r"Minkowski\(w="),
        ({"metric_params": {"w": [1.0]}}, "w holds 1 weights"),
        ({"metric": "mahalanobis", "metric_params": {"VI": np.zeros((2, 2))}}, "VI=.*inverse"),
        ({"metric": "mahalanobis", "metric_params": {"VI": "a"}}, "VI='a'"),
        ({"metric": "mahalanobis", "metric_params": {"V": np.eye(3)}}, "3 columns"),
        ({"metric": "seuclidean", "metric_params": {"V": [0.0, 1.0]}}, "must be positive"),
    ],
    ids=str,
)
def test_errors_of_the_distance_name_the_model(parameters, rule):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(th.errors.ThetahatError, match=f"(?s)^KNeighborsRegressor: .*{rule}"):
        th.KNeighborsRegressor(**parameters).fit(X, X[:, 0])


@pytest.mark.parametrize("metric", ["nan_euclidean", "jaccard", "mahalanobis"])
def test_sparse_rows_under_distances_of_dense_rows(metric):
    X = sp.csr_array(np.eye(6))
    with pytest.raises(TypeError, match=f"NearestNeighbors: .*{metric}.*sparse"):
        th.NearestNeighbors(metric=metric).fit(X)


def test_distances_that_overflow_under_a_small_power_are_an_error_without_a_warning():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(th.errors.DataError, match="too large"):
        th.NearestNeighbors(p=1e-5).fit(X).kneighbors()


def test_a_float_as_label_of_outliers_does_not_turn_labels_into_floats():
    rows, far = [[1.0], [3.0]], [[9.0], [3.0]]
    found = th.RadiusNeighborsClassifier(0.1, outlier_label=-1.0).fit(rows, [0, 1])
    with pytest.warns(UserWarning, match="Outlier label -1 is not"):
        labels = found.predict(far)
    assert labels.dtype.kind == "i"
    assert labels.tolist() == [-1, 1]
    for label in (1.5, np.nan):
        with pytest.raises(TypeError, match="kind in y, such as 0"):
            th.RadiusNeighborsClassifier(0.1, outlier_label=label).fit(rows, [0, 1])
    floats = th.RadiusNeighborsClassifier(0.1, outlier_label=-1.0).fit(rows, [0.0, 1.0])
    with pytest.warns(UserWarning, match="Outlier label"):
        assert floats.predict(far).dtype.kind == "f"
