"""Kernel ridge regression: the course's formulas, scikit-learn's numbers, leave-one-out by hand."""

import warnings

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as Peer

import thetahat as th
from thetahat.errors import DataError, IllConditionedWarning, MemoryBudgetError, ParameterError

RANDOM = np.random.default_rng(0)
N = 90
X = RANDOM.standard_normal((N, 3))
Y = np.sin(X[:, 0]) + 0.1 * RANDOM.standard_normal(N)
RBF = th.kernels.RBF(sigma=1.0)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "polynomial", "laplacian", "cosine"])
@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_are_scikit_learns(kernel, weighted):
    weight = np.random.default_rng(2).integers(0, 4, N).astype(float) if weighted else None
    options = {"alpha": 0.3, "kernel": kernel} | ({} if kernel == "rbf" else {"gamma": 0.2})
    ours = th.KernelRidge(**options).fit(X, Y, weight)
    peer = Peer(**options).fit(X, Y, weight)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(ours.dual_coef_, peer.dual_coef_, rtol=1e-6, atol=1e-7)


def test_functions_of_two_rows_are_kernels_as_in_scikit_learn():
    def shared(x, z, power=1):
        return float(np.minimum(np.abs(x), np.abs(z)).sum()) ** power

    options = {"kernel": shared, "kernel_params": {"power": 2}}
    ours = th.KernelRidge(**options).fit(X, Y).predict(X[:5])
    np.testing.assert_allclose(ours, Peer(**options).fit(X, Y).predict(X[:5]), rtol=1e-8)


def test_dual_form_of_ridge_regression():
    """α̂ = (G + τI)⁻¹Y, r = τα, β = Xᵀα; it maximises −αᵀGα − ταᵀα + 2αᵀY."""
    tau = 0.7
    model = th.KernelRidge(alpha=tau).fit(X, Y)
    ridge = th.Ridge(alpha=tau, fit_intercept=False).fit(X, Y)
    alpha, G = model.dual_coef_, X @ X.T
    np.testing.assert_allclose(X.T @ alpha, ridge.coef_, atol=1e-10)
    np.testing.assert_allclose(Y - model.predict(X), tau * alpha, atol=1e-10)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-10)

    def dual(a):
        return -a @ G @ a - tau * a @ a + 2 * a @ Y

    for _ in range(20):
        assert dual(alpha) >= dual(alpha + 1e-3 * np.random.default_rng(3).standard_normal(N))
    # The dual's value is that of the primal: no duality gap.
    primal = np.sum((Y - X @ ridge.coef_) ** 2) + tau * np.sum(ridge.coef_**2)
    assert tau * dual(alpha) == pytest.approx(primal)


def test_exclusive_or():
    rows, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float), np.array([0.0, 1, 1, 0])
    square = th.kernels.Polynomial(degree=2)
    assert th.kernels.mercer_check(square, rows).rank == 4
    assert np.linalg.det(square(rows)) == pytest.approx(18)
    exact = th.KernelRidge(alpha=0.0, kernel=square).fit(rows, y)
    np.testing.assert_allclose(exact.predict(rows), y, atol=1e-12)
    # A linear function with a constant gives 0.5 everywhere.
    flat = th.KernelRidge(alpha=1e-10, kernel=th.kernels.Linear() + 1).fit(rows, y)
    np.testing.assert_allclose(flat.predict(rows), 0.5, atol=1e-6)


def test_three_penalties_of_kernel_functions_as_a_basis():
    """None: θ = K⁻¹Y; L2: (KᵀK + αI)⁻¹KᵀY; the norm of the function: (K + αI)⁻¹Y."""
    alpha, K = 0.2, th.kernels.Laplacian()(X)
    free = th.KernelRidge(alpha=0.0, kernel=th.kernels.Laplacian()).fit(X, Y)
    np.testing.assert_allclose(free.dual_coef_, np.linalg.solve(K, Y), rtol=1e-6, atol=1e-8)
    features = th.SimilarityFeatures(th.kernels.Laplacian()).fit(X)
    ridge = th.Ridge(alpha=alpha, fit_intercept=False).fit(features.transform(X), Y)
    by_hand = np.linalg.solve(K.T @ K + alpha * np.eye(N), K.T @ Y)
    np.testing.assert_allclose(ridge.coef_, by_hand, atol=1e-8)
    function = th.KernelRidge(alpha=alpha, kernel=th.kernels.Laplacian()).fit(X, Y)
    np.testing.assert_allclose(function.dual_coef_, np.linalg.solve(K + alpha * np.eye(N), Y))


def test_norm_of_a_function_counts_equal_rows_together():
    """θᵀKθ = (θ₁ + θ₂)² + θ₃² if the first two rows are equal and the third is far away."""
    K = th.kernels.RBF(sigma=0.1)(np.array([[0.0], [0.0], [9.0]]))
    np.testing.assert_allclose(K, [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-12)
    theta = np.array([0.5, -2.0, 3.0])
    assert theta @ K @ theta == pytest.approx((0.5 - 2.0) ** 2 + 3.0**2)


def test_infinite_basis_and_finite_sum_are_the_same_fit():
    """min E(y − Σw_lφ_l)² + αΣw_l²/λ_l is f = Σθᵢk(xᵢ, ·) with θ = (K + nαI)⁻¹Y, θᵢ = δᵢ/(nα)."""
    x = np.linspace(-1, 1, 12)[:, None]
    y, n, alpha = np.exp(x[:, 0]), 12, 0.05
    series = th.kernels.rbf_series(gamma=0.5, terms=15)
    phi, weights = series.function(x), np.array(series.weights)
    w = np.linalg.solve(phi.T @ phi / n + alpha * np.diag(1 / weights), phi.T @ y / n)
    finite = th.KernelRidge(alpha=n * alpha, kernel=series).fit(x, y)
    np.testing.assert_allclose(finite.predict(x), phi @ w, atol=1e-8)
    theta = finite.dual_coef_
    np.testing.assert_allclose(theta, (y - phi @ w) / (n * alpha), atol=1e-7)
    assert theta @ series(x) @ theta == pytest.approx(np.sum(w**2 / weights), rel=1e-6)
    exact = th.KernelRidge(alpha=n * alpha, kernel=th.kernels.RBF(gamma=0.5)).fit(x, y)
    np.testing.assert_allclose(finite.predict(x), exact.predict(x), atol=1e-8)


def test_leave_one_out_errors_are_those_of_refitting():
    alphas = [0.01, 0.1, 1.0]
    kernels = [RBF, th.kernels.Polynomial(3)]
    model = th.KernelRidgeCV(alphas=alphas, kernel=kernels).fit(X[:30], Y[:30])
    for k, kernel in enumerate(kernels):
        for a, alpha in enumerate(alphas):
            errors = [
                Y[i]
                - th.KernelRidge(alpha=alpha, kernel=kernel)
                .fit(np.delete(X[:30], i, axis=0), np.delete(Y[:30], i))
                .predict(X[[i]])[0]
                for i in range(30)
            ]
            assert model.scores_[k, a] == pytest.approx(-np.mean(np.square(errors)), rel=1e-8)
    best = np.unravel_index(model.scores_.argmax(), model.scores_.shape)
    assert (model.kernel_, model.alpha_) == (kernels[best[0]], alphas[best[1]])
    refit = th.KernelRidge(alpha=model.alpha_, kernel=model.kernel_).fit(X[:30], Y[:30])
    np.testing.assert_allclose(model.predict(X), refit.predict(X), atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-300, 1e-17, 1e-13, 1e-9])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_errors_below_rounding_are_those_of_refitting(alpha, weighted):
    """Fewer features than rows, repeated rows, and a row that alone has a feature."""
    random = np.random.default_rng(0)
    rows, target = random.standard_normal((40, 3)), random.standard_normal(40)
    weight = random.uniform(0.5, 2.0, 40) if weighted else None
    repeated, alone = np.vstack([rows[:20], rows[:10], rows[:10]]), rows * [1.0, 1.0, 0.0]
    alone[0, 2] = 1.0
    for X in (rows, repeated, alone):
        for kernel in ("linear", "rbf", th.kernels.Polynomial(degree=2)):
            found = th.KernelRidgeCV(alphas=[alpha], kernel=kernel).fit(X, target, weight)
            errors = []
            for i in range(40):
                left = np.arange(40) != i
                one = th.KernelRidge(alpha=alpha, kernel=kernel)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", IllConditionedWarning)
                    one.fit(X[left], target[left], None if weight is None else weight[left])
                errors.append((target[i] - one.predict(X[[i]])[0]) ** 2)
            expected = -np.average(errors, weights=weight)
            assert found.best_score_ == pytest.approx(expected, rel=1e-4)


def test_leave_one_out_leaves_out_a_row_with_all_its_weight():
    weight = np.random.default_rng(5).uniform(0.1, 1000.0, 25)
    model = th.KernelRidgeCV(alphas=[0.1, 1.0], kernel=RBF).fit(X[:25], Y[:25], weight)
    for a, alpha in enumerate([0.1, 1.0]):
        errors = [
            Y[i]
            - th.KernelRidge(alpha=alpha, kernel=RBF)
            .fit(np.delete(X[:25], i, axis=0), np.delete(Y[:25], i), np.delete(weight, i))
            .predict(X[[i]])[0]
            for i in range(25)
        ]
        expected = -np.average(np.square(errors), weights=weight)
        assert model.scores_[0, a] == pytest.approx(expected, rel=1e-7)


def test_bandwidth_and_degree_are_chosen_by_cross_validation():
    start = th.kernels.bandwidth(X)
    widths = [th.kernels.RBF(sigma=start * factor) for factor in (0.05, 0.5, 1.0, 2.0, 50.0)]
    model = th.KernelRidgeCV(alphas=np.logspace(-4, 2, 13), kernel=widths).fit(X, Y)
    assert model.kernel_ in widths[1:4]
    powers = [th.kernels.Polynomial(degree) for degree in (1, 2, 3)]
    cubic = th.KernelRidgeCV(kernel=powers).fit(X, X[:, 0] ** 3)
    assert cubic.kernel_ == powers[2]


def test_several_targets_and_penalties():
    both = np.column_stack([Y, X[:, 1] ** 2])
    model = th.KernelRidge(alpha=[0.1, 2.0], kernel=RBF).fit(X, both)
    for column, alpha in enumerate((0.1, 2.0)):
        one = th.KernelRidge(alpha=alpha, kernel=RBF).fit(X, both[:, column])
        np.testing.assert_allclose(model.predict(X)[:, column], one.predict(X), atol=1e-10)
    with pytest.raises(DataError, match="alpha has 3 entries, but y has 2 targets"):
        th.KernelRidge(alpha=[1, 2, 3]).fit(X, both)


def test_precomputed_matrix_is_left_as_it_is():
    K = RBF(X)
    before = K.copy()
    model = th.KernelRidge(kernel="precomputed").fit(K, Y)
    np.testing.assert_array_equal(K, before)
    new = np.random.default_rng(4).standard_normal((4, 3))
    rows = th.KernelRidge(kernel=RBF).fit(X, Y)
    np.testing.assert_allclose(model.predict(RBF(new, X)), rows.predict(new), atol=1e-10)


def test_singular_matrices_and_functions_that_are_no_kernel():
    twice = np.vstack([X, X])
    with pytest.warns(IllConditionedWarning, match="singular"):
        model = th.KernelRidge(alpha=0.0, kernel=th.kernels.Laplacian()).fit(twice, np.tile(Y, 2))
    np.testing.assert_allclose(model.predict(X), Y, atol=1e-6)
    wrong = th.kernels.FromFunction(lambda a, b: -np.abs(a @ b.T))
    with pytest.raises(DataError, match=r"not positive semi-definite.*smallest eigenvalue"):
        th.KernelRidge(alpha=1.0, kernel=wrong).fit(X, Y)
    with pytest.raises(DataError, match="not positive semi-definite"):
        th.KernelRidgeCV(kernel=wrong).fit(X, Y)


def test_wrong_input_is_refused():
    with pytest.raises(ParameterError, match="alpha=-1 must be a number ≥ 0"):
        th.KernelRidge(alpha=-1).fit(X, Y)
    with pytest.raises(ParameterError, match="gamma=0 must be a number > 0"):
        th.KernelRidge(kernel="rbf", gamma=0).fit(X, Y)
    with pytest.raises(ParameterError, match="kernel='gauss' is not known"):
        th.KernelRidge(kernel="gauss").fit(X, Y)
    with pytest.raises(ParameterError, match="finite numbers > 0"):
        th.KernelRidgeCV(alphas=[0.0]).fit(X, Y)
    with pytest.raises(DataError, match="must be square"):
        th.KernelRidge(kernel="precomputed").fit(X, Y)
    with pytest.raises(MemoryBudgetError, match=r"GiB.*n_components"):
        th.KernelRidge().fit(np.zeros((200_000, 1)), np.zeros(200_000))


@pytest.mark.parametrize("n", [1, 2, 30])
def test_few_rows_and_more_columns_than_rows(n):
    rows = np.random.default_rng(5).standard_normal((n, 50))
    ours = th.KernelRidge(kernel="rbf").fit(rows, Y[:n]).predict(rows)
    np.testing.assert_allclose(ours, Peer(kernel="rbf").fit(rows, Y[:n]).predict(rows), atol=1e-10)


def test_nystroem_features_have_the_kernel_as_inner_product_with_centres():
    model = th.Nystroem(RBF, n_components=20, random_state=0).fit(X)
    features = model.transform(X)
    centres = model.component_indices_
    np.testing.assert_allclose(features @ features[centres].T, RBF(X, X[centres]), atol=1e-6)
    with pytest.warns(UserWarning, match="exceeds the number of rows"):
        whole = th.Nystroem(RBF, n_components=500).fit_transform(X)
    np.testing.assert_allclose(whole @ whole.T, RBF(X), atol=1e-6)


def test_more_centres_approximate_the_kernel_better():
    errors = [
        np.abs(features @ features.T - RBF(X)).mean()
        for m in (5, 20, 60)
        for features in [th.Nystroem(RBF, n_components=m, random_state=0).fit_transform(X)]
    ]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize(("alpha", "solver"), [(1.0, "cholesky"), (1e-9, "eigen")])
def test_the_report_names_the_solver_that_was_used(alpha, solver):
    X = np.random.default_rng(0).normal(size=(200, 3))
    assert th.KernelRidge(alpha=alpha, kernel="linear").fit(X, X[:, 0]).solution_.solver == solver
