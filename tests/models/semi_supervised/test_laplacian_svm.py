"""Laplacian machines: the optimum of their formula, closed form, relations, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import make_moons

import thetahat as th
from thetahat.errors import DataError, MemoryBudgetError, ParameterError
from thetahat.models.semi_supervised.neighbour_graph import distinct_rows, edge_weights, laplacian

X, KIND = make_moons(120, noise=0.08, random_state=0)
FEW = np.concatenate([np.flatnonzero(KIND == k)[:3] for k in (0, 1)])
PARTIAL = np.full(120, -1)
PARTIAL[FEW] = KIND[FEW]
NARROW = th.kernels.RBF(sigma=0.3)


def graph(normalised=False, weight=None):
    first, place = distinct_rows(X)
    weight = np.ones(len(X)) if weight is None else weight
    W = edge_weights(X[first], 10, True, None)
    L = laplacian(W, np.bincount(place, weight), normalised)
    return first, L


@pytest.mark.parametrize("normalised", [False, True])
def test_squared_loss_is_laplacian_least_squares_in_closed_form(normalised):
    model = th.LaplacianSVM("squared", NARROW, normalised=normalised, fit_intercept=False)
    model.fit(X, PARTIAL)
    first, L = graph(normalised)
    K, inside = NARROW(X[first]), PARTIAL[first] >= 0
    signs = np.where(inside, 2.0 * PARTIAL[first] - 1.0, 0.0)
    # Belkin, Niyogi and Sindhwani: α = (JK + l·γ_A·I + l·γ_I·LK)⁻¹y
    count = inside.sum()
    matrix = inside[:, None] * K + count * (1e-3 * np.eye(len(K)) + 1.0 * (L @ K))
    expected = K @ np.linalg.solve(matrix, signs)
    np.testing.assert_allclose(model.decision_function(X[first]), expected, atol=1e-6)


def test_hinge_is_at_the_optimum_of_the_formula():
    model = th.LaplacianSVM(kernel=NARROW, alpha=0.01, graph_alpha=0.5).fit(X, PARTIAL)
    first, L = graph()
    f = model.decision_function(X[first]) - model.intercept_
    K = NARROW(X[first])
    inside = PARTIAL[first] >= 0
    signs = 2.0 * PARTIAL[first][inside] - 1.0
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))

    def objective(theta):
        g = root @ theta[:-1]
        loss = np.maximum(1 - signs * (g[inside] + theta[-1]), 0.0).mean()
        return loss + 0.005 * theta[:-1] @ theta[:-1] + 0.25 * g @ (L @ g)

    norm = f @ np.linalg.lstsq(K, f, rcond=1e-12)[0]
    value = np.maximum(1 - signs * (f[inside] + model.intercept_), 0.0).mean()
    value += 0.005 * norm + 0.25 * f @ (L @ f)
    assert model.solution_.value == pytest.approx(value, rel=1e-4)
    start = np.append(np.linalg.lstsq(root, f, rcond=1e-10)[0], model.intercept_)
    for seed in range(20):
        step = 0.02 * np.random.default_rng(seed).standard_normal(len(start))
        assert objective(start + step) > objective(start) - 1e-9
    along = root.T @ (np.asarray(L @ f))
    for direction in (start, np.append(along, 0.0), np.eye(len(start))[-1]):
        best = minimize(lambda t, d=direction: objective(start + t[0] * d), [0.0], method="Powell")
        assert best.fun > value - 1e-6


def test_unlabelled_rows_show_the_moons():
    supervised = th.KernelModel("hinge", NARROW).fit(X[FEW], KIND[FEW])
    for loss in ("hinge", "squared", "logistic", "softmax_cross_entropy"):
        model = th.LaplacianSVM(loss, NARROW, graph_alpha=10.0, n_neighbors=5).fit(X, PARTIAL)
        assert model.score(X, KIND) > 0.98 > 0.85 > supervised.score(X, KIND)
        np.testing.assert_array_equal(model.transduction_, model.predict(X))


def test_without_the_graph_it_is_the_kernel_model():
    for loss in ("hinge", "logistic"):
        alone = th.KernelModel(loss, NARROW, 0.01).fit(X[FEW], KIND[FEW])
        model = th.LaplacianSVM(loss, NARROW, 0.01, graph_alpha=0.0).fit(X, PARTIAL)
        np.testing.assert_allclose(
            model.decision_function(X), alone.decision_function(X), atol=1e-5
        )


def test_energy_of_the_graph_by_brute_force():
    random = np.random.default_rng(1)
    f, weight = random.standard_normal(len(X)), random.integers(1, 4, len(X)).astype(float)
    first, L = graph(weight=weight)
    W = edge_weights(X[first], 10, True, None).toarray()
    np.testing.assert_array_equal(W, W.T)
    values, v = f[first], weight[first]
    pairs = v[:, None] * v * W
    expected = (pairs * (values[:, None] - values) ** 2).sum() / pairs.sum()
    assert values @ (L @ values) == pytest.approx(expected)
    uniform = edge_weights(X[first], 3, False, None)
    assert set(np.unique(uniform.data)) == {1.0}
    assert (uniform.toarray().sum(axis=1) >= 3).all()
    assert (laplacian(edge_weights(X[first], 3, False, None), v, True) != 0).nnz > 0


def test_row_twice_is_weight_two_in_loss_and_graph():
    random = np.random.default_rng(2)
    weight = random.integers(0, 3, len(X))
    weight[FEW] = np.maximum(weight[FEW], 1)
    rows = np.repeat(np.arange(len(X)), weight)
    for normalised in (False, True):
        model = th.LaplacianSVM(kernel=NARROW, normalised=normalised)
        once = model.fit(X, PARTIAL, sample_weight=weight).decision_function(X)
        twice = model.fit(X[rows], PARTIAL[rows]).decision_function(X)
        np.testing.assert_allclose(once, twice, atol=1e-6)


def test_precomputed_sparse_and_centres():
    # The nearest rows are the same under the distance of the kernel; its lengths differ.
    model = th.LaplacianSVM(kernel=NARROW, edge_weight="uniform").fit(X, PARTIAL)
    matrix = th.LaplacianSVM(kernel="precomputed", edge_weight="uniform").fit(NARROW(X), PARTIAL)
    np.testing.assert_allclose(
        matrix.decision_function(NARROW(X)), model.decision_function(X), atol=1e-6
    )
    rows = np.where(np.abs(X) < 0.3, 0.0, X)
    dense = th.LaplacianSVM(kernel=NARROW).fit(rows, PARTIAL)
    sparse = th.LaplacianSVM(kernel=NARROW).fit(sp.csr_array(rows), PARTIAL)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(rows)), dense.decision_function(rows), atol=1e-7
    )
    few = th.LaplacianSVM(kernel=NARROW, n_components=60, random_state=0).fit(X, PARTIAL)
    whole = th.LaplacianSVM(kernel=NARROW).fit(X, PARTIAL)
    assert len(few.support_) == 60
    assert (few.predict(X) == whole.predict(X)).mean() > 0.95


def test_labels_of_text_and_refusals():
    words = np.where(PARTIAL < 0, -1, np.where(PARTIAL == 1, "up", "down").astype(object))
    model = th.LaplacianSVM(kernel=NARROW).fit(X, words)
    assert model.classes_.tolist() == ["down", "up"]
    assert set(model.transduction_) == {"down", "up"}
    with pytest.raises(DataError, match="no row has a label"):
        th.LaplacianSVM().fit(X, np.full(120, -1))
    with pytest.raises(DataError, match="one class only, 1"):
        th.LaplacianSVM().fit(X, np.where(PARTIAL == 1, 1, -1))
    with pytest.raises(DataError, match="3 classes"):
        th.LaplacianSVM().fit(X, np.arange(120) % 4 - 1)
    with pytest.raises(ParameterError, match="loss of numbers"):
        th.LaplacianSVM("huber").fit(X, PARTIAL)
    with pytest.raises(ParameterError, match="graph_alpha"):
        th.LaplacianSVM(graph_alpha=-1.0).fit(X, PARTIAL)
    with th.config(memory=50_000), pytest.raises(MemoryBudgetError, match="n_components"):
        th.LaplacianSVM().fit(X, PARTIAL)


def test_two_rows_and_equal_rows():
    model = th.LaplacianSVM().fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
    equal = th.LaplacianSVM().fit(np.zeros((4, 1)), [0, 1, 1, -1])
    assert equal.predict([[0.0]]).tolist() == [1]
    assert equal.n_edges_ == 0


@pytest.mark.parametrize("model", [th.LaplacianSVM(), th.TransductiveSVM()])
def test_minus_one_as_a_class_is_explained(model):
    with pytest.raises(DataError, match="If −1 is a class, recode it as 0"):
        model.fit(X, 2 * KIND - 1)
