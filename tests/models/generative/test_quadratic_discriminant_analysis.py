"""Quadratic discriminant analysis: its formula, its peer, and singular covariances."""

import numpy as np
import pytest
import sklearn.discriminant_analysis as peer
from scipy.stats import multivariate_normal
from sklearn.covariance import ShrunkCovariance
from sklearn.naive_bayes import GaussianNB

import thetahat as th
from tests.models.generative.generative_cases import IRIS, crosses, gaussians
from thetahat import _native
from thetahat.foundation.errors import IllConditionedWarning
from thetahat.models.generative import quadratic_discriminant_analysis as module
from thetahat.models.generative.whitened_squares import ClassDifferences

QDA = th.QuadraticDiscriminantAnalysis


def test_the_smallest_corrected_distance_wins():
    """(x − μ)ᵀΣ⁻¹(x − μ) + log det Σ − 2 log π, with Σ by maximum likelihood."""
    X, y = gaussians(seed=1)
    model = QDA(store_covariance=True).fit(X, y)
    distance = np.empty((len(X), 3))
    for c in range(3):
        rows = X[y == c]
        np.testing.assert_allclose(model.means_[c], rows.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(model.covariance_[c], np.cov(rows.T, bias=True), rtol=1e-9)
        assert model.priors_[c] == pytest.approx(np.mean(y == c))
        away = X - rows.mean(axis=0)
        covariance = np.cov(rows.T, bias=True)
        distance[:, c] = np.einsum("nd,nd->n", away @ np.linalg.inv(covariance), away)
        distance[:, c] += np.linalg.slogdet(covariance)[1] - 2 * np.log(np.mean(y == c))
    np.testing.assert_array_equal(model.predict(X), distance.argmin(axis=1))
    np.testing.assert_allclose(model.decision_function(X), -0.5 * distance, rtol=1e-9)


@pytest.mark.parametrize("d", [3, 150], ids=["one product", "panels"])
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_joint_density_is_that_of_the_gaussians(d, covariance):
    X, y = gaussians(n=1200, d=d, seed=2)
    model = QDA(store_covariance=True, covariance=covariance).fit(X, y)
    joint = np.stack(
        [
            multivariate_normal(model.means_[c], model.covariance_[c]).logpdf(X)
            + np.log(model.priors_[c])
            for c in range(3)
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-7)
    np.testing.assert_allclose(model.log_density(X), np.logaddexp.reduce(joint, axis=1), rtol=1e-7)
    posterior = joint - np.logaddexp.reduce(joint, axis=1)[:, None]
    np.testing.assert_allclose(model.predict_proba(X), np.exp(posterior), atol=1e-7)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"solver": "eigen"},
        {"reg_param": 0.2},
        {"solver": "eigen", "shrinkage": 0.3},
        {"solver": "eigen", "shrinkage": "auto"},
        {"priors": [0.2, 0.3, 0.5]},
        {"solver": "eigen", "covariance_estimator": ShrunkCovariance(shrinkage=0.2)},
    ],
    ids=str,
)
def test_equals_scikit_learn(options):
    ours, theirs = QDA(**options).fit(*IRIS), peer.QuadraticDiscriminantAnalysis(**options)
    theirs.fit(*IRIS)
    np.testing.assert_allclose(
        ours.predict_proba(IRIS[0]), theirs.predict_proba(IRIS[0]), atol=1e-9
    )
    np.testing.assert_allclose(
        ours.decision_function(IRIS[0]), theirs.decision_function(IRIS[0]), rtol=1e-8
    )
    for name in ("means_", "priors_", "scalings_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8)
    for ours_axes, theirs_axes in zip(ours.rotations_, theirs.rotations_, strict=True):
        np.testing.assert_allclose(np.abs(ours_axes), np.abs(theirs_axes), atol=1e-7)


def test_diagonal_is_gaussian_naive_bayes():
    model = QDA(covariance="diagonal").fit(*IRIS)
    theirs = GaussianNB(var_smoothing=0.0).fit(*IRIS)
    np.testing.assert_allclose(
        model.predict_proba(IRIS[0]), theirs.predict_proba(IRIS[0]), atol=1e-9
    )
    np.testing.assert_allclose(
        model.predict_joint_log_proba(IRIS[0]), theirs.predict_joint_log_proba(IRIS[0]), rtol=1e-9
    )


def test_equal_covariances_give_linear_discriminants():
    X, y = crosses([0, 0], [2, 0], [1, 4])
    rows = np.random.default_rng(0).normal(size=(30, 2))
    np.testing.assert_allclose(
        QDA().fit(X, y).predict_proba(rows),
        th.LinearDiscriminantAnalysis().fit(X, y).predict_proba(rows),
        rtol=1e-9,
    )


def test_a_column_that_is_constant_everywhere_has_no_effect():
    X, y = gaussians()
    model = QDA().fit(np.column_stack([X, np.full(len(X), 0.1)]), y)
    assert model.ranks_.tolist() == [3, 3, 3]
    np.testing.assert_allclose(
        model.predict_proba(np.column_stack([X, np.full(len(X), 0.1)])),
        QDA().fit(X, y).predict_proba(X),
        atol=1e-8,
    )
    off = model.log_density(np.column_stack([X[:1], [0.2]]))
    assert off < model.log_density(np.column_stack([X[:1], [0.1]])) - 1e5


def test_a_column_that_is_constant_in_one_class_decides_for_or_against_it():
    X, y = gaussians(d=2, classes=2, apart=0.0)
    column = np.where(y == 0, 3.0, np.random.default_rng(1).normal(3.0, 1.0, len(y)))
    with pytest.warns(IllConditionedWarning, match="covariance of class 0 has rank 2, but 3 col"):
        model = QDA().fit(np.column_stack([X, column]), y)
    assert model.ranks_.tolist() == [2, 3]
    assert model.predict([[0.0, 0.0, 3.0], [0.0, 0.0, 3.1]]).tolist() == [0, 1]


def test_dependent_columns_warn_and_change_nothing():
    X, y = gaussians(seed=5)
    both = np.column_stack([X, X @ [1.0, -2.0, 0.5]])
    with pytest.warns(IllConditionedWarning, match=r"class 0 \(and 2 more\) has rank 3, but 4"):
        model = QDA().fit(both, y)
    agree = model.predict(both) == QDA().fit(X, y).predict(X)
    assert agree.all()


def test_the_warning_names_the_limit_of_small_deviations():
    X, y = gaussians(d=2, classes=2, apart=0.0)
    small = np.column_stack([X, np.where(y == 0, 1e-5, 1.0) * np.arange(len(y)) % 1.0])
    with pytest.warns(IllConditionedWarning, match=r"is at most 0\.0001 \(tol\)\. It is raised to"):
        QDA().fit(small, y)
    X = np.column_stack([X, X[:, 0]])
    with pytest.warns(IllConditionedWarning, match=r"\(the limit of rounding errors\)"):
        QDA(tol=0.0).fit(X, y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [th.QuadraticDiscriminantAnalysis, th.LinearDiscriminantAnalysis])
def test_nearly_singular_classes_keep_their_digits(kind, weighted):
    """A linear map of all rows changes no posterior; the rows and the map are exact in binary."""
    random = np.random.default_rng(4)
    y = np.repeat([0, 1], 60)
    B = random.integers(-4096, 4096, (120, 3)) / 1024.0 + y[:, None]
    weight = random.integers(1, 4, 120) if weighted else None
    e = 2.0**-20
    X = B @ np.array([[1.0, 0.0, 1.0], [0.0, 1.0, -0.5], [0.0, 0.0, e]])
    assert np.array_equal((X[:, 2] - X[:, 0] + 0.5 * X[:, 1]) / e, B[:, 2])
    thin = kind(tol=0.0).fit(X, y, sample_weight=weight)
    wide = kind(tol=0.0).fit(B, y, sample_weight=weight)
    np.testing.assert_allclose(
        thin.predict_log_proba(X), wide.predict_log_proba(B), rtol=1e-8, atol=1e-8
    )


def test_fewer_rows_than_columns_in_a_class():
    random = np.random.default_rng(8)
    y = np.repeat([0, 1], 15)
    maps = random.normal(size=(2, 3, 40))
    X = np.stack([random.normal(size=3) @ maps[c] for c in y])
    with pytest.warns(IllConditionedWarning, match="rank 3, but 40 columns vary"):
        model = QDA().fit(X, y)
    new = np.repeat([0, 1], 50)
    rows = np.stack([random.normal(size=3) @ maps[c] for c in new])
    assert (model.predict(rows) == new).all()  # each class is recognised by its subspace
    assert np.isfinite(model.log_density(rows)).all()
    assert QDA(shrinkage="auto").fit(X, y).score(X, y) == 1.0


def test_a_class_of_one_row_is_refused_unless_regularised():
    X, y = [[0.0], [1.0], [2.0]], ["a", "a", "b"]
    with pytest.raises(ValueError, match=r"only 1 sample in class b.*reg_param"):
        QDA().fit(X, y)
    assert QDA(reg_param=0.5).fit(X, y).predict([[0.4], [2.1]]).tolist() == ["a", "b"]


def test_classes_a_million_standard_deviations_apart():
    X, y = gaussians(seed=3, apart=0.0)
    means = 1e6 * np.array([[1.0, 5.0, 2.0], [-3.0, 0.0, 1.0], [4.0, 4.0, -7.0]])
    near = QDA(store_covariance=True).fit(X, y)
    far = QDA(store_covariance=True).fit(X + means[y], y)
    np.testing.assert_allclose(far.covariance_, near.covariance_, rtol=1e-6, atol=1e-7)
    expected = near.predict_joint_log_proba(X)[np.arange(len(X)), y]
    np.testing.assert_allclose(far.log_density(X + means[y]), expected, rtol=1e-6)


def test_a_column_in_other_units_changes_nothing():
    X, y = gaussians()
    scale = np.array([1e3, 1.0, 1e-5])
    np.testing.assert_allclose(
        QDA().fit(X * scale, y).predict_proba(X * scale), QDA().fit(X, y).predict_proba(X)
    )


def test_many_classes():
    X, y = gaussians(n=6000, d=3, classes=200, apart=9.0)
    theirs = peer.QuadraticDiscriminantAnalysis(tol=0.0).fit(X, y)
    assert np.mean(QDA().fit(X, y).predict(X) == theirs.predict(X)) == 1.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "lsqr"}, "solver='lsqr' must be one of"),
        ({"reg_param": -0.1}, "reg_param"),
        ({"shrinkage": 2.0}, "shrinkage"),
        ({"tol": -1.0}, "tol"),
        ({"priors": [0.5, 0.5]}, "priors has shape"),
        ({"priors": "uniform"}, "priors"),
        ({"shrinkage": 0.1, "covariance_estimator": ShrunkCovariance()}, "Only one of the two"),
        ({"covariance": "diagonal", "covariance_estimator": ShrunkCovariance()}, "cannot be comb"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        QDA(**options).fit(*IRIS)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", ["plain", "alike", "dependent", "units"])
def test_labels_from_single_precision_are_those_of_double_precision(case, dtype):
    """Also of rows on the boundary, far away or with missing values."""
    random = np.random.default_rng(5)
    n, d = 1500, 30
    y = np.arange(n) % 3
    X = random.standard_normal((n, d)) + (0.0 if case == "alike" else 0.3) * y[:, None]
    if case == "alike":
        X[:500] = X[500:1000]
    elif case == "dependent":
        X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    elif case == "units":
        X *= 10.0 ** random.integers(-12, 12, d)
    model = th.QuadraticDiscriminantAnalysis().fit(X.astype(dtype), y)
    half = (model._class_means[0] + model._class_means[1]) / 2
    rows = np.vstack([X, half + 1e-9 * (X - half), 1e9 * X, 1e25 * X[:9]]).astype(dtype)
    rows[7, 3] = np.nan
    scores = model.predict_joint_log_proba(rows)
    usual = np.abs(scores).max(axis=1) < 1e25
    np.testing.assert_array_equal(model.predict(rows)[usual], scores.argmax(axis=1)[usual])
    assert len(np.unique(model.predict(rows[:n]))) == 3


def test_rows_near_the_boundary_are_decided_in_double_precision(monkeypatch):
    random = np.random.default_rng(1)
    d = 40
    X = random.standard_normal((4000, d)) @ (np.eye(d) + 0.5 * random.standard_normal((d, d)))
    y = np.arange(4000) % 2
    model = th.QuadraticDiscriminantAnalysis().fit(X, y)
    # Rows between two of different labels, as near to the boundary as single precision is exact.
    low, high = X[model.predict(X) == 0][:900], X[model.predict(X) == 1][:900]
    for _ in range(20):
        middle = (low + high) / 2
        first = (model.decision_function(middle) <= 0)[:, None]
        low, high = np.where(first, middle, low), np.where(first, high, middle)
    rows = np.vstack([low, high])
    expected = (model.decision_function(rows) > 0).astype(int)
    np.testing.assert_array_equal(model.predict(rows), expected)
    found, squares = [], module.whitened_squares
    monkeypatch.setattr(module, "whitened_squares", lambda *a: found.append(a[0]) or squares(*a))
    model.predict(rows)
    assert 0 < len(found[0]) <= 1800


@pytest.mark.parametrize("d", [5, 40])
def test_errors_of_single_precision_are_within_their_bounds(d):
    random = np.random.default_rng(3)
    y = np.arange(900) % 3
    X = (1.0 + 0.2 * y[:, None]) * random.standard_normal((900, d)) + 0.3 * y[:, None]
    model = th.QuadraticDiscriminantAnalysis().fit(X, y)
    given = (model._centre, model._roots, model._offsets(), model._levels)
    differences = ClassDifferences.of(*given)
    forms = np.empty((900, 3))
    triangles = (differences.triangles, differences.slopes)
    _native.quadratic_forms(X, differences.centre, differences.scale, *triangles, forms)
    scores = model.predict_joint_log_proba(X)
    off = np.abs(differences.levels - 0.5 * forms[:, :-1] - (scores[:, 1:] - scores[:, :1]))
    assert (off <= differences.errors(np.sqrt(forms[:, -1]))).all()
    assert differences.errors(np.sqrt(forms[:, -1])).max() < 0.05
    best, doubt = differences.best(X)
    np.testing.assert_array_equal(np.delete(best, doubt), np.delete(scores.argmax(axis=1), doubt))
    assert len(doubt) < 20


def test_large_predictions_of_a_class_of_probability_zero():
    random = np.random.default_rng(6)
    X, y = random.standard_normal((3000, 20)), np.arange(3000) % 3
    for priors in ([0.0, 0.5, 0.5], [0.5, 0.0, 0.5]):
        model = th.QuadraticDiscriminantAnalysis(priors=priors).fit(X, y)
        labels = model.predict(X)
        np.testing.assert_array_equal(labels, model.predict_joint_log_proba(X).argmax(axis=1))
        assert not (labels == priors.index(0.0)).any()
