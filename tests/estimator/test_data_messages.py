"""Errors of data that many estimators share: no rows, and precomputed matrices."""

import numpy as np
import pytest

import thetahat as th
from thetahat.catalog import estimators


@pytest.mark.parametrize(
    "name",
    ["LogisticRegression", "MLPClassifier", "KNeighborsClassifier", "GaussianNB", "SVC"],
)
@pytest.mark.parametrize("y", [[], np.array([], dtype=str)], ids=["list", "text"])
def test_classifiers_without_rows_name_the_rows(name, y):
    model = getattr(th, name)()
    with pytest.raises(th.errors.DataError, match=rf"0 sample\(s\) .* required by {name}: y has"):
        model.fit(np.empty((0, 3)), y)


DISTANCES = np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))
PRECOMPUTED = [
    th.KNeighborsClassifier(2, metric="precomputed"),
    th.LocalOutlierFactor(2, metric="precomputed"),
    th.AgglomerativeClustering(metric="precomputed", linkage="average"),
    th.SVC(kernel="precomputed"),
    th.KernelPCA(kernel="precomputed"),
    th.SpectralClustering(2, affinity="precomputed"),
    th.MDS(metric="precomputed"),
]


@pytest.mark.parametrize("model", PRECOMPUTED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_precomputed_matrices_have_pairs_and_no_columns(model, value):
    X = DISTANCES.copy()
    X[1, 5] = X[5, 1] = value
    words = r"2 of the 64 entries of the precomputed matrix .* row 1, column 5\).* pair of rows"
    with pytest.raises(th.errors.DataError, match=words) as caught:
        model.fit(X, np.arange(8) % 2)
    assert "SimpleImputer" not in str(caught.value)


def test_new_rows_of_a_precomputed_matrix():
    model = th.KNeighborsClassifier(2, metric="precomputed").fit(DISTANCES, np.arange(8) % 2)
    with pytest.raises(th.errors.DataError, match="1 of the 8 entries of the precomputed matrix"):
        model.predict([[0.0, 1.0, np.nan, 2.0, 1.0, 1.0, 1.0, 1.0]])


@pytest.mark.parametrize("size", [0.1, 5.0, 100.0])
def test_the_diagonal_of_precomputed_distances_has_no_effect(size):
    X = np.random.default_rng(0).normal(size=(30, 2))
    given = np.linalg.norm(X[:, None] - X, axis=2)
    other = given + size * np.eye(30)
    for model, name in (
        (th.LocalOutlierFactor(4, metric="precomputed"), "negative_outlier_factor_"),
        (th.AgglomerativeClustering(3, metric="precomputed", linkage="average"), "labels_"),
    ):
        expected = getattr(model.fit(given), name).copy()
        np.testing.assert_array_equal(getattr(model.fit(other), name), expected)
    search = th.NearestNeighbors(n_neighbors=3, metric="precomputed")
    expected = search.fit(given).kneighbors()[1]
    np.testing.assert_array_equal(search.fit(other).kneighbors()[1], expected)
    assert (np.diagonal(other) == size).all()


@pytest.mark.parametrize("name", estimators())
def test_a_source_is_no_target_of_rows_in_memory(name, tmp_path):
    rows = np.abs(np.random.default_rng(0).standard_normal((12, 2)))
    path = tmp_path / "rows.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b", comments="")
    with pytest.raises(th.errors.DataError, match=r"y is a FileSource.*th\.scan\(path, target="):
        estimators()[name]._example().fit(rows, th.scan(path))


@pytest.mark.parametrize("name", ["PCA", "Lasso", "GaussianNB", "KMeans", "KNeighborsClassifier"])
def test_rows_with_other_columns_name_the_remedy(name):
    X = np.random.default_rng(0).standard_normal((40, 6))
    model = getattr(th, name)().fit(X, X[:, 0] > 0)
    ask = model.transform if name == "PCA" else model.predict
    with pytest.raises(th.errors.DataError, match=r"has 3 features, .* same columns as in fit"):
        ask(X[:, :3])


def test_integers_that_no_float_holds_are_refused():
    X = np.random.default_rng(0).standard_normal((40, 2)).astype(object)
    X[0, 0] = 10**400
    with pytest.raises(th.errors.DataError, match="no float can hold"):
        th.DecisionTreeClassifier().fit(X, np.arange(40) % 2)


def test_unknown_arguments_name_the_function():
    with pytest.raises(TypeError, match=r"compare\(\) got .*'nonsense'; it takes models, X"):
        th.compare(np.zeros((4, 1)), np.zeros(4), nonsense=1)
