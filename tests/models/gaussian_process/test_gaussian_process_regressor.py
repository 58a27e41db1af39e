"""Gaussian process regression: relations to kernel ridge, derivatives, posterior and prior."""

import tracemalloc

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor as TheirRegressor
from sklearn.gaussian_process import kernels as theirs

import thetahat as th
from thetahat.errors import DataError, MemoryBudgetError, ParameterError

k = th.kernels
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((60, 3))
Y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RANDOM.standard_normal(60)
NEW = RANDOM.standard_normal((9, 3))


def noisy(length_scale=1.0):
    return k.Constant(1.5) * k.RBF(length_scale=length_scale) + k.White(0.2)


def test_mean_is_kernel_ridge_with_the_noise_as_penalty():
    for kernel in (k.RBF(sigma=0.8), k.Matern(nu=2.5), k.Linear() + 1):
        process = th.GaussianProcessRegressor(kernel, alpha=0.3, optimizer=None).fit(X, Y)
        ridge = th.KernelRidge(alpha=0.3, kernel=kernel).fit(X, Y)
        np.testing.assert_allclose(process.predict(NEW), ridge.predict(NEW), rtol=1e-9)
        np.testing.assert_allclose(process.alpha_, ridge.dual_coef_, rtol=1e-8)


def test_noise_kernel_is_the_same_as_alpha():
    given = th.GaussianProcessRegressor(k.RBF(), alpha=0.3, optimizer=None).fit(X, Y)
    kernel = k.RBF() + k.White(0.3)
    fitted = th.GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, Y)
    np.testing.assert_allclose(fitted.predict(NEW), given.predict(NEW), rtol=1e-10)
    # Predictions of a target include the noise that is part of the kernel.
    spread = np.sqrt(given.predict(NEW, return_std=True)[1] ** 2 + 0.3)
    np.testing.assert_allclose(fitted.predict(NEW, return_std=True)[1], spread, rtol=1e-10)


KERNELS = [
    noisy(),
    noisy((1.0, 2.0, 0.5)),
    k.RBF(gamma=0.3) + k.White(),
    k.RBF(c=3.0) + k.White(),
    k.RBF() + k.White(),
    2.0 * k.Matern(nu=0.5) + k.White(),
    k.Matern((1.0, 2.0, 3.0), nu=0.5) + k.White(),
    k.Matern((1.0, 2.0, 3.0), nu=1.5) * k.Polynomial(2, 0.5, 0.7) + k.White(),
    k.Matern(2.0, nu=2.5) * k.Polynomial(3, 0.0, 0.2) + k.White(),
    k.Matern((1.0, 2.0, 0.5), nu=3.1) + k.White(),
    k.Matern(nu=np.inf) + k.White(),
    k.RationalQuadratic(0.7, 0.3) + k.White(),
    k.RationalQuadratic((0.7, 1.0, 2.0), 0.3) + k.White(),
    k.Periodic(1.0, 3.0) + k.White(0.5) * k.DotProduct(0.3) + k.White(5.0),
    k.Laplacian(2.0) + k.White(),
    k.Laplacian(2.0, "l1") + k.White(),
    k.Bounded(k.RBF(sigma=2.0)) + k.White(),
    k.Wendland(2.0, smoothness=0) + k.White(),
    k.Wendland(2.0) + k.White(),
    k.Wendland(2.0, smoothness=2) + k.White(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_derivatives_of_the_likelihood_are_finite_differences(kernel):
    model = th.GaussianProcessRegressor(kernel, optimizer=None).fit(X, np.c_[Y, Y**2])
    theta, step = kernel.theta, 1e-4
    value, slope = model.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(model.log_marginal_likelihood(), rel=1e-12)

    def at(moved):
        return model.log_marginal_likelihood(moved)

    numeric = [
        (8 * (at(theta + e) - at(theta - e)) - at(theta + 2 * e) + at(theta - 2 * e)) / (12 * step)
        for e in step * np.eye(len(theta))
    ]
    np.testing.assert_allclose(slope, numeric, rtol=1e-6, atol=1e-6 * np.abs(slope).max())


def test_derivatives_of_histograms():
    counts = np.abs(X)
    model = th.GaussianProcessRegressor(k.Chi2(0.5) + k.White(), optimizer=None).fit(counts, Y)
    theta = model.kernel_.theta
    slope = model.log_marginal_likelihood(theta, eval_gradient=True)[1]
    for place, e in enumerate(1e-5 * np.eye(2)):
        up, down = (model.log_marginal_likelihood(theta + s * e) for s in (1, -1))
        assert (up - down) / 2e-5 == pytest.approx(slope[place], rel=1e-6)


PAIRS = [
    (noisy(), theirs.ConstantKernel(1.5) * theirs.RBF(1.0) + theirs.WhiteKernel(0.2)),
    (
        noisy((1.0, 2.0, 0.5)),
        theirs.ConstantKernel(1.5) * theirs.RBF([1.0, 2.0, 0.5]) + theirs.WhiteKernel(0.2),
    ),
    (k.Matern(nu=2.5) + k.White(0.1), theirs.Matern(nu=2.5) + theirs.WhiteKernel(0.1)),
    (
        k.RationalQuadratic() + k.White(0.1),
        theirs.RationalQuadratic() + theirs.WhiteKernel(0.1),
    ),
    (k.DotProduct() + k.White(0.1), theirs.DotProduct() + theirs.WhiteKernel(0.1)),
]


@pytest.mark.filterwarnings("ignore:The optimal value")
@pytest.mark.parametrize(("ours", "peer"), PAIRS, ids=[repr(pair[1]) for pair in PAIRS])
def test_fits_are_scikit_learns(ours, peer):
    expected = TheirRegressor(peer, normalize_y=True).fit(X, Y)
    for kernel in (ours, peer):
        model = th.GaussianProcessRegressor(kernel, normalize_y=True).fit(X, Y)
        assert type(model.kernel_) is type(kernel)
        likelihood = expected.log_marginal_likelihood_value_
        assert model.log_marginal_likelihood_value_ >= likelihood - 1e-6 * abs(likelihood)
        mean, std = model.predict(NEW, return_std=True)
        their_mean, their_std = expected.predict(NEW, return_std=True)
        np.testing.assert_allclose(mean, their_mean, rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(std, their_std, rtol=2e-3)
        cov, their_cov = (each.predict(NEW, return_cov=True)[1] for each in (model, expected))
        np.testing.assert_allclose(cov, their_cov, rtol=5e-3, atol=2e-3)


def test_kernels_of_scikit_learn_without_a_counterpart_are_called():
    kernel = theirs.RBF() ** 2 + theirs.WhiteKernel(0.1)
    model = th.GaussianProcessRegressor(kernel).fit(X, Y)
    expected = TheirRegressor(kernel).fit(X, Y)
    assert model.log_marginal_likelihood_value_ == pytest.approx(
        expected.log_marginal_likelihood_value_, rel=1e-6
    )
    rows = np.random.default_rng(0).standard_normal((300, 2))  # more than one tile
    targets = rows.sum(axis=1)
    theta = kernel.theta
    found, wanted = (
        each(kernel, optimizer=None).fit(rows, targets).log_marginal_likelihood(theta, True)[1]
        for each in (th.GaussianProcessRegressor, TheirRegressor)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


def test_fitted_hyperparameters_are_a_maximum_within_the_bounds():
    kernel = k.Bounded(k.RBF(length_scale=(1.0, 1.0, 1.0)), {"length_scale": (0.1, 50.0)})
    with pytest.warns(ConvergenceWarning, match="dimension 2 of parameter .*length_scale is close"):
        model = th.GaussianProcessRegressor(kernel + k.White(0.1)).fit(X, Y)
    slope = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)[1]
    at_bound = np.isclose(model.kernel_.theta, model.kernel_.bounds[:, 1])
    assert at_bound.tolist() == [False, False, True, False]
    assert np.abs(slope[~at_bound]).max() < 1e-3
    assert slope[at_bound] > 0
    assert model.solution_.outcome.success


def test_fixed_hyperparameters_keep_their_values():
    kernel = k.Bounded(k.Constant(2.0)) * k.RBF(sigma=1.0) + k.White(0.1)
    model = th.GaussianProcessRegressor(kernel).fit(X, Y)
    assert model.kernel_.first.first.kernel.value == 2.0
    assert model.kernel_.first.second.sigma != 1.0
    unfitted = th.GaussianProcessRegressor(kernel, optimizer=None).fit(X, Y)
    assert unfitted.kernel_ == kernel


def test_more_starts_find_no_smaller_likelihood():
    found = [
        th.GaussianProcessRegressor(
            k.Bounded(k.RBF(sigma=100.0), {"sigma": (0.01, 100.0)}) + k.White(10.0),
            n_restarts_optimizer=count,
            random_state=0,
        )
        .fit(X, Y)
        .log_marginal_likelihood_value_
        for count in (0, 3)
    ]
    assert found[1] >= found[0]


def test_several_targets_are_independent_processes():
    targets = np.c_[Y, 10 * Y + 5]
    both = th.GaussianProcessRegressor(noisy(), optimizer=None, normalize_y=True).fit(X, targets)
    mean, std = both.predict(NEW, return_std=True)
    for column in range(2):
        one = th.GaussianProcessRegressor(noisy(), optimizer=None, normalize_y=True)
        alone = one.fit(X, targets[:, column]).predict(NEW, return_std=True)
        np.testing.assert_allclose(mean[:, column], alone[0], rtol=1e-9)
        np.testing.assert_allclose(std[:, column], alone[1], rtol=1e-9)
    assert both.sample_y(NEW, 4).shape == (9, 2, 4)


def test_prior_before_the_fit():
    model = th.GaussianProcessRegressor(2.0 * k.RBF())
    mean, cov = model.predict(NEW, return_cov=True)
    np.testing.assert_array_equal(mean, np.zeros(9))
    np.testing.assert_array_equal(cov, 2.0 * k.RBF()(NEW))
    np.testing.assert_allclose(model.predict(NEW, return_std=True)[1], np.sqrt(2.0))
    drawn = model.sample_y(NEW[:3], 20_000, random_state=1)
    np.testing.assert_allclose(np.cov(drawn), cov[:3, :3], atol=0.06)


def test_samples_have_the_posterior_mean_and_covariance():
    model = th.GaussianProcessRegressor(noisy(), optimizer=None).fit(X, Y)
    mean, cov = model.predict(NEW, return_cov=True)
    drawn = model.sample_y(NEW, 20_000, random_state=1)
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=0.04)
    np.testing.assert_allclose(np.cov(drawn), cov, atol=0.06)
    np.testing.assert_allclose(np.diag(cov), model.predict(NEW, return_std=True)[1] ** 2)


def test_own_noise_of_every_row_is_like_averages():
    """A row with half the noise variance says as much as two rows at the same place."""
    twice = th.GaussianProcessRegressor(k.RBF(), alpha=0.4, optimizer=None)
    twice.fit(np.vstack([X, X[:20]]), np.r_[Y, Y[:20]])
    noise = np.full(60, 0.4)
    noise[:20] /= 2
    once = th.GaussianProcessRegressor(k.RBF(), alpha=noise, optimizer=None).fit(X, Y)
    for left, right in zip(
        once.predict(NEW, return_std=True), twice.predict(NEW, return_std=True), strict=True
    ):
        np.testing.assert_allclose(left, right, rtol=1e-9)


def test_same_bits_for_any_number_of_threads():
    rows = np.random.default_rng(3).standard_normal((700, 3))
    targets = np.sin(rows).sum(axis=1)
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            model = th.GaussianProcessRegressor(noisy((1.0, 1.0, 1.0)), optimizer=None)
            model.fit(rows, targets)
            slope = model.log_marginal_likelihood(model.kernel_.theta, True)[1]
            found.append((model.alpha_, slope, *model.predict(rows[:50], return_std=True)))
    for left, right in zip(*found, strict=True):
        np.testing.assert_array_equal(left, right)


def test_single_precision_stays_accurate():
    single = th.GaussianProcessRegressor(noisy(), optimizer=None)
    single.fit(X.astype(np.float32), Y.astype(np.float32))
    double = th.GaussianProcessRegressor(noisy(), optimizer=None).fit(X, Y)
    answer = single.predict(NEW.astype(np.float32))
    assert answer.dtype == np.float32
    np.testing.assert_allclose(answer, double.predict(NEW), rtol=1e-4, atol=1e-5)


def test_memory_is_estimated_before_it_is_taken():
    rows = np.zeros((40_000, 1))
    with th.config(memory=2**30), pytest.raises(MemoryBudgetError, match=r"12\.1 GiB"):
        th.GaussianProcessRegressor().fit(rows, rows[:, 0])


def test_one_matrix_is_in_memory_at_a_time():
    """The matrix, its factor and its inverse share one place; the tiles have a fixed size."""
    rows = np.random.default_rng(0).standard_normal((1500, 4))

    def once(objective, start, bounds):
        objective(start)
        return start, 0.0

    model = th.GaussianProcessRegressor(noisy((1.0,) * 4), optimizer=once)
    model.fit(rows[:20], rows[:20, 0])
    model.L_ = None
    tracemalloc.start()
    try:
        with th.config(threads=1):
            model.fit(rows, rows[:, 0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * 8 * 1500**2 + 8 * 8 * 512**2


def test_custom_optimizer_is_called():
    seen = []

    def optimizer(objective, start, bounds):
        seen.append((start, bounds))
        value, slope = objective(start)
        assert slope.shape == start.shape
        return start + 0.1, value

    model = th.GaussianProcessRegressor(k.RBF() + k.White(), optimizer=optimizer).fit(X, Y)
    assert len(seen) == 1
    np.testing.assert_allclose(model.kernel_.theta, [0.1, 0.1])


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"alpha": np.ones(7)}, ParameterError, "7 entries, but y has 60 rows"),
        ({"alpha": -1.0}, ParameterError, "alpha"),
        ({"kernel": "rbf"}, ParameterError, "a kernel"),
        ({"n_targets": 2}, DataError, "n_targets=2"),
        ({"kernel": k.RBF(length_scale=(1.0, 2.0))}, DataError, "2 entries, but X has 3 columns"),
        ({"kernel": k.Linear(), "alpha": 0.0}, DataError, "not returning a positive definite"),
        (
            {
                "kernel": k.Bounded(k.RBF(), {"sigma": (0, np.inf)}),
                "n_restarts_optimizer": 1,
            },
            ParameterError,
            "all bounds are finite",
        ),
    ],
)
def test_wrong_parameters_are_refused(params, error, words):
    with pytest.raises(error, match=words):
        th.GaussianProcessRegressor(**params).fit(X, Y)


def test_standard_deviation_and_covariance_are_not_returned_together():
    with pytest.raises(RuntimeError, match="At most one"):
        th.GaussianProcessRegressor().predict(X, return_std=True, return_cov=True)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"gamma": (1.0, 2.0)}, "no hyper-parameter 'gamma'; it has sigma"),
        ({"sigma": (2.0, 1.0)}, "low < high"),
        ({"sigma": 3.0}, "a pair"),
    ],
)
def test_wrong_bounds_are_refused(limits, words):
    with pytest.raises(ParameterError, match=words):
        k.Bounded(k.RBF(sigma=1.0), limits)


@pytest.mark.parametrize("n_rows", [1, 7, 2000])
def test_the_mean_and_its_deviation_come_from_one_kernel_matrix(n_rows, monkeypatch):
    """The mean has the same bits as without the deviation."""
    random = np.random.default_rng(0)
    rows, target = random.standard_normal((300, 3)), random.standard_normal(300)
    model = th.GaussianProcessRegressor(th.kernels.RBF(), alpha=0.1, optimizer=None)
    model.fit(rows, target)
    new, entries = random.standard_normal((n_rows, 3)), []
    block = th.kernels.RBF.block

    def counted(self, X, Z):
        entries.append(len(X) * len(Z))
        return block(self, X, Z)

    monkeypatch.setattr(th.kernels.RBF, "block", counted)
    mean, std = model.predict(new, return_std=True)
    assert sum(entries) == n_rows * 300
    np.testing.assert_array_equal(mean, model.predict(new))
    K, across = th.kernels.RBF()(rows) + 0.1 * np.eye(300), th.kernels.RBF()(new, rows)
    explained = (across * np.linalg.solve(K, across.T).T).sum(axis=1)
    np.testing.assert_allclose(std, np.sqrt(1 - explained), rtol=1e-8)
