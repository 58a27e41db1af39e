"""The end of a path of least angles: by held-out errors, or by an information criterion."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peers
from sklearn.model_selection import KFold

import thetahat as th
from thetahat.objective.lasso.least_angle_folds import HeldOutPath


def rows(n=80, d=12, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + 3.0
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + random.normal(size=n)


@pytest.mark.parametrize("name", ["LarsCV", "LassoLarsCV"])
@pytest.mark.parametrize(("n", "d"), [(80, 12), (30, 60)])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"cv": KFold(3), "max_iter": 4}])
def test_errors_and_choice_are_those_of_scikit_learn(name, n, d, options):
    X, y = rows(n, d)
    if not options.get("fit_intercept", True):
        X, y = X - 3.0, y - y.mean()
    if (name, d) == ("LarsCV", 60) and "max_iter" not in options:
        options = options | {"max_iter": 10}  # beyond, scikit-learn's path follows other signs
    ours = getattr(th, name)(**options).fit(X, y)
    peer = getattr(peers, name)(**options).fit(X, y)
    np.testing.assert_allclose(ours.cv_alphas_, peer.cv_alphas_, atol=1e-10)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-8)
    assert ours.alpha_ == pytest.approx(peer.alpha_)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-9)
    np.testing.assert_allclose(ours.coef_path_, peer.coef_path_, atol=1e-9)
    assert ours.n_iter_ == peer.n_iter_


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("criterion", ["aic", "bic"])
@pytest.mark.parametrize("max_iter", [500, 3])
def test_the_criterion_is_that_of_scikit_learn(criterion, positive, max_iter):
    X, y = rows()
    options = {"criterion": criterion, "positive": positive, "max_iter": max_iter}
    ours = th.LassoLarsIC(**options).fit(X, y)
    peer = peers.LassoLarsIC(**options).fit(X, y)
    assert ours.noise_variance_ == pytest.approx(peer.noise_variance_)
    whole = slice(-1) if positive and max_iter > 3 else slice(None)
    # scikit-learn's path with β ≥ 0 ends before the least squares of alpha = 0.
    np.testing.assert_allclose(ours.criterion_[whole], peer.criterion_[whole], rtol=1e-9)
    assert (ours.criterion_ <= peer.criterion_ + 1e-9).all()
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-10)
    assert ours.alpha_ == pytest.approx(peer.alpha_)


@pytest.mark.parametrize("model", [th.LarsCV(), th.LassoLarsCV(), th.LassoLarsIC()])
def test_files_and_sparse_rows_give_the_same_model(model, tmp_path):
    X, y = rows()
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    expected = model.fit(X, y).coef_
    file = model.fit(th.scan(tmp_path / "rows.npy", target=12)).coef_
    np.testing.assert_allclose(file, expected, atol=1e-10)
    np.testing.assert_allclose(model.fit(sp.csr_array(X), y).coef_, expected, atol=1e-8)


def test_columns_and_moments_give_the_same_errors():
    X, y = rows()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    by_moments = th.LassoLarsCV().fit(X, y, sample_weight=weight)
    by_columns = th.LassoLarsCV(precompute=False).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(by_moments.mse_path_, by_columns.mse_path_, rtol=1e-9)
    np.testing.assert_allclose(by_moments.coef_, by_columns.coef_, atol=1e-10)


def test_a_row_of_weight_two_counts_twice_in_the_criterion():
    X, y = rows()
    counts = np.random.default_rng(0).integers(1, 3, len(X))
    weighted = th.LassoLarsIC().fit(X, y, sample_weight=counts)
    repeated = th.LassoLarsIC().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.criterion_, repeated.criterion_, rtol=1e-10)


def test_errors_between_nodes_are_those_of_the_interpolated_residual():
    residual = np.array([[1.0, -2.0], [0.5, 1.0], [0.0, 0.0]])  # at alpha 4, 2 and 1
    path = HeldOutPath(
        np.array([4.0, 2.0, 1.0]),
        (residual**2).mean(axis=1),
        (residual[:-1] * residual[1:]).mean(axis=1),
    )
    alphas = np.array([0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0])
    at = np.column_stack([np.interp(alphas, [1, 2, 4], column[::-1]) for column in residual.T])
    np.testing.assert_allclose(path.errors(alphas), (at**2).mean(axis=1))


def test_bad_input_is_explained():
    X, y = rows(10, 20)
    with pytest.raises(ValueError, match=r"n_samples=10 and 20 columns.*Pass noise_variance"):
        th.LassoLarsIC().fit(X, y)
    assert th.LassoLarsIC(noise_variance=1.0).fit(X, y).noise_variance_ == 1.0
    with pytest.raises(ValueError, match="criterion"):
        th.LassoLarsIC(criterion="cp").fit(X, y)
    weight = np.zeros(len(X))
    weight[:2] = 1.0
    with pytest.raises(ValueError, match="weight zero"):
        th.LarsCV(cv=KFold(5)).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="gives no folds"):
        th.LarsCV(cv=11).fit(X, y)


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6])
def test_criteria_of_nearly_exact_fits(noise):
    """Residual squares are sums over the rows where differences of moments have no digits left."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 6))
    y = 3 * X[:, 0] - X[:, 1] + 5 + noise * random.normal(size=60)
    model = th.LassoLarsIC(criterion="bic").fit(X, y)
    assert np.isfinite(model.criterion_).all()
    np.testing.assert_allclose(model.coef_, [3, -1, 0, 0, 0, 0], atol=1e-5)
    design = np.column_stack([X, np.ones(60)])
    (residual,) = np.linalg.lstsq(design, y)[1]
    if noise:
        assert model.noise_variance_ == pytest.approx(residual / 53, rel=1e-4)
