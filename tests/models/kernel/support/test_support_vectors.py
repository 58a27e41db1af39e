"""SVC, SVR, NuSVC, NuSVR and OneClassSVM: optimality conditions, relations, scikit-learn."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning

import thetahat as th

NAMES = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"]
CLOSE = dict(tol=1e-8)
KERNELS = ["rbf", "linear", "poly", "sigmoid", "laplacian"]
UNIQUE = [
    (name, kernel)
    for name in NAMES
    for kernel in KERNELS
    if name != "NuSVC" or kernel not in ("linear", "sigmoid")
]
"""Without those whose function is not unique: its margin is 0, or the kernel is none."""


def rows(n=120, d=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    z = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * random.standard_normal(n)
    return X, z


def options(name):
    return dict(nu=0.4) if name == "NuSVC" else {}


def targets(name, z, classes=2):
    if name == "OneClassSVM":
        return None
    if name.endswith("SVC"):
        return np.digitize(z, np.quantile(z, np.linspace(0, 1, classes + 1)[1:-1]))
    return z


def scores(model, X):
    return model.predict(X) if isinstance(model, th.SVR | th.NuSVR) else model.decision_function(X)


def classes_of_margin(model, X, y, C):
    """α and the margins yᵢf(xᵢ) of all rows."""
    alpha = np.abs(model.solution_.multipliers)
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    return alpha, signs * model.decision_function(X), C * np.ones(len(y))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_rows_outside_on_and_inside_the_margin(kernel):
    X, z = rows()
    y = z > 0
    model = th.SVC(C=2.0, kernel=kernel, **CLOSE).fit(X, y)
    alpha, margin, C = classes_of_margin(model, X, y, 2.0)
    assert (alpha[margin > 1 + 1e-6] == 0).all()
    assert (alpha[margin < 1 - 1e-6] == C[margin < 1 - 1e-6]).all()
    on = (alpha > 1e-9) & (alpha < C - 1e-9)
    assert on.any()
    assert np.abs(margin[on] - 1).max() < 1e-6
    assert abs(model.dual_coef_.sum()) < 1e-10


def test_duality_gap_is_zero_and_is_the_difference_of_both_objectives():
    X, z = rows()
    y = z > 0
    for tol in (1e-2, 1e-8):
        model = th.SVC(C=3.0, tol=tol).fit(X, y)
        signs = np.where(y, 1.0, -1.0)
        K = model.kernel_(X)
        beta = model.solution_.multipliers
        f = K @ beta
        primal = beta @ f / 2 + 3.0 * np.maximum(0, 1 - signs * (f + model.intercept_)).sum()
        dual = np.abs(beta).sum() - beta @ f / 2
        assert model.solution_.gap == pytest.approx(primal - dual, rel=1e-3, abs=1e-9)
        assert model.solution_.value == pytest.approx(-dual, rel=1e-6)
    assert model.solution_.gap < 1e-5


def test_dual_objective_is_at_least_as_good_as_scikit_learns():
    X, z = rows(400)
    y = z > 0
    ours = th.SVC(gamma=0.3).fit(X, y)
    theirs = sklearn.svm.SVC(gamma=0.3).fit(X, y)
    K = ours.kernel_(X)

    def value(model):
        beta = np.zeros(len(X))
        beta[model.support_] = model.dual_coef_[0]
        return beta @ K @ beta / 2 - np.abs(beta).sum()

    assert value(ours) <= value(theirs) + 1e-4 * abs(value(theirs))
    assert value(ours) == pytest.approx(ours.solution_.value, rel=1e-6)


def test_rows_of_the_tube():
    X, z = rows()
    model = th.SVR(C=2.0, epsilon=0.2, **CLOSE).fit(X, z)
    beta, r = model.solution_.multipliers, z - model.predict(X)
    assert (beta[np.abs(r) < 0.2 - 1e-6] == 0).all()
    outside = np.abs(r) > 0.2 + 1e-6
    assert outside.any()
    assert np.array_equal(beta[outside], 2.0 * np.sign(r[outside]))
    on = (beta != 0) & (np.abs(beta) < 2.0)
    assert np.abs(np.abs(r[on]) - 0.2).max() < 1e-6


def test_moving_an_inlier_leaves_the_regression_unchanged():
    X, z = rows()
    model = th.SVR(epsilon=0.3, **CLOSE).fit(X, z)
    inside = int(np.argmin(np.abs(z - model.predict(X))))
    moved = z.copy()
    moved[inside] += 0.1
    again = th.SVR(epsilon=0.3, **CLOSE).fit(X, moved)
    assert inside not in model.support_
    assert np.abs(again.predict(X) - model.predict(X)).max() < 1e-6


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_functions_are_scikit_learns(name, classes):
    X, z = rows(150)
    y = targets(name, z, classes)
    given = dict(gamma=0.4, **options(name), **CLOSE)
    ours = getattr(th, name)(**given).fit(X, y)
    theirs = getattr(sklearn.svm, name)(**given).fit(X, y)
    assert np.abs(scores(ours, X) - scores_of_peer(theirs, X)).max() < 1e-5
    assert np.array_equal(ours.support_, theirs.support_)
    assert np.array_equal(ours.n_support_, theirs.n_support_)
    assert np.allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-4, atol=1e-5)
    assert np.abs(ours.intercept_ - theirs.intercept_).max() < 1e-5
    assert ours.shape_fit_ == theirs.shape_fit_
    assert np.shape(ours.n_iter_) == np.shape(theirs.n_iter_)
    assert ours.fit_status_ == 0


def scores_of_peer(model, X):
    return model.predict(X) if type(model).__name__.endswith("SVR") else model.decision_function(X)


@pytest.mark.parametrize(("name", "kernel"), UNIQUE)
def test_sparse_rows_and_given_matrices_give_the_same_function(name, kernel):
    X, z = rows(80)
    X[np.abs(X) < 0.5] = 0.0
    y = targets(name, z, 3)
    given = dict(kernel=kernel, gamma=0.1, coef0=0.5, **options(name), tol=1e-10)
    dense = getattr(th, name)(**given).fit(X, y)
    sparse = getattr(th, name)(**given).fit(sp.csr_array(X), y)
    K = dense.kernel_.gram(X)
    matrix = getattr(th, name)(kernel="precomputed", **options(name), tol=1e-10).fit(K, y)
    function = getattr(th, name)(kernel=dense.kernel_.gram, **options(name), tol=1e-10).fit(X, y)
    expected = scores(dense, X)
    assert np.abs(scores(sparse, sp.csr_array(X)) - expected).max() < 1e-6
    assert np.abs(scores(matrix, K) - expected).max() < 1e-6
    assert np.abs(scores(function, X) - expected).max() < 1e-6
    assert sp.issparse(sparse.support_vectors_)
    assert sp.issparse(sparse.dual_coef_)


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_repetitions(name):
    X, z = rows(60)
    y = targets(name, z)
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    given = dict(**options(name), tol=1e-10)
    weighted = getattr(th, name)(**given).fit(X, y, sample_weight=weight)
    repeated = getattr(th, name)(**given).fit(
        np.repeat(X, weight, axis=0), None if y is None else np.repeat(y, weight)
    )
    assert np.abs(scores(weighted, X) - scores(repeated, X)).max() < 1e-6
    assert (weight[weighted.support_] > 0).all()


@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_same_bits_for_any_number_of_threads(name):
    X, z = rows(2200, 100)
    y = targets(name, z)
    found = []
    for threads in (1, 2, 5):
        with th.config(threads=threads):
            model = getattr(th, name)(tol=0.1).fit(X, y)
            found.append((model.dual_coef_, scores(model, X)))
    for dual_coef, score in found[1:]:
        assert np.array_equal(dual_coef, found[0][0])
        assert np.array_equal(score, found[0][1])


@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_shrinking_and_small_caches_reach_the_same_optimum(name, monkeypatch):
    from thetahat.objective.kernel import support_dual

    monkeypatch.setattr(support_dual, "MIN_SHRINKABLE", 50)
    monkeypatch.setattr(support_dual, "WORK_PER_CALL", 2000)
    X, z = rows(300)
    y = targets(name, z)
    given = dict(C=5.0, tol=1e-6)
    whole = getattr(th, name)(shrinking=False, **given).fit(X, y)
    for changed in (dict(), dict(cache_size=0.02), dict(kernel=lambda A, B: whole.kernel_(A, B))):
        model = getattr(th, name)(**given, **changed).fit(X, y)
        assert np.abs(scores(model, X) - scores(whole, X)).max() < 1e-4
        assert model.solution_.gap < 1e-2
        assert model.solution_.value == pytest.approx(whole.solution_.value, rel=1e-7)
    rowwise = dict(kernel=lambda A, B: whole.kernel_(A, B), cache_size=0.5, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        a = getattr(th, name)(C=5.0, **rowwise).fit(X, y)
        b = getattr(th, name)(C=5.0, max_iter=200, gamma=whole.kernel_.gamma, tol=1e-7).fit(X, y)
    assert np.abs(scores(a, X) - scores(b, X)).max() < 1e-2


def test_equal_support_vectors_are_joined():
    X, z = rows(40)
    y = z > 0
    twice = th.SVC(tol=1e-10, gamma=0.5).fit(np.vstack([X, X]), np.r_[y, y])
    once = th.SVC(tol=1e-10, gamma=0.5, C=2.0).fit(X, y)
    assert len(twice._centres) == len(once._centres)
    assert len(twice.support_vectors_) > len(twice._centres)
    assert np.abs(twice.decision_function(X) - once.decision_function(X)).max() < 1e-6


def test_probabilities_of_two_and_more_classes():
    X, z = rows(300)
    for classes in (2, 4):
        y = targets("SVC", z, classes)
        model = th.SVC(probability=True, random_state=0).fit(X, y)
        p = model.predict_proba(X)
        assert p.shape == (300, classes)
        assert np.abs(p.sum(axis=1) - 1).max() < 1e-12
        assert (p.argmax(axis=1) == y).mean() > 0.7
        assert np.array_equal(model.predict_log_proba(X), np.log(p))
        again = th.SVC(probability=True, random_state=0).fit(X, y)
        assert np.array_equal(again.predict_proba(X), p)
    assert not hasattr(th.SVC(), "predict_proba")


def test_coupled_pairs_give_back_consistent_probabilities():
    from thetahat.models.kernel.support.probabilities import coupled

    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    first, second = np.triu_indices(3, 1)
    pairs = p[:, first] / (p[:, first] + p[:, second])
    assert np.abs(coupled(pairs, 3) - p).max() < 1e-12


def test_platts_sigmoid_minimises_the_cross_entropy():
    from scipy.optimize import minimize

    from thetahat.models.kernel.support.probabilities import _cross_entropy, fit_sigmoid

    random = np.random.default_rng(0)
    f = random.standard_normal(200)
    positive = random.random(200) < 1 / (1 + np.exp(-2 * f))
    weight = random.random(200)
    A, B = fit_sigmoid(f, positive, weight)
    above, below = weight[positive].sum(), weight[~positive].sum()
    t = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))
    best = minimize(lambda ab: _cross_entropy(ab[0] * f + ab[1], t, weight), [0, 0], tol=1e-12)
    assert np.allclose([A, B], best.x, atol=1e-4)
    assert A < 0


def test_votes_scores_and_ties_of_many_classes():
    X, z = rows(200)
    y = targets("SVC", z, 4)
    ovo = th.SVC(decision_function_shape="ovo").fit(X, y)
    ovr = th.SVC(break_ties=True).fit(X, y)
    peer = sklearn.svm.SVC().fit(X, y)
    assert ovo.decision_function(X).shape == (200, 6)
    assert np.abs(ovr.decision_function(X) - peer.decision_function(X)).max() < 0.01
    assert np.array_equal(ovr.predict(X), ovr.decision_function(X).argmax(axis=1))
    assert (ovo.predict(X) == peer.predict(X)).mean() > 0.99
    with pytest.raises(th.errors.ParameterError, match="break_ties must be False"):
        th.SVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)


@pytest.mark.parametrize("classes", [2, 3])
def test_coefficients_of_the_linear_kernel(classes):
    X, z = rows(100)
    y = targets("SVC", z, classes)
    model = th.SVC(kernel="linear", decision_function_shape="ovo").fit(X, y)
    expected = X @ model.coef_.T + model.intercept_
    assert np.abs(expected - model.decision_function(X).reshape(len(X), -1)).max() < 1e-9
    sparse = th.SVC(kernel="linear").fit(sp.csr_array(X), y)
    assert np.abs(sparse.coef_.toarray() - model.coef_).max() < 1e-2
    with pytest.raises(AttributeError, match="linear kernel"):
        th.SVC().fit(X, y).coef_  # noqa: B018


def test_nu_bounds_the_shares_of_errors_and_support_vectors():
    X, z = rows(200)
    for nu in (0.1, 0.3):
        y = z > np.median(z)
        model = th.NuSVC(nu=nu, tol=1e-8).fit(X, y)
        margin = np.where(y, 1, -1) * model.decision_function(X)
        assert (margin < 1 - 1e-6).mean() <= nu
        assert len(model.support_) / 200 >= nu - 1e-9
        tube = th.NuSVR(nu=nu, tol=1e-8).fit(X, z)
        assert (np.abs(z - tube.predict(X)) > tube.epsilon_ + 1e-6).mean() <= nu
        assert len(tube.support_) / 200 >= nu
        region = th.OneClassSVM(nu=nu, tol=1e-8).fit(X)
        assert (region.decision_function(X) < -1e-6).mean() <= nu
        assert len(region.support_) / 200 >= nu
        assert np.allclose(
            region.score_samples(X), region.decision_function(X) + region.offset_, atol=1e-12
        )


def test_nu_regression_is_the_regression_with_the_tube_that_it_found():
    X, z = rows()
    found = th.NuSVR(nu=0.4, C=2.0, tol=1e-10).fit(X, z)
    same = th.SVR(epsilon=found.epsilon_, C=2.0, tol=1e-10).fit(X, z)
    assert np.abs(found.predict(X) - same.predict(X)).max() < 1e-6


def test_float32_stays_close():
    X, z = rows()
    wide = th.SVC(tol=1e-6).fit(X.astype(np.float32).astype(float), z > 0)
    narrow = th.SVC(tol=1e-6).fit(X.astype(np.float32), z > 0)
    assert narrow.decision_function(X.astype(np.float32)).dtype == np.float32
    assert np.abs(narrow.decision_function(X) - wide.decision_function(X)).max() < 1e-4


def test_far_from_zero_and_badly_scaled_rows():
    X, z = rows()
    near = th.SVC(gamma=0.5).fit(X, z > 0)
    far = th.SVC(gamma=0.5).fit(X + 1e6, z > 0)
    assert np.abs(far.decision_function(X + 1e6) - near.decision_function(X)).max() < 1e-2
    costly = th.SVC(C=1e6, gamma=0.5).fit(X, z > 0)
    assert costly.score(X, z > 0) == 1.0
    assert costly.solution_.outcome.success


@pytest.mark.parametrize("density", [0.02, 0.5])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_few_sparse_rows_give_the_model_of_dense_ones(kernel, density):
    rows = sp.random(120, 200, density, "csr", random_state=0)
    y = np.random.default_rng(0).integers(0, 2, 120)
    found = th.SVC(kernel=kernel, coef0=1.0, tol=1e-8).fit(rows, y)
    wanted = th.SVC(kernel=kernel, coef0=1.0, tol=1e-8).fit(rows.toarray(), y)
    np.testing.assert_array_equal(found.support_, wanted.support_)
    np.testing.assert_allclose(
        found.decision_function(rows), wanted.decision_function(rows.toarray()), atol=1e-6
    )


FAR_AWAY = 2.0**30


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_origin_of_the_rows_has_no_influence_on_the_linear_kernel(name, n_classes, tmp_path):
    """Inner products of rows this far from 0 have no digits left of their differences."""
    random = np.random.default_rng(0)
    rows = np.round(random.standard_normal((90, 3)) * 2**16) / 2**16  # exact, also when moved
    target = rows[:, 0] + 0.3 * random.standard_normal(90)
    if name.endswith("SVC"):
        target = np.digitize(target, [-0.5, 0.5] if n_classes == 3 else [0.0])
    options = {"nu": 0.3} if name.startswith("Nu") else {}
    near = getattr(th, name)(kernel="linear", tol=1e-9, **options).fit(rows, target)
    far = getattr(th, name)(kernel="linear", tol=1e-9, **options).fit(rows + FAR_AWAY, target)
    th.save(far, tmp_path / "far.theta")

    def values(model, rows):
        is_classifier = name.endswith("SVC")
        return model.decision_function(rows) if is_classifier else model.predict(rows)

    expected = values(near, rows)
    for model in (far, th.load(tmp_path / "far.theta")):
        np.testing.assert_allclose(values(model, rows + FAR_AWAY), expected, atol=1e-7)
        np.testing.assert_allclose(
            values(model, sp.csr_array(rows + FAR_AWAY)), expected, atol=1e-7
        )
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-7)
    moved = near.intercept_ - near.coef_.sum(axis=1) * FAR_AWAY
    np.testing.assert_allclose(far.intercept_, moved, rtol=1e-7)
    np.testing.assert_array_equal(far.support_vectors_, rows[far.support_] + FAR_AWAY)


@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_a_length_scale_for_each_column(name, n_classes):
    rows, new = np.random.default_rng(0).standard_normal((2, 60, 3))
    target = np.digitize(rows[:, 0], np.linspace(-0.5, 0.5, n_classes - 1))
    kernel, options = th.kernels.RBF(length_scale=(0.3, 2.0, 10.0)), CLOSE
    found = getattr(th, name)(kernel=kernel, **options).fit(rows, target)
    scaled = getattr(th, name)(kernel=th.kernels.RBF(), **options)
    scaled.fit(rows / [0.3, 2.0, 10.0], target)
    np.testing.assert_array_equal(found.support_, scaled.support_)
    np.testing.assert_allclose(
        found.predict(new), scaled.predict(new / [0.3, 2.0, 10.0]), atol=1e-6
    )
    np.testing.assert_allclose(found.dual_coef_, scaled.dual_coef_, atol=1e-5)
