"""A bias as the coefficient of a constant column, against that column written out."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.subsampled_start import subsampled_start

RANDOM = np.random.default_rng(0)
X = np.where(RANDOM.random((30, 3)) < 0.3, 0.0, RANDOM.normal(size=(30, 3)))
WRITTEN_OUT = np.column_stack([X, np.full(30, 2.5)])


@pytest.mark.parametrize("outputs", [0, 2])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, lambda x: x.astype(np.float32)])
def test_it_is_the_column_written_out(outputs, kind):
    random = np.random.default_rng(1)
    rows = kind(X)
    exact = rows.toarray() if sp.issparse(rows) else rows.astype(float)
    column, plain = BiasColumn(4, outputs, scaling=2.5), LinearPredictor(4, outputs, False)
    design = np.column_stack([exact, np.full(30, 2.5)])
    theta = random.normal(size=column.n_parameters)
    slope = random.normal(size=(30, outputs) if outputs else 30)
    weight = random.random(30) * (np.arange(30) % 3 > 0)
    np.testing.assert_allclose(column.raw(rows, theta), plain.raw(design, theta), atol=1e-12)
    np.testing.assert_allclose(
        column.pullback(rows, slope), plain.pullback(design, slope), atol=1e-12
    )
    np.testing.assert_allclose(column.gram(rows, weight), plain.gram(design, weight), atol=1e-12)
    np.testing.assert_allclose(column.design(rows), design)
    coef, bias = column.bias(theta)
    np.testing.assert_allclose(column.raw(rows, theta), exact @ coef + bias, atol=1e-12)


def test_a_risk_takes_it_like_any_predictor():
    random = np.random.default_rng(2)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    parts = (th.losses.SquaredHinge(), th.penalties.L2(0.1))
    hidden = EmpiricalRisk(BiasColumn(4, scaling=2.5), *parts, as_source(X, y))
    shown = EmpiricalRisk(
        LinearPredictor(4, fit_intercept=False), *parts, as_source(WRITTEN_OUT, y)
    )
    theta = random.normal(size=4)
    value, gradient = hidden.value_and_gradient(theta)
    assert value == pytest.approx(shown.value(theta))
    np.testing.assert_allclose(gradient, shown.value_and_gradient(theta)[1], atol=1e-12)
    np.testing.assert_allclose(hidden.hessian(theta), shown.hessian(theta), atol=1e-12)


def test_thinned_rows_give_a_start_near_the_optimum_or_none():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(16_000, 3))
    y = np.where(rows @ [1.0, -1.0, 0.5] + rng.normal(size=16_000) > 0, 1.0, -1.0)
    weight = rng.integers(0, 3, 16_000)

    def risk(kind=np.asarray, n=16_000):
        source = as_source(kind(rows[:n]), y[:n], weight[:n], accept_sparse=True)
        return EmpiricalRisk(
            LinearPredictor(3), th.losses.SquaredHinge(), th.penalties.L2(1e-3), source
        )

    newton = th.optimizers.Newton()
    start, optimum = subsampled_start(risk(), newton), th.minimise(risk(), newton).theta
    assert 0 < np.abs(start - optimum).max() < 0.1
    assert subsampled_start(risk(n=4000), newton) is None
    assert subsampled_start(risk(sp.csr_array), newton) is None
