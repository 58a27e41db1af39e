"""Kernels by name in Mercer's check, and whole powers of kernels."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import ConstantKernel, PairwiseKernel, WhiteKernel

import thetahat as th
from thetahat.errors import ParameterError
from thetahat.mathematics.kernels.names import ScikitLearnKernel

k = th.kernels
X = np.random.default_rng(0).standard_normal((40, 3))


def test_mercer_check_takes_names_as_models_do():
    wide = k.mercer_check("rbf", 100.0 * X)
    spread = float(np.sqrt((100.0 * X).var(axis=0).sum()))
    assert wide.largest == pytest.approx(k.mercer_check(k.RBF(sigma=spread), 100.0 * X).largest)
    with pytest.raises(ParameterError, match="Did you mean 'rbf'"):
        k.mercer_check("rbff", X)
    for kernel in ("rbf", k.RBF()):
        with pytest.raises(ParameterError, match="X is None"):
            k.mercer_check(kernel)


def test_whole_powers_of_kernels_are_products():
    np.testing.assert_allclose((k.RBF() ** 3)(X), k.RBF()(X) ** 3, rtol=1e-13)
    assert k.Linear() ** 1 == k.Linear()
    assert k.Linear() ** np.int64(2) == k.Linear() * k.Linear()


@pytest.mark.parametrize("exponent", [0, -1, 0.5, True, "2", 101])
def test_other_powers_of_kernels_are_refused(exponent):
    with pytest.raises(ParameterError, match="whole number from 1 to 100"):
        k.RBF() ** exponent


def test_the_diagonal_of_pairwise_kernels_is_not_computed_row_by_row(monkeypatch):
    product = ConstantKernel(2.0) * PairwiseKernel(metric="rbf", gamma=0.3)
    ours = ScikitLearnKernel(product + WhiteKernel())
    rows = np.random.default_rng(0).standard_normal((150, 3))
    expected, calls, value = ours.kernel.diag(rows), [], PairwiseKernel.__call__

    def counted(*given, **options):
        calls.append(given)
        return value(*given, **options)

    monkeypatch.setattr(PairwiseKernel, "__call__", counted)
    np.testing.assert_allclose(ours.diagonal(rows), expected)
    assert len(calls) <= 3
