"""Epochs over the dual variables of linear machines beside their plain twins."""

import numpy as np
import pytest

from tests.native.descent.sparse_rows import csr
from tests.reference.descent import dual_epochs as twin
from thetahat import _native


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("kink", "curvature", "box"),
    [(0.0, 0.0, (0.0, 1.0)), (0.0, 0.5, (0.0, np.inf)), (0.3, 0.0, (-1.0, 1.0)), (0.3, 1.0, None)],
    ids=["hinge", "squared hinge", "tube", "squared tube"],
)
def test_dual_epochs(dtype, kink, curvature, box):
    random = np.random.default_rng(8)
    x = np.where(random.random((40, 11)) < 0.5, 0.0, random.standard_normal((40, 11))).astype(dtype)
    y, share = random.standard_normal(40), random.random(40) / 20
    share[3] = 0.0
    low, high = box if box is not None else (-np.inf, np.inf)
    lower, upper = np.full(40, low), np.full(40, high)
    kernels = {
        "twin": (twin.dual_epochs, (x,)),
        "dense": (_native.dual_epochs, (x,)),
        "sparse": (_native.dual_epochs, csr(x, np.int32)),
        "long": (_native.dual_epochs, csr(x, np.int64)),
    }
    found = {}
    for name, (epochs, rows) in kernels.items():
        beta, theta = np.zeros(40), np.zeros(12)
        violation, used = epochs(
            *rows, y, share, lower, upper, kink, curvature, 0.05, 0.7, 0.1, beta, theta, 7, 5, 0.0
        )
        assert used == 5
        design = np.column_stack([x, np.full(40, 0.7)])
        np.testing.assert_allclose(theta, design.T @ (share * beta) / 0.05, atol=1e-10)
        assert beta.min() >= low
        assert beta.max() <= high
        assert beta[3] == 0.0
        found[name] = np.append(beta, violation)
    for name in ("dense", "sparse", "long"):
        np.testing.assert_allclose(found[name], found["twin"], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("kink", "curvature", "box"), [(0.0, 0.0, 1.0), (0.1, 0.0, 0.5), (0.1, 0.3, 9.0)]
)
def test_conjugate_gradients_climb_the_dual(kink, curvature, box):
    """They come between epochs: the invariants hold, and D is higher than without them."""
    random = np.random.default_rng(8)
    x = np.where(random.random((60, 30)) < 0.5, 0.0, random.standard_normal((60, 30)))
    y, share = random.standard_normal(60), random.random(60) / 20
    share[3] = 0.0
    upper = np.full(60, box)
    design = np.column_stack([x, np.full(60, 0.7)])
    reached = {}
    for name, (epochs, rows) in {
        "twin": (twin.dual_epochs, (x,)),
        "dense": (_native.dual_epochs, (x,)),
        "sparse": (_native.dual_epochs, csr(x, np.int32)),
    }.items():
        beta, theta = np.zeros(60), np.zeros(31)
        epochs(
            *rows, y, share, -upper, upper, kink, curvature, 0.01, 0.7, 0.1, beta, theta, 7, 45, 0.0
        )
        np.testing.assert_allclose(theta, design.T @ (share * beta) / 0.01, atol=1e-9)
        assert np.abs(beta).max() <= box
        assert beta[3] == 0.0
        terms = beta * (y - 0.1) - kink * np.abs(beta) - curvature / 2 * beta**2
        reached[name] = share @ terms - 0.01 / 2 * theta @ theta
    assert reached["sparse"] == pytest.approx(reached["dense"], rel=1e-9)
    assert reached["dense"] > reached["twin"]


@pytest.mark.parametrize(("kink", "curvature"), [(0.0, 0.0), (0.2, 0.0), (0.2, 0.5)])
def test_the_epochs_end_when_the_duality_gap_is_as_small_as_requested(kink, curvature):
    random = np.random.default_rng(9)
    x, y = random.standard_normal((50, 80)), random.standard_normal(50)
    share, bound = np.full(50, 1 / 50), np.inf if curvature else 1.0
    beta, theta, upper = np.zeros(50), np.zeros(81), np.full(50, bound)
    _, used = _native.dual_epochs(
        x, y, share, -upper, upper, kink, curvature, 0.5, 1.0, 0.0, beta, theta, 7, 1000, 1e-4
    )
    excess = np.maximum(np.abs(y - x @ theta[:-1] - theta[-1]) - kink, 0.0)
    loss = excess**2 / (2 * curvature) if curvature else excess
    terms = beta * y - kink * np.abs(beta) - curvature / 2 * beta**2
    gap = share @ (loss - terms) + 0.5 * theta @ theta
    assert used < 100
    assert 1e-7 < gap < 2e-4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_class_dual_epochs(dtype):
    random = np.random.default_rng(9)
    x = np.where(random.random((30, 5)) < 0.5, 0.0, random.standard_normal((30, 5))).astype(dtype)
    y, cost = random.integers(0, 4, 30), random.random(30) + 0.1
    kernels = {
        "twin": (twin.class_dual_epochs, (x,)),
        "dense": (_native.class_dual_epochs, (x,)),
        "sparse": (_native.class_dual_epochs, csr(x, np.int32)),
        "long": (_native.class_dual_epochs, csr(x, np.int64)),
    }
    found = {}
    for name, (epochs, rows) in kernels.items():
        alpha, weights = np.zeros((30, 4)), np.zeros((6, 4))
        violation = epochs(*rows, y, cost, 0.7, alpha, weights, 5, 1, 0.0)
        design = np.column_stack([x, np.full(30, 0.7)])
        np.testing.assert_allclose(weights, design.T @ alpha, atol=1e-9)
        np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-9)
        assert np.all(alpha <= cost[:, None] * np.eye(4)[y] + 1e-12)
        found[name] = np.append(alpha, violation)
    for name in ("dense", "sparse", "long"):
        np.testing.assert_allclose(found[name], found["twin"], rtol=1e-7, atol=1e-9)


def test_class_dual_epochs_settle():
    random = np.random.default_rng(10)
    x, y = random.standard_normal((60, 3)), random.integers(0, 3, 60)
    alpha, weights = np.zeros((60, 3)), np.zeros((4, 3))
    arguments = (x, y, np.full(60, 0.1), 1.0, alpha, weights)
    first = _native.class_dual_epochs(*arguments, 1, 1, 0.0)
    last = _native.class_dual_epochs(*arguments, 2, 2000, 1e-9)
    assert last <= 1e-9 < first


@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_class_dual_epochs_climb_the_face_of_the_optimum(constant):
    random = np.random.default_rng(11)
    x, y = random.standard_normal((200, 10)) + 3.0, random.integers(0, 6, 200)
    x[5], cost = 0.0, np.where(np.arange(200) == 7, 0.0, 5.0)
    for rows in ((x,), csr(x, np.int32)):
        alpha, weights = np.zeros((200, 6)), np.zeros((11, 6))
        for seed in range(6):  # single rows alone need ten times as many epochs
            violation = _native.class_dual_epochs(
                *rows, y, cost, constant, alpha, weights, seed, 80, 1e-9
            )
        assert violation <= 1e-9
        design = np.column_stack([x, np.full(200, constant)])
        np.testing.assert_allclose(weights, design.T @ alpha, atol=1e-9)
        np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-9)
        assert np.all(alpha <= cost[:, None] * np.eye(6)[y])
