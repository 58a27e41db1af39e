"""Support vector machines: wrong parameters and rows are refused with rule, value and remedy."""

import threading
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.svm import OneClassSVM

import thetahat as th
from thetahat.errors import DataError, MemoryBudgetError, ParameterError

X = np.random.default_rng(0).standard_normal((40, 3))
Z = np.sin(X[:, 0]) + X[:, 1]
Y = Z > 0


@pytest.mark.parametrize(
    "bad",
    [
        dict(C=0),
        dict(C=-1.0),
        dict(gamma=0.0),
        dict(gamma=-1),
        dict(gamma="large"),
        dict(tol=0.0),
        dict(kernel="rbff"),
        dict(kernel="poly", coef0=-1.0),
        dict(degree=2.5),
        dict(cache_size=0),
        dict(max_iter=-2),
        dict(probability="yes"),
        dict(decision_function_shape="all"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(bad):
    with pytest.raises(ParameterError):
        th.SVC(**bad).fit(X, Y)


@pytest.mark.parametrize("model", [th.NuSVC, th.NuSVR, th.OneClassSVM])
@pytest.mark.parametrize("nu", [0.0, 1.1, -0.5, np.nan])
def test_nu_is_a_share(model, nu):
    with pytest.raises(ParameterError, match="nu="):
        model(nu=nu).fit(X, Z > 0)


def test_infeasible_nu_is_refused_with_the_largest_that_is_possible():
    y = np.arange(40) < 4
    with pytest.raises(DataError, match=r"specified nu is infeasible.*at most 0\.2 .*smaller nu"):
        th.NuSVC(nu=0.5).fit(X, y)
    th.NuSVC(nu=0.2).fit(X, y)


def test_one_class_and_a_class_without_weight_are_refused():
    with pytest.raises(DataError, match="one class"):
        th.SVC().fit(X, np.zeros(40))
    with pytest.raises(DataError, match="one class"):
        th.SVC().fit(X, Y, sample_weight=Y.astype(float))
    with pytest.raises(DataError, match="all sample weights are zero"):
        th.SVR().fit(X, Z, sample_weight=np.zeros(40))


def test_a_class_with_one_row_and_one_without_weight_among_three():
    y = np.r_[[0], np.full(19, 1), np.full(20, 2)]
    model = th.SVC().fit(X, y)
    assert model.n_support_[0] == 1
    weight = np.r_[[0.0], np.ones(39)]
    left_out = th.SVC().fit(X, y, sample_weight=weight)
    assert left_out.n_support_[0] == 0
    assert set(left_out.predict(X)) <= {1, 2}
    assert th.SVC(probability=True, random_state=0).fit(X, y).predict_proba(X).shape == (40, 3)


def test_matrices_that_are_not_square_or_symmetric_are_refused():
    K = th.kernels.RBF()(X)
    with pytest.raises(DataError, match="must be a square matrix"):
        th.SVC(kernel="precomputed").fit(K[:, :20], Y)
    K[3, 5] += 0.1
    with pytest.raises(DataError, match="must be symmetric"):
        th.SVC(kernel="precomputed").fit(K, Y)


@pytest.mark.parametrize("name", ["SVC", "SVR", "NuSVR", "OneClassSVM"])
def test_functions_that_are_no_kernels_end(name):
    model = getattr(th, name)(kernel=lambda A, B: -((A @ B.T) ** 3) + np.cos(3 * (A @ B.T)))
    y = None if name == "OneClassSVM" else Y if name == "SVC" else Z
    model.fit(X, y)
    assert np.isfinite(model.dual_coef_).all()
    assert model.fit_status_ == 0


def test_rows_that_are_not_finite_or_of_other_width_are_refused():
    bad = X.copy()
    bad[2, 1] = np.nan
    with pytest.raises(DataError, match="NaN"):
        th.SVC().fit(bad, Y)
    model = th.SVC().fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    with pytest.raises(DataError, match="NaN"):
        model.predict(bad)
    with pytest.raises(DataError, match=r"not finite|must be finite"):
        th.SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.inf)).fit(X, Y)
    huge = X * 1e70
    with np.errstate(over="ignore"), pytest.raises(DataError):
        th.SVC(kernel="poly", degree=5, gamma=1.0).fit(huge, Y)


def test_iterations_and_time_are_limited_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model = th.SVC(max_iter=3).fit(X, Y)
    assert model.fit_status_ == 1
    assert model.n_iter_.tolist() == [3]
    assert np.isfinite(model.decision_function(X)).all()


def test_matrices_and_caches_that_do_not_fit_are_refused_before_they_are_taken():
    with th.config(memory=200), pytest.raises(MemoryBudgetError, match="40 × 40 entries needs"):
        th.SVC(kernel="laplacian").fit(X, Y)
    many = np.tile(X, (20, 1)) + np.arange(800)[:, None] / 1e4
    labels = np.arange(800) % 2
    with th.config(memory=5000), pytest.raises(MemoryBudgetError, match="cache of 3 kernel rows"):
        th.SVC().fit(many, labels)
    with th.config(memory=1_000_000):
        small = th.SVC().fit(many, labels)
    assert np.allclose(small.intercept_, th.SVC().fit(many, labels).intercept_, atol=1e-2)


def test_targets_and_costs_at_their_limits():
    assert th.SVC(C=np.inf, kernel="linear").fit([[0.0], [1.0], [3.0]], [0, 0, 1]).coef_[0] == (
        pytest.approx(1.0, rel=1e-6)
    )
    constant = th.SVR().fit(X, np.full(40, 3.0))
    assert len(constant.support_) == 0
    assert np.allclose(constant.predict(X), 3.0, atol=0.1 + 1e-9)
    same = th.SVC().fit(np.zeros((6, 2)), [0, 1] * 3)
    assert np.isfinite(same.decision_function([[1.0, 2.0]])).all()


def in_threads(work, n=8):
    """The errors of n threads that repeatedly do the work at the same time."""
    errors, together = [], threading.Barrier(n)

    def run():
        together.wait()
        try:
            for _ in range(15):
                work()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM", "KernelLogisticRegression"])
def test_threads_may_fit_the_same_model(name):
    model = getattr(th, name)()
    y = Z if name == "SVR" else Y
    rows = np.repeat(X, 2, axis=0)  # equal support vectors are joined
    labels = np.repeat(y, 2)
    assert in_threads(lambda: model.fit(rows, labels)) == []
    alone = getattr(th, name)().fit(rows, labels)
    assert np.array_equal(model.predict(rows), alone.predict(rows))
    assert not {"_working", "_features"} & vars(model).keys()


@pytest.mark.parametrize("name", ["SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"])
def test_tolerances_below_rounding_errors_end(name):
    y = None if name == "OneClassSVM" else Y if name in ("SVC", "NuSVC") else Z
    model = getattr(th, name)(tol=1e-16).fit(X, y)
    close = getattr(th, name)(tol=1e-10).fit(X, y)
    assert np.ravel(model.n_iter_).max() < 300_000
    scores = "predict" if name in ("SVR", "NuSVR") else "decision_function"
    assert np.allclose(getattr(model, scores)(X), getattr(close, scores)(X), atol=1e-7)


@pytest.mark.parametrize("name", ["SVC", "SVR", "NuSVR", "OneClassSVM", "KernelRidge"])
def test_kernels_whose_squares_overflow_are_refused(name):
    model = getattr(th, name)(kernel=lambda a, b: 1e300 * (a @ b.T))
    with pytest.raises(DataError, match="at most 1e"):
        model.fit(X, Y if name == "SVC" else Z)


def test_margins_far_below_the_tolerance_are_found():
    r = np.random.default_rng(0)
    A = r.normal(size=(80, 2))
    y = np.where(A[:, 0] ** 2 + A[:, 1] + 0.7 * r.normal(size=80) > 0.5, 1, 0)
    model = th.NuSVC(nu=0.1, gamma=2.0).fit(A, y)
    exact = th.NuSVC(nu=0.1, gamma=2.0, tol=1e-9).fit(A, y)
    scores, expected = model.decision_function(A), exact.decision_function(A)
    assert np.abs(scores - expected).max() < 0.02
    assert model.score(A, y) == exact.score(A, y)


def test_a_margin_of_almost_nothing_does_not_take_millions_of_steps():
    r = np.random.default_rng(3)
    A = r.normal(size=(300, 2))
    y = (A[:, 0] > 0) ^ (r.random(300) < 0.5)
    with pytest.warns(ConvergenceWarning, match="maximum number of iterations"):
        model = th.NuSVC(nu=0.1).fit(A, y)
    assert model.n_iter_[0] < 110_000
    assert np.isfinite(model.decision_function(A)).all()
    with pytest.warns(ConvergenceWarning):
        longer = th.NuSVC(nu=0.1, max_iter=120_000).fit(A, y)
    assert longer.n_iter_[0] == 120_000


def test_a_nu_that_leaves_no_margin_gives_one_warning():
    rows = np.random.default_rng(1).standard_normal((90, 3))
    with pytest.warns(ConvergenceWarning, match=r"nu=0\.2 is too small.*larger nu") as found:
        model = th.NuSVC(kernel="linear", nu=0.2).fit(rows, np.arange(90) % 3)
    assert len(found) == 1
    assert np.abs(model.coef_).max() < 1e-8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        th.NuSVC(kernel="linear", nu=0.7).fit(X, Y)


BY_PAIRS = ["KernelPCA", "Nystroem", "KernelDiscriminantAnalysis", "KernelRidge"]


@pytest.mark.parametrize("name", [*BY_PAIRS, "SVC", "OneClassSVM"])
@pytest.mark.parametrize("value", [np.ones((3, 3)), "x", 1j, [[1], [1, 2]]], ids=str)
@pytest.mark.filterwarnings("ignore:Nystroem")
def test_functions_that_return_no_kernel_values_are_refused(name, value):
    model = getattr(th, name)(kernel=lambda a, b: value)
    with pytest.raises(DataError, match="the kernel returned"):
        model.fit(X, Y)


def test_complex_matrices_are_refused_also_in_predictions():
    model = th.SVC(kernel=lambda a, b: (a @ b.T) * (1j if len(a) == 2 else 1)).fit(X, Y)
    with pytest.raises(DataError, match="complex"):
        model.predict(X[:2])


@pytest.mark.parametrize("name", [*BY_PAIRS, "SVC", "OneClassSVM", "KernelModel"])
@pytest.mark.parametrize("junk", [np.array([1.0, 2.0]), type, csr_matrix([1.0]), 3, None], ids=repr)
def test_objects_that_are_no_kernels_are_refused(name, junk):
    with pytest.raises(ParameterError, match="kernel="):
        getattr(th, name)(kernel=junk).fit(X, Y)


def test_offset_is_an_array_as_in_scikit_learn():
    model = th.OneClassSVM().fit(X)
    assert model.offset_.shape == OneClassSVM().fit(X).offset_.shape
    assert np.allclose(model.score_samples(X), model.decision_function(X) + model.offset_)
    model.offset_ = float(model.offset_[0])  # as in models that were saved before
    assert model.score_samples(X).shape == (40,)


@pytest.mark.parametrize("name", ["SVC", "KernelRidge", "GaussianProcessRegressor"])
def test_models_with_kernels_of_scikit_learn_are_saved_with_those_of_this_library(name, tmp_path):
    kernel = ConstantKernel(2.0, "fixed") * RBF(2.0, "fixed")
    model = getattr(th, name)(kernel=kernel).fit(X, np.where(Y, 1.0, 0.0))
    th.save(model, tmp_path / "model")
    loaded = th.load(tmp_path / "model")
    assert isinstance(loaded.kernel_, th.kernels.Product)
    assert np.array_equal(loaded.predict(X), model.predict(X))
