"""Free variables of a support vector machine are moved to their minimum together."""

import numpy as np
import pytest

import thetahat as th
from thetahat.objective.kernel.face_step import minimise_on_face
from thetahat.objective.kernel.gram_rows import WholeMatrix
from thetahat.objective.kernel.support_dual import BoxDual


def test_random_labels_with_a_tiny_margin_take_few_steps():
    random = np.random.default_rng(0)
    X, y = random.random((40, 3)), random.integers(0, 3, 40)
    X, y = X[y != 1], y[y != 1]
    loose, tight = (
        th.NuSVC(kernel="poly", nu=0.1, tol=tol, max_iter=100_000).fit(X, y) for tol in (1e-3, 1e-5)
    )
    assert loose.n_iter_.max() < 20_000
    exact = tight.decision_function(X)
    np.testing.assert_allclose(loose.decision_function(X), exact, atol=0.01 * np.abs(exact).max())


def test_a_kernel_of_low_rank_takes_few_steps():
    random = np.random.default_rng(0)
    X, y = random.random((40, 3)), random.normal(size=40)
    model = th.NuSVR(kernel="poly", C=100.0, max_iter=200_000).fit(X, y)
    assert np.max(model.n_iter_) < 100_000
    assert model.solution_.gap < 1e-6


@pytest.mark.parametrize("split", [None, 6], ids=["one sum", "two sums"])
@pytest.mark.parametrize("kink", [0.0, 0.3])
@pytest.mark.parametrize("rank", [3, 14])
def test_the_objective_decreases_and_the_sums_stay(split, kink, rank):
    random = np.random.default_rng(rank)
    features = random.normal(size=(14, rank))
    K = features @ features.T
    lower, upper = -random.random(14), random.random(14)
    dual = BoxDual(random.normal(size=14), lower, upper, kink=kink, split=split)
    beta = lower + (upper - lower) * random.random(14)
    gradient = K @ beta + dual.linear
    value, sums = dual.value(beta, gradient), [beta[group].sum() for group in dual.bounds]
    minimise_on_face(WholeMatrix(K), dual, beta, gradient)
    np.testing.assert_allclose(gradient, K @ beta + dual.linear, atol=1e-12)
    np.testing.assert_allclose([beta[group].sum() for group in dual.bounds], sums, atol=1e-12)
    assert (beta >= lower).all()
    assert (beta <= upper).all()
    assert dual.value(beta, gradient) < value
