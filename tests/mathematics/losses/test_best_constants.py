"""Best constants: weights are repetitions, and nothing on a grid is better."""

import numpy as np
import pytest
from scipy.optimize import linprog

import thetahat as th
from tests.mathematics.losses.loss_cases import N_CLASSES, draw, losses, one_column, per_class
from thetahat.mathematics.losses.base import Targets
from thetahat.mathematics.losses.constants import weighted_quantile


def objective(loss, y, weight, constants):
    """Σ wᵢ ℓ(yᵢ, c) for each of the constants c, or of the rows of class constants."""
    z = np.asarray(constants)
    z = z[..., None, :] + np.zeros((len(y), 1)) if per_class(loss) else z[..., None]
    return np.sum(weight * loss.value(y, z), axis=-1)


@losses(where=one_column)
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_no_constant_on_a_grid_is_better(loss, n):
    for seed in range(5):
        y, _ = draw(loss, n, seed)
        weight = np.random.default_rng(seed).integers(0, 4, size=n) + (np.arange(n) == 0)
        best = loss.best_constant(y, weight)
        grid = np.concatenate([np.linspace(-8, 8, 1601), y])
        lowest = np.min(objective(loss, y, weight, grid))
        assert objective(loss, y, weight, best) <= lowest + 1e-9


@losses(where=lambda loss: loss.targets is Targets.REAL)
def test_no_constant_on_a_grid_is_better_for_two_heaps(loss):
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.normal(size=1500), rng.normal(40.0, 1.0, size=1700)])
    best = loss.best_constant(y)
    lowest = np.min(objective(loss, y, 1.0, np.linspace(-5, 45, 501)))
    assert objective(loss, y, 1.0, best) <= lowest + 1e-9


@losses()
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(loss):
    y, _ = draw(loss, 24, seed=3)
    weight = np.arange(24) % 3
    repeated = np.repeat(y, weight)
    order = np.random.default_rng(0).permutation(len(repeated))
    once = loss.best_constant(y, weight)
    np.testing.assert_allclose(once, loss.best_constant(repeated[order]), atol=1e-9)
    np.testing.assert_allclose(once, loss.best_constant(y, 0.1 * weight), atol=1e-9)


@losses()
def test_constants_have_one_number_or_one_for_each_class(loss):
    y, z = draw(loss)
    assert np.shape(loss.best_constant(y)) == z.shape[1:]


@pytest.mark.parametrize("level", [0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("n", [1, 2, 5, 10, 20, 101])
def test_weighted_quantile_is_the_middle_of_the_best(level, n):
    y = np.round(np.random.default_rng(n).normal(size=n), 1)
    expected = np.quantile(y, level, method="averaged_inverted_cdf")
    assert weighted_quantile(y, level=level) == pytest.approx(expected, abs=1e-15)
    assert weighted_quantile(y, np.full(n, 0.1), level) == pytest.approx(expected, abs=1e-15)


def test_median_of_an_even_number_is_the_middle():
    assert th.losses.Absolute().best_constant(np.array([1.0, 5.0, 2.0, 100.0])) == 3.5
    assert th.losses.Absolute().best_constant(np.array([1.0, 2.0]), np.array([3.0, 1.0])) == 1.0


@losses(where=lambda loss: loss.targets in (Targets.BINARY, Targets.SIGNS))
@pytest.mark.parametrize("side", [-1, 1])
def test_one_class_only_gives_a_finite_constant_on_its_side(loss, side):
    label = 1.0 if side > 0 else {Targets.BINARY: 0.0, Targets.SIGNS: -1.0}[loss.targets]
    constant = loss.best_constant(np.full(5, label))
    assert 1 <= side * constant < 50
    assert objective(loss, np.full(5, label), 1.0, constant) < 1e-6


def test_counts_of_zero_give_a_finite_constant():
    constant = th.losses.Poisson().best_constant(np.zeros(4))
    assert np.isfinite(constant)
    assert np.exp(constant) < 1e-300


@losses(where=per_class)
def test_class_constants_are_centred_and_optimal(loss):
    rng = np.random.default_rng(0)
    for trial in range(30):
        weight = rng.uniform(size=N_CLASSES) ** 3 if trial else np.ones(N_CLASSES)
        y = np.arange(N_CLASSES)
        best = loss.best_constant(y, weight)
        assert np.mean(best) == pytest.approx(0, abs=1e-12)
        value = objective(loss, y, weight, best)
        nearby = best + rng.normal(scale=rng.choice([0.01, 1.0], size=(300, 1)), size=(300, 4))
        assert value <= np.min(objective(loss, y, weight, nearby)) + 1e-12


@losses(where=per_class)
def test_classes_that_may_be_absent_are_counted(loss):
    constant = loss.best_constant(np.array([0, 1, 1]), n_classes=5)
    assert constant.shape == (5,)
    assert np.all(np.isfinite(constant))
    assert np.argmax(constant) == 1
    assert np.all(constant[2:] < constant[0])


@pytest.mark.parametrize("n_classes", [2, 3, 5, 8])
def test_multiclass_hinge_constant_solves_the_linear_program(n_classes):
    """min Σ_k s_k Σ_{c≠k} t_kc subject to t_kc ≥ 1 − f_k + f_c, t ≥ 0."""
    loss = th.losses.MulticlassHinge()
    rng = np.random.default_rng(n_classes)
    pairs = [(k, c) for k in range(n_classes) for c in range(n_classes) if k != c]
    rows = np.zeros((len(pairs), n_classes + len(pairs)))
    for row, (k, c) in enumerate(pairs):
        rows[row, k], rows[row, c], rows[row, n_classes + row] = -1, 1, -1
    free, slack = [(None, None)] * n_classes, [(0, None)] * len(pairs)
    for power in (1, 3, 6):
        share = rng.uniform(size=n_classes) ** power
        cost = np.concatenate([np.zeros(n_classes), [share[k] for k, _ in pairs]])
        program = linprog(cost, rows, -np.ones(len(pairs)), bounds=free + slack)
        y = np.arange(n_classes)
        assert objective(loss, y, share, loss.best_constant(y, share)) == pytest.approx(program.fun)


@pytest.mark.parametrize("level", [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 10, 40, 99])
def test_a_quantile_without_weights_is_that_of_equal_weights(n, level):
    for dtype in (np.float64, np.float32):
        y = np.random.default_rng(n).integers(0, 30, size=n).astype(dtype) / 7
        found = weighted_quantile(y, None, level)
        assert found == weighted_quantile(y, np.ones(n), level)
        assert found.dtype == dtype
