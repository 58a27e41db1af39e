"""Linear discriminant analysis: worked numbers, its three derivations, and its peer."""

import warnings

import numpy as np
import pytest
import sklearn.discriminant_analysis as peer
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.covariance import ShrunkCovariance

import thetahat as th
from tests.models.generative.generative_cases import IRIS, crosses, gaussians
from thetahat.foundation.errors import IllConditionedWarning

LDA = th.LinearDiscriminantAnalysis


def test_worked_boundary_between_two_classes_with_the_identity():
    """μ₀ = (0, 0), μ₁ = (2, 0), Σ = I and equal priors: the boundary is x₁ = 1."""
    model = LDA(store_covariance=True).fit(*crosses([0, 0], [2, 0]))
    np.testing.assert_allclose(model.covariance_, np.eye(2), atol=1e-14)
    np.testing.assert_allclose(model.coef_, [[2.0, 0.0]], atol=1e-14)
    np.testing.assert_allclose(model.intercept_, [-2.0], atol=1e-14)
    assert model.predict([[0.999, 50.0], [1.001, -50.0]]).tolist() == [0, 1]
    np.testing.assert_allclose(model.decision_function([[1.0, 7.0]]), 0.0, atol=1e-13)


@pytest.mark.parametrize(("share", "x0"), [(0.5, 1.0), (0.8, 1.0 - 0.5 * np.log(4.0))])
def test_worked_posterior_is_logistic_about_x0(share, x0):
    """p(1 | x) = σ(wᵀ(x − x₀)): x₀ = (1, 0), and (0.306853, 0) for π₁ = 0.8."""
    assert share == 0.5 or x0 == pytest.approx(0.306853, abs=1e-6)
    model = LDA(priors=[1 - share, share]).fit(*crosses([0, 0], [2, 0]))
    rows = np.random.default_rng(0).normal(size=(20, 2))
    expected = expit((rows - [x0, 0.0]) @ [2.0, 0.0])
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], expected, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba([[x0, 3.0]]), 0.5)


def test_scores_are_those_of_the_corrected_formula_and_the_largest_wins():
    """2μᵀΣ⁻¹x − μᵀΣ⁻¹μ + 2 log π is twice the score; two classes: class 1 iff wᵀx + b ≥ 0."""
    X, y = gaussians(classes=4)
    model = LDA(solver="lsqr").fit(X, y)
    solved = np.linalg.solve(model.covariance_, model.means_.T)
    scores = (
        2 * X @ solved - np.einsum("cd,dc->c", model.means_, solved) + 2 * np.log(model.priors_)
    )
    away = model.decision_function(X) - 0.5 * scores
    np.testing.assert_allclose(away - away[:, :1], 0.0, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    two = y < 2
    binary = LDA().fit(X[two], y[two])
    above = X[two] @ binary.coef_[0] + binary.intercept_[0] >= 0
    np.testing.assert_array_equal(binary.predict(X[two]), above.astype(int))


def parallel(a, b):
    return abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.parametrize("sizes", [(20, 20), (30, 10)])
def test_three_derivations_give_one_direction(sizes):
    """Gaussian, Fisher and least squares; the intercept of least squares only if balanced."""
    random = np.random.default_rng(7)
    y = np.repeat([-1.0, 1.0], sizes)
    X = random.normal(size=(40, 3)) @ random.normal(size=(3, 3)) + np.outer(y > 0, [1.0, 2.0, 0.5])
    gaussian = LDA().fit(X, y)
    lsq = th.LinearRegression().fit(X, y)
    fisher = gaussian.scalings_[:, 0]
    assert parallel(gaussian.coef_[0], lsq.coef_) == pytest.approx(1.0, abs=1e-12)
    assert parallel(gaussian.coef_[0], fisher) == pytest.approx(1.0, abs=1e-12)
    factor = gaussian.coef_[0, 0] / lsq.coef_[0]
    same = gaussian.intercept_[0] == pytest.approx(factor * lsq.intercept_, rel=1e-9)
    assert same == (sizes[0] == sizes[1])


def test_fishers_direction_maximises_his_criterion():
    X, y = gaussians(classes=2, seed=3)
    model = LDA(store_covariance=True).fit(X, y)
    gap = model.means_[1] - model.means_[0]

    def criterion(w):
        return (gap @ w) ** 2 / (w @ model.covariance_ @ w)

    best = criterion(model.scalings_[:, 0])
    for other in np.random.default_rng(0).normal(size=(200, X.shape[1])):
        assert criterion(other) <= best * (1 + 1e-12)
    projected = model.transform(X)[:, 0]
    nearest = th.NearestCentroid().fit(projected[:, None], y)
    balanced = LDA(priors=[0.5, 0.5]).fit(X, y)
    np.testing.assert_array_equal(nearest.predict(projected[:, None]), balanced.predict(X))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"solver": "lsqr"},
        {"solver": "eigen"},
        {"solver": "lsqr", "shrinkage": 0.3},
        {"solver": "eigen", "shrinkage": 0.0},
        {"solver": "lsqr", "shrinkage": "auto"},
        {"priors": [0.2, 0.3, 0.5]},
        {"solver": "lsqr", "covariance_estimator": ShrunkCovariance(shrinkage=0.2)},
        {"solver": "lsqr", "priors": [0.2, 0.3, 0.5]},
        {"solver": "eigen", "shrinkage": 0.3, "priors": [0.2, 0.3, 0.5]},
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_equals_scikit_learn(options, classes):
    X, y = IRIS[0][IRIS[1] < classes], IRIS[1][IRIS[1] < classes]
    if "priors" in options and classes == 2:
        options = options | {"priors": [0.3, 0.7]}
    ours, theirs = LDA(**options).fit(X, y), peer.LinearDiscriminantAnalysis(**options).fit(X, y)
    for name in ("coef_", "intercept_", "means_", "priors_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)
    scores = ours.decision_function(X)
    np.testing.assert_allclose(scores, theirs.decision_function(X), rtol=1e-8, atol=1e-8)
    linear = X @ ours.coef_.T + ours.intercept_
    np.testing.assert_allclose(scores, linear if classes > 2 else linear[:, 0], atol=1e-10)
    if hasattr(theirs, "scalings_") and not {"shrinkage", "priors"} <= options.keys():
        np.testing.assert_allclose(
            np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-7, atol=1e-8
        )
        np.testing.assert_allclose(
            ours.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=1e-9
        )
    if hasattr(theirs, "covariance_"):
        np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", ["svd", "lsqr"])
@pytest.mark.parametrize("wide", [False, True])
def test_one_rule_weights_the_covariances_of_the_classes(solver, wide):
    """By the rows for "svd", by the priors for "lsqr", with and without an estimator."""
    X, y = gaussians(classes=3, seed=4)
    kept = (y < 2) | (np.arange(len(y)) % 3 == 0)
    X, y = X[kept], y[kept]
    if wide:
        X, y = np.random.default_rng(0).normal(size=(20, 30)), np.arange(20) % 3
    priors = np.array([0.6, 0.3, 0.1])
    shares = np.bincount(y) / len(y) if solver == "svd" else priors
    expected = sum(s * np.cov(X[y == c].T, bias=True) for c, s in enumerate(shares))
    options = {"solver": solver, "priors": priors, "store_covariance": True, "tol": 1e-6}
    for more in ({}, {"covariance_estimator": th.EmpiricalCovariance()}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IllConditionedWarning)
            model = LDA(**options, **more).fit(X, y)
        np.testing.assert_allclose(model.covariance_, expected, rtol=1e-8, atol=1e-9)
    diagonal = LDA(**options, covariance="diagonal").fit(X, y)
    np.testing.assert_allclose(diagonal.covariance_.diagonal(), expected.diagonal(), rtol=1e-9)
    if not wide:
        batches = LDA(**options)
        for part in (slice(0, 50), slice(50, None)):
            batches.partial_fit(X[part], y[part], classes=[0, 1, 2])
        np.testing.assert_allclose(batches.covariance_, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", [LDA, th.QuadraticDiscriminantAnalysis])
def test_covariance_estimators_get_the_row_weights(kind):
    X, y = gaussians(seed=7)
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    model = kind(covariance_estimator=th.OAS())
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-10)
    with pytest.raises(TypeError, match=r"ShrunkCovariance\.fit takes no sample_weight"):
        kind(covariance_estimator=ShrunkCovariance()).fit(X, y, sample_weight=weight)


def test_scores_of_rows_with_missing_values_and_of_sparse_rows():
    import scipy.sparse as sp

    X, y = gaussians(seed=7)
    model = LDA(solver="lsqr").fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_allclose(model.decision_function(sp.csr_array(X)), scores, rtol=1e-10)
    np.testing.assert_allclose(model.decision_function(X[:1]), scores[:1], rtol=1e-10)
    rows = X[:5].copy()
    rows[:, 1] = np.nan
    away = model.decision_function(rows) - model.predict_log_proba(rows)
    np.testing.assert_allclose(away - away[:, :1], 0.0, atol=1e-10)


def test_diagonal_uses_variances_alone():
    X, y = gaussians()
    model = LDA(covariance="diagonal", store_covariance=True).fit(X, y)
    variance = np.mean((X - model.means_[y]) ** 2, axis=0)
    np.testing.assert_allclose(model.covariance_, np.diag(variance))
    joint = np.stack(
        [
            multivariate_normal(mean, np.diag(variance)).logpdf(X) + np.log(share)
            for mean, share in zip(model.means_, model.priors_, strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))
    assert model.transform(X).shape == (len(X), 2)


def test_diagonal_equals_full_on_columns_without_correlation():
    X, y = crosses([0, 0], [2, 0], [1, 3])
    rows = np.random.default_rng(1).normal(size=(9, 2))
    np.testing.assert_allclose(
        LDA(covariance="diagonal").fit(X, y).predict_proba(rows),
        LDA().fit(X, y).predict_proba(rows),
        rtol=1e-10,
    )


def test_joint_density_is_that_of_the_gaussians():
    X, y = gaussians()
    model = LDA(store_covariance=True).fit(X, y)
    joint = np.stack(
        [
            multivariate_normal(mean, model.covariance_).logpdf(X) + np.log(share)
            for mean, share in zip(model.means_, model.priors_, strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-10)
    np.testing.assert_allclose(model.log_density(X), np.logaddexp.reduce(joint, axis=1))


def test_classes_a_million_standard_deviations_apart():
    random = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], 500)
    noise = random.normal(size=(1500, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.3], [0, 0, 1]])
    means = 1e6 * np.array([[1, 5, 2], [-3, 0, 1], [4, 4, -7]])
    near, far = LDA(store_covariance=True).fit(noise, y), LDA(store_covariance=True)
    far.fit(noise + means[y], y)
    np.testing.assert_allclose(far.covariance_, near.covariance_, rtol=1e-7, atol=1e-8)
    assert far.score(noise + means[y], y) == 1.0
    density = multivariate_normal(far.means_[1], far.covariance_).logpdf(noise + means[1])
    expected = density + np.log(1 / 3)
    np.testing.assert_allclose(
        far.log_density(noise + means[1])[y == 1], expected[y == 1], rtol=1e-6
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_fewer_rows_than_columns(sparse):
    import scipy.sparse as sp

    random = np.random.default_rng(4)
    X, y = random.normal(size=(30, 80)), np.repeat([0, 1, 2], 10)
    X[y == 1, :4] += 3.0
    with pytest.warns(IllConditionedWarning, match="rank 27, but 80 columns vary"):
        few = LDA().fit(sp.csr_array(X) if sparse else X, y)
    theirs = peer.LinearDiscriminantAnalysis().fit(X, y)
    assert few.rank_ == 27
    rows = random.normal(size=(50, 80))
    np.testing.assert_allclose(few.predict_proba(rows), theirs.predict_proba(rows), atol=1e-6)
    with pytest.warns(IllConditionedWarning):
        products = LDA().fit(np.tile(X, (3, 1)), np.tile(y, 3))  # more rows than columns
    np.testing.assert_allclose(few.predict_proba(rows), products.predict_proba(rows), atol=1e-6)
    np.testing.assert_allclose(few.log_density(rows), products.log_density(rows), rtol=1e-6)


def test_dependent_columns_are_left_out_with_a_warning():
    X, y = gaussians()
    both = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])
    with pytest.warns(IllConditionedWarning, match=r"rank 3, but 4 columns vary.*shrinkage"):
        model = LDA().fit(both, y)
    np.testing.assert_allclose(
        model.predict_proba(both), LDA().fit(X, y).predict_proba(X), atol=1e-9
    )


def test_samples_and_marginals_of_dependent_columns_have_the_covariance():
    X, y = gaussians()
    X = np.column_stack([X * [1.0, 5.0, 0.2], X @ [1.0, 2.0, 3.0]])
    with pytest.warns(IllConditionedWarning):
        model = LDA(store_covariance=True).fit(X, y)
    rows, labels = model.sample(20_000, random_state=0)
    unit = np.sqrt(model.covariance_.diagonal())
    noise = (rows - model.means_[labels]) / unit
    expected = model.covariance_ / np.outer(unit, unit)
    np.testing.assert_allclose(noise.T @ noise / len(noise), expected, atol=0.03)
    known = X[:5].copy()
    known[:, 3] = np.nan
    part = LDA().fit(X[:, :3], y).predict_joint_log_proba(X[:5, :3])
    np.testing.assert_allclose(model.predict_joint_log_proba(known), part, rtol=1e-8)


def test_a_constant_column_has_no_effect():
    X, y = gaussians()
    constant = np.column_stack([X, np.full(len(X), 0.1)])
    model = LDA().fit(constant, y)
    assert model.rank_ == 3
    off = np.column_stack([X, np.full(len(X), 7.0)])
    np.testing.assert_allclose(model.predict_proba(off), LDA().fit(X, y).predict_proba(X))


def test_a_column_scaled_by_a_power_of_ten_changes_nothing():
    X, y = gaussians()
    scale = np.array([1e3, 1.0, 1e-5])
    np.testing.assert_allclose(
        LDA().fit(X * scale, y).predict_proba(X * scale), LDA().fit(X, y).predict_proba(X)
    )


def test_classes_of_one_row_are_fitted_with_the_others():
    X = np.array([[0.0, 0.0], [1.0, 0.2], [0.3, 1.0], [9.0, 9.0]])
    model = LDA().fit(X, ["a", "a", "a", "b"])
    assert model.predict([[8.0, 8.0], [0.0, 0.5]]).tolist() == ["b", "a"]


def test_rows_that_do_not_vary_within_classes_are_refused():
    with pytest.raises(ValueError, match="number of samples must be more than the number of cl"):
        LDA().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="no column varies within a class"):
        LDA().fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "qr"}, "solver='qr' must be one of"),
        ({"shrinkage": 1.5}, "shrinkage"),
        ({"n_components": 2}, r"n_components cannot be larger .* limit is 1"),
        ({"priors": [0.5, 0.3, 0.2]}, "priors has shape"),
        ({"priors": [-1.0, 2.0]}, "priors must be non-negative"),
        ({"covariance": "tied"}, "covariance='tied'"),
        ({"shrinkage": 0.1, "covariance_estimator": ShrunkCovariance()}, "Only one of the two"),
        ({"shrinkage": "auto", "covariance": "diagonal"}, "Give a number"),
        ({"covariance_estimator": th.Ridge()}, "no attribute|covariance_|y"),
        ({"covariance_estimator": th.OAS}, "must be an instance of an estimator"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        LDA(**options).fit(*crosses([0, 0], [2, 0]))


def test_priors_that_do_not_sum_to_one_are_divided_by_their_sum():
    with pytest.warns(UserWarning, match="do not sum to 1"):
        model = LDA(priors=[1.0, 3.0]).fit(*crosses([0, 0], [2, 0]))
    np.testing.assert_allclose(model.priors_, [0.25, 0.75])


def test_many_classes():
    X, y = gaussians(n=4000, d=5, classes=300, apart=30.0)
    model, theirs = LDA().fit(X, y), peer.LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-6, atol=1e-6)
    assert (model.predict(X) == theirs.predict(X)).all()


def test_joins_the_models_that_are_tried_first():
    assert LDA._everyday == "linear discriminant analysis"
