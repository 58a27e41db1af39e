"""ONNX graphs answer as the models from which they were made."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_clusterer as is_of_clusters
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import thetahat as th

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")


def rows(n=120, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4))


def targets(kind, X):
    y = X[:, 0] + X[:, 1] ** 2
    match kind:
        case "numbers":
            return y
        case "columns":
            return np.column_stack([y, X[:, 2]])
        case "counts":
            return np.random.default_rng(1).poisson(np.exp(X[:, 0] / 3))
        case "two":
            return y > 0.5
        case "three":
            return np.array(["a", "b", "c"])[(y > 0.2).astype(int) + (y > 1.2)]
        case "whole":
            return (y > 0.2).astype(np.int32) * 7 + (y > 1.2)


def evaluate(graph, X):
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


ANSWERS = {
    "predictions": "predict",
    "labels": "predict",
    "probabilities": "predict_proba",
    "scores": "decision_function",
    "distances": "transform",
    "features": "transform",
}


def is_clusterer(model):
    return is_of_clusters(model) or isinstance(
        model, th.GaussianMixture | th.BayesianGaussianMixture
    )


def require_equal(model, X, dtype=np.float64, tolerance=1e-11):
    found = evaluate(th.to_onnx(model, dtype=dtype), X.astype(dtype))
    assert ("labels" in found) == (hasattr(model, "classes_") or is_clusterer(model))
    if hasattr(model, "predict_proba") and not is_clusterer(model):
        assert "probabilities" in found
    for name, values in found.items():
        expected = getattr(model, ANSWERS[name])(X)
        if name == "labels":
            np.testing.assert_array_equal(values, expected)
        else:
            np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance)
        assert values.shape == expected.shape
    return found


LAYERS = (
    th.neural.BatchNorm(),
    6,
    th.neural.Residual([th.neural.Dense(6, "tanh"), th.neural.BatchNorm()]),
    th.neural.Activation("leaky_relu"),
    th.neural.Dropout(0.2),
)
KINDS = ("full", "tied", "diag", "spherical")
MODELS = [
    (th.LinearRegression(), "numbers"),
    (th.LinearRegression(), "columns"),
    (th.Lasso(alpha=0.1), "numbers"),
    (th.BayesianRidge(), "numbers"),
    (th.PoissonRegressor(), "counts"),
    (th.SGDRegressor(random_state=0), "numbers"),
    (th.LogisticRegression(), "two"),
    (th.LogisticRegression(), "three"),
    (th.LinearSVC(), "three"),
    (th.RidgeClassifier(), "whole"),
    (th.SGDClassifier(loss="log_loss", random_state=0), "two"),
    (th.SGDClassifier(random_state=0), "three"),
    (th.SGDClassifier(loss="log_loss", random_state=0), "three"),
    (th.SGDClassifier(loss="modified_huber", random_state=0), "two"),
    (th.SGDClassifier(loss="modified_huber", alpha=1e-6, random_state=0), "three"),
    (th.LinearModel("huber"), "numbers"),
    (th.LinearModel("poisson"), "counts"),
    (th.LinearModel("logistic"), "two"),
    (th.LinearModel("hinge"), "two"),
    (th.LinearModel("crammer_singer"), "two"),
    (th.KernelModel("multiclass_hinge"), "two"),
    (th.LinearModel("softmax_cross_entropy"), "three"),
    (th.DecisionTreeClassifier(max_depth=4), "three"),
    (th.DecisionTreeRegressor(), "numbers"),
    (th.DecisionTreeRegressor(), "columns"),
    (th.DecisionTreeRegressor(min_samples_leaf=100), "numbers"),
    (th.ExtraTreeClassifier(random_state=0), "two"),
    (th.RandomForestClassifier(n_estimators=7, random_state=0), "whole"),
    (th.RandomForestRegressor(n_estimators=7, random_state=0), "columns"),
    (th.ExtraTreesRegressor(n_estimators=7, random_state=0), "numbers"),
    (th.GradientBoostingClassifier(n_estimators=9, random_state=0), "three"),
    (th.GradientBoostingRegressor(n_estimators=9, random_state=0), "numbers"),
    (th.HistGradientBoostingClassifier(max_iter=9), "two"),
    (th.HistGradientBoostingClassifier(max_iter=9), "three"),
    (th.HistGradientBoostingRegressor(loss="poisson", max_iter=9), "counts"),
    (th.KernelRidge(kernel="rbf", gamma=0.3), "columns"),
    (th.KernelRidge(kernel=th.kernels.RBF(length_scale=(1.0, 2.0, 3.0, 4.0))), "numbers"),
    (th.KernelRidge(kernel=2.0 * th.kernels.RBF() + th.kernels.Linear()), "numbers"),
    (th.KernelModel("quantile"), "numbers"),
    (th.KernelLogisticRegression(), "three"),
    (th.MLPRegressor(hidden_layer_sizes=(8, 4), max_iter=5, random_state=0), "numbers"),
    (th.MLPRegressor("squared_error", (8,), "tanh", max_iter=5, random_state=0), "columns"),
    (th.MLPRegressor("poisson", (8,), max_iter=5, random_state=0), "counts"),
    (th.MLPClassifier((8,), "logistic", max_iter=5, random_state=0), "two"),
    (th.MLPClassifier((8, 4), ["leaky_relu", "identity"], max_iter=5, random_state=0), "three"),
    (th.MLPClassifier((8,), loss="hinge", dropout=0.2, max_iter=5, random_state=0), "two"),
    (th.MLPClassifier((8,), loss="crammer_singer", max_iter=5, random_state=0), "two"),
    (th.MLPClassifier((8,), loss="sign_logistic", max_iter=5, random_state=0), "three"),
    (th.MLPClassifier(LAYERS, max_iter=5, random_state=0), "three"),
    (th.SVC(), "two"),
    (th.SVC(kernel="poly"), "three"),
    (th.SVC(kernel="sigmoid", break_ties=True), "three"),
    (th.SVC(decision_function_shape="ovo"), "three"),
    (th.SVR(), "numbers"),
    (th.NuSVR(kernel="linear"), "numbers"),
    (th.LinearDiscriminantAnalysis(), "two"),
    (th.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), "three"),
    (th.LinearDiscriminantAnalysis(covariance="diagonal"), "three"),
    (th.QuadraticDiscriminantAnalysis(), "three"),
    (th.QuadraticDiscriminantAnalysis(covariance="diagonal"), "two"),
    (th.GaussianNB(), "three"),
    (th.GaussianNB(priors=[0.0, 0.3, 0.7]), "three"),
    (th.BernoulliNB(binarize=0.1), "whole"),
    (th.KNeighborsClassifier(), "three"),
    (th.KNeighborsClassifier(7, weights="distance"), "two"),
    (th.KNeighborsRegressor(), "numbers"),
    (th.KNeighborsRegressor(3, weights="distance"), "columns"),
    (th.KMeans(3, random_state=0), "numbers"),
    (th.MiniBatchKMeans(3, random_state=0), "numbers"),
    *((th.GaussianMixture(2, covariance_type=kind, random_state=0), "numbers") for kind in KINDS),
    *(
        (th.BayesianGaussianMixture(2, covariance_type=kind, random_state=0), "numbers")
        for kind in KINDS
    ),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("model", "kind"), MODELS, ids=lambda value: str(value)[:60])
def test_graphs_answer_as_their_models(model, kind):
    X = rows()
    require_equal(model.fit(X, targets(kind, X)), rows(50, seed=1))


@pytest.mark.parametrize(
    "steps",
    [
        (th.Standardizer(), th.PCA(2, whiten=True)),
        (StandardScaler(with_mean=False), th.PCA(3)),
        (MinMaxScaler(clip=True),),
        (th.TruncatedSVD(2), "passthrough"),
        ("passthrough", StandardScaler()),
        (RobustScaler(), MaxAbsScaler(), th.FactorAnalysis(2)),
        (th.FastICA(3, tol=0.99, random_state=0), th.IncrementalPCA(2)),
        (th.LinearDiscriminantAnalysis(),),
        (th.LinearDiscriminantAnalysis(solver="eigen"),),
        (th.KMeans(5, random_state=0),),
        (th.GaussianRandomProjection(3, random_state=0),),
        (th.SparseRandomProjection(3, density=0.5, random_state=0),),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:FastICA")  # the columns are Gaussian
def test_pipelines_are_one_graph(steps):
    X = rows()
    model = make_pipeline(*steps, th.LogisticRegression()).fit(X, targets("three", X))
    require_equal(model, rows(50, seed=1))


@pytest.mark.parametrize(
    "model",
    [th.PCA(2), th.TruncatedSVD(2), th.Standardizer(), make_pipeline(StandardScaler(), th.PCA(3))],
    ids=str,
)
def test_transformers_are_graphs_too(model):
    X = rows() + 10.0
    found = require_equal(model.fit(X), rows(50, seed=1) + 10.0)
    assert found.keys() == {"features"}


COUNTS = np.random.default_rng(2).poisson(1.0, size=(80, 6)).astype(float)


@pytest.mark.parametrize(
    "model",
    [
        th.MultinomialNB(),
        th.MultinomialNB(alpha=0.0),
        th.ComplementNB(),
        th.ComplementNB(norm=True),
        th.BernoulliNB(alpha=0.0),
        th.CategoricalNB(min_categories=10),
    ],
    ids=str,
)
def test_naive_bayes_of_counts(model):
    """Without smoothing, rows can be impossible in one class or in all of them."""
    y = np.repeat(["a", "b", "c", "d"], 20)
    X = COUNTS.copy()
    X[:20, 0] = X[20:40, 1] = X[:60, 5] = 0.0
    new = np.random.default_rng(3).poisson(0.5, size=(60, 6)).astype(float)
    require_equal(model.fit(X, y), new)


def test_values_that_are_no_categories_are_errors():
    model = th.CategoricalNB().fit(np.minimum(COUNTS, 2.0), np.arange(80) % 2)
    graph = th.to_onnx(model)
    for value in (3.0, -1.0, 0.5):
        with pytest.raises(Exception, match=r"out of bounds|indices element"):
            evaluate(graph, np.full((1, 6), value))


def test_gaussian_naive_bayes_leaves_missing_values_out():
    X, new = rows(), rows(50, seed=1)
    new[np.random.default_rng(0).random(new.shape) < 0.3] = np.nan
    new[0] = np.nan
    require_equal(th.GaussianNB().fit(X, targets("three", X)), new)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_equal_distances_and_equal_rows(weights):
    """Whole numbers have many equal distances, of which the first rows count."""
    X = np.random.default_rng(0).integers(0, 4, size=(200, 3)) + 1000.0
    y = np.random.default_rng(1).normal(size=200)
    model = th.KNeighborsRegressor(4, weights=weights).fit(X, y)
    require_equal(model, X[:100] + 0.0)


def test_missing_values_take_the_branches_of_the_model():
    X, new = rows(), rows(50, seed=1)
    for place, table in enumerate((X, new)):
        table[np.random.default_rng(place).random(table.shape) < 0.2] = np.nan
    y = targets("numbers", rows())
    require_equal(th.HistGradientBoostingRegressor(max_iter=9).fit(X, y), new)
    require_equal(th.DecisionTreeRegressor().fit(X, y), new)
    require_equal(make_pipeline(SimpleImputer(), th.Ridge()).fit(X, y), new)


def test_single_precision_takes_the_same_branches():
    X = rows(400).astype(np.float32)
    y = targets("numbers", X)
    model = th.DecisionTreeRegressor().fit(X, y)
    assert len(np.unique(model.predict(X))) > 300
    found = evaluate(th.to_onnx(model, dtype=np.float32), X)["predictions"]
    np.testing.assert_array_equal(found, model.predict(X).astype(np.float32))


def test_other_types_of_labels():
    X = rows()
    for labels in ([2.0, 3.0], np.array(["no", "yes"], dtype=object), [False, True]):
        y = np.asarray(labels)[targets("two", X).astype(int)]
        found = require_equal(th.LogisticRegression().fit(X, y), X)
        assert set(found["labels"].tolist()) == set(labels)


def test_sparse_coefficients():
    X = rows()
    model = th.LogisticRegression(penalty="l1", C=0.1, solver="liblinear")
    require_equal(model.fit(X, targets("two", X)).sparsify(), X)


def test_the_file_is_the_graph(tmp_path):
    X = rows()
    model = th.Ridge().fit(X, targets("numbers", X))
    graph = th.to_onnx(model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == graph.SerializeToString()


def test_paths_that_cannot_be_written(tmp_path):
    X = rows()
    model = th.Ridge().fit(X, targets("numbers", X))
    with pytest.raises(th.errors.DataError, match=r"absent is not a directory.* Create"):
        th.to_onnx(model, tmp_path / "absent" / "model.onnx")
    with pytest.raises(th.errors.DataError, match="is a directory"):
        th.to_onnx(model, tmp_path)


class OtherPredictions(th.Ridge):
    """Predicts in another way than its base class."""

    def predict(self, X):
        return 2 * super().predict(X)


@pytest.mark.parametrize(
    ("model", "part"),
    [
        (th.RadiusNeighborsRegressor(9.0), "RadiusNeighborsRegressor is not available"),
        (th.KNeighborsRegressor(metric="manhattan"), "metric='manhattan'"),
        (th.KNeighborsRegressor(weights=np.exp), "weights from a function"),
        (OtherPredictions(), "OtherPredictions is not available"),
        (make_pipeline(th.MonomialExpansion(), th.Ridge()), "step MonomialExpansion"),
        (th.KernelRidge(kernel="laplacian"), "kernel Laplacian"),
        (th.GradientBoostingRegressor(init=th.Ridge(), n_estimators=2), "init=Ridge"),
        (th.DecisionTreeRegressor(oblique=2, random_state=0), "oblique=2"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_not_available_is_named(model, part):
    X = rows()
    model.fit(X, targets("numbers", X))
    with pytest.raises(th.errors.CapabilityError, match=part):
        th.to_onnx(model)


CATEGORIES = [
    th.DecisionTreeRegressor(categorical_features=[1, 3]),
    th.DecisionTreeClassifier(categorical_features=[1, 3], max_depth=6),
    th.RandomForestRegressor(n_estimators=5, categorical_features=[1, 3], random_state=0),
    th.HistGradientBoostingRegressor(max_iter=9, categorical_features=[1, 3]),
    th.HistGradientBoostingClassifier(max_iter=9, categorical_features=[1, 3]),
]


@pytest.mark.parametrize("model", CATEGORIES, ids=lambda model: type(model).__name__)
def test_sets_of_categories(model):
    """Also categories that were not in fit, and missing ones."""
    random = np.random.default_rng(0)
    X = np.column_stack([rows(400)[:, :1], random.integers(0, 40, 400) * 1.5, rows(400)[:, 1:3]])
    X[:, 3] = random.choice([-1.0, 0.25, 7.0], 400)
    X[:30, 1] = X[30:60, 3] = X[60:70, 0] = np.nan
    effect = random.normal(size=60)[np.nan_to_num(X[:, 1]).astype(int)]
    y = effect + np.where(X[:, 3] == 0.25, 2.0, 0.0) + np.nan_to_num(X[:, 0])
    if hasattr(model, "predict_proba"):
        y = np.array(["a", "b", "c"])[(y > 0).astype(int) + (y > 1)]
    new = X[random.permutation(400)[:150]] + 0.0
    new[:5, 1], new[5:10, 3] = 1.0, 99.0
    model.fit(X, y)
    require_equal(model, new)
    require_equal(model, new.astype(np.float32).astype(float), np.float32, 1e-5)


def test_categories_that_are_text_are_refused():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(
        {"x": rows()[:, 0], "colour": np.array(["red", "blue"])[np.arange(120) % 2]}
    )
    model = th.DecisionTreeRegressor().fit(X, np.arange(120) % 2)
    with pytest.raises(th.errors.CapabilityError, match=r"'colour' holds .* such as 'blue'"):
        th.to_onnx(model)


def test_bad_arguments():
    with pytest.raises(th.errors.ParameterError, match=r"numpy\.float64 or numpy\.float32"):
        th.to_onnx(th.Ridge(), dtype=int)
    with pytest.raises(Exception, match="not fitted"):
        th.to_onnx(th.Ridge())
    with pytest.raises(th.errors.CapabilityError, match="str is not available"):
        th.to_onnx("Ridge")
    with pytest.raises(th.errors.CapabilityError, match=r"NaiveBayes is not .* GaussianNB"):
        th.to_onnx(th.NaiveBayes().fit(rows(), np.arange(120) % 2))
